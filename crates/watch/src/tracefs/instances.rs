// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The folders of instances: they are named after their processes, and one whose process has ended
//! is removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "tidegate-";

/// Returns the path of this process's instance.
pub(super) fn own(tracefs: &Path) -> PathBuf {
    tracefs.join("instances").join(format!("{PREFIX}{}", std::process::id()))
}

/// Creates an instance. One that exists belongs to a dead process with the same number, as happens
/// in containers, and is replaced; the kernel does not remove one that is open.
pub(super) fn create(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_dir(path)?;
            fs::create_dir(path)
        }
        created => created,
    }
}

/// Removes the instances of processes that have ended.
pub(super) fn remove_stale(tracefs: &Path) {
    let instances = fs::read_dir(tracefs.join("instances")).into_iter().flatten().flatten();
    for instance in instances {
        let name = instance.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            // Fails if somebody reads it: then it is not ours to remove.
            let _ = fs::remove_dir(instance.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container's process often has the number that the one before it had.
    #[test]
    fn an_instance_of_the_same_number_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tidegate-7");
        fs::create_dir(&path).unwrap();
        create(&path).unwrap();
        fs::write(path.join("open"), "").unwrap();
        assert!(create(&path).is_err(), "one that cannot be removed is in use");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The folders of trace instances. Each is named after its process, and is removed once the process
//! has ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "tidegate-";

/// Returns the path of this process's instance.
pub(super) fn own(tracefs: &Path) -> PathBuf {
    tracefs.join("instances").join(format!("{PREFIX}{}", std::process::id()))
}

/// Creates an instance. An existing one belongs to an ended process with the same number, as
/// happens in containers, and is replaced. If the instance is open, the kernel does not remove it,
/// and this fails.
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
            // This fails if a process reads the instance; it is then not ours to remove.
            let _ = fs::remove_dir(instance.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In containers, a process often has the same number as its predecessor.
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

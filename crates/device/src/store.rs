// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Opens the file that keeps a simulated drive's data.
//!
//! The store must be a regular file or not exist yet. A simulated drive needs no block device, and
//! a block device named as its store is probably needed for something else.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, RawMode, fstat, open, stat};
use rustix::io::Errno;

use crate::in_use;
use crate::open_error::OpenError;
use crate::target::{refuse_use, refused, with_article};

/// Opens a store, or creates an empty one if the path does not exist; existing contents are kept.
/// The caller must make sure that no other process uses the store (`flock`).
///
/// # Errors
/// [`OpenError`]: the path is not a regular file, it is swap or below a loop device, or the system
/// refused.
pub fn open_store(path: &Path) -> Result<File, OpenError> {
    // The type is checked before opening, because opening alone triggers some devices.
    match stat(path) {
        Ok(status) => refuse_irregular(path, status.st_mode)?,
        Err(Errno::NOENT) => {}
        Err(source) => return Err(refused(path, source)),
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = open(path, flags, Mode::from_raw_mode(0o666));
    let file = file.map_err(|source| refused(path, source))?;
    // The file may have been replaced since the check.
    refuse_irregular(path, fstat(&file).map_err(|source| refused(path, source))?.st_mode)?;
    refuse_use(path, in_use::of_file(&file))?;
    Ok(File::from(file))
}

fn refuse_irregular(path: &Path, mode: RawMode) -> Result<(), OpenError> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        other => Err(OpenError::NoStore { path: path.to_owned(), what: with_article(other) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> OpenError {
        open_store(path).expect_err("it must be refused")
    }

    #[test]
    fn a_store_is_made_where_nothing_is_and_kept_where_one_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        drop(open_store(&path).expect("nothing is there"));
        assert_eq!(std::fs::read(&path).expect("it was made"), b"");
        std::fs::write(&path, "kept").expect("our file");
        drop(open_store(&path).expect("it is there"));
        assert_eq!(std::fs::read(&path).expect("it stays"), b"kept");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        let null = Path::new("/dev/null");
        let named =
            [(&*pipe, "a pipe"), (folder.path(), "a directory"), (null, "a character device")];
        for (path, what) in named {
            let said = refusal(path).to_string();
            assert!(said.contains(&format!("is {what}, and a store is a regular file")), "{said}");
        }
    }

    #[test]
    fn where_no_file_can_be_it_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = refusal(&folder.path().join("gone/store"));
        assert!(matches!(error, OpenError::Refused { source: Errno::NOENT, .. }), "{error}");
    }
}

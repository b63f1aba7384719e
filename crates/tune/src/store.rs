// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The paths of records; writes and removes record files and installed files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tidegate_platform::new_file::NewFile;

use crate::disk::{Disk, Root};
use crate::record_error::RecordError;

/// The folder of all records, relative to the root.
pub(crate) const FOLDER: &str = "var/lib/tidegate/tune";

/// Returns the path of a disk's record. It contains the disk's permanent name, because names such
/// as `sda` change.
pub(crate) fn place(disk: &Disk) -> PathBuf {
    disk.root().at(FOLDER).join(format!("{}.json", disk.file_name()))
}

/// Returns the paths of all records.
pub(crate) fn places(root: &Root) -> Result<Vec<PathBuf>, RecordError> {
    let path = root.at(FOLDER);
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| RecordError::File { verb: "read", path, source })?;
    let paths = entries.into_iter().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect())
}

/// Writes a file and creates its folders. After a failure or a crash, the file has either its old
/// text or the new one.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), RecordError> {
    let folder = path.parent().unwrap_or(path);
    let file = NewFile { named: path.to_owned(), path: path.to_owned() };
    let written = fs::create_dir_all(folder)
        .and_then(|()| file.rewrite(text))
        .and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|source| RecordError::File { verb: "write", path: path.to_owned(), source })
}

/// Removes a file, and its folder if the folder is a unit's and empty.
pub(crate) fn remove(path: PathBuf) -> Result<(), RecordError> {
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(RecordError::File { verb: "remove", path, source });
        }
        _ => {}
    }
    let folder = path.parent().filter(|folder| folder.extension().is_some_and(|it| it == "d"));
    if let Some(folder) = folder.filter(|folder| !folder.ends_with("rules.d")) {
        // The folder remains if it contains another drop-in.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

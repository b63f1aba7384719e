// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A file that a command will create when it ends. Errors are reported before the command starts,
//! existing files are never replaced, and a reader sees either the whole file or none.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The path of a new file, checked to be usable.
#[derive(Debug)]
pub struct NewFile {
    /// The path as the user gave it.
    pub named: PathBuf,
    /// The path without symbolic links.
    pub path: PathBuf,
}

impl NewFile {
    /// Checks that no file exists at the path, and that one can be created.
    ///
    /// # Errors
    /// If a file exists there, or no file can be created.
    pub fn prepare(named: &Path) -> Result<Self, FileFault> {
        Self::at(named, real_path_of_new(named)?)
    }

    /// Checks that a file can be created in the folder of the path. A file at the path may exist:
    /// the new one is then [persisted](Self::persist_free) under a name with a number.
    ///
    /// # Errors
    /// If the path is a directory, or no file can be created.
    pub fn numbered(named: &Path) -> Result<Self, FileFault> {
        match real_path_of_new(named) {
            Err(FileFault::Exists(_)) => Self::at(named, real_path(named)?),
            path => Self::at(named, path?),
        }
    }

    /// Checks that a file can be created in the folder of `path`, the real path of `named`.
    ///
    /// # Errors
    /// If no file can be created.
    pub fn at(named: &Path, path: PathBuf) -> Result<Self, FileFault> {
        // Created and removed again, so that a killed process leaves nothing behind.
        temporary_in(folder_of(&path)).map_err(|error| unwritable(named, error))?;
        Ok(Self { named: named.to_owned(), path })
    }

    /// Returns whether both are the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.path == other.path
    }

    /// Returns the path as the user gave it.
    pub fn name(&self) -> String {
        self.named.display().to_string()
    }

    /// Writes the text, unless another process created a file at the path in the meantime.
    ///
    /// # Errors
    /// If a file was created there, or the file cannot be written.
    pub fn write(&self, text: &str) -> Result<(), FileFault> {
        self.persist(self.filled(text).map_err(|error| self.unwritable(error))?)
    }

    /// Creates a temporary file in the same folder, for a text that is written piece by piece and
    /// then [persisted](Self::persist).
    ///
    /// # Errors
    /// If no file can be created.
    pub fn temporary(&self) -> Result<NamedTempFile, FileFault> {
        temporary_in(folder_of(&self.path)).map_err(|error| self.unwritable(error))
    }

    /// Gives a written file its name, unless another process created a file at the path in the
    /// meantime.
    ///
    /// # Errors
    /// If a file was created there, or the file cannot be renamed.
    pub fn persist(&self, file: NamedTempFile) -> Result<(), FileFault> {
        match file.persist_noclobber(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(FileFault::CameUp(self.named.clone()))
            }
            Err(error) => Err(self.unwritable(error.error)),
        }
    }

    /// Gives a written file its name or, if that is taken, the first free name with a number:
    /// `a-2.csv` for `a.csv`. Returns the name.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn persist_free(&self, mut file: NamedTempFile) -> Result<String, FileFault> {
        let mut number = 1;
        loop {
            match file.persist_noclobber(with_number(&self.path, number)) {
                Ok(_) => return Ok(with_number(&self.named, number).display().to_string()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    file = error.file;
                }
                Err(error) => return Err(self.unwritable(error.error)),
            }
            number += 1;
        }
    }

    /// Returns the fault for this file if the system refused to write it.
    pub fn unwritable(&self, error: io::Error) -> FileFault {
        unwritable(&self.named, error)
    }

    /// Replaces the text that was written before, for a file that grows.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn rewrite(&self, text: &str) -> io::Result<()> {
        self.filled(text)?.persist(&self.path).map(|_| ()).map_err(|error| error.error)
    }

    /// Replaces the text that was written before, without waiting for the medium, for a text that
    /// is soon out of date. A reader sees either the whole old text or the whole new one; a crash
    /// can lose both.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn refresh(&self, text: &str) -> io::Result<()> {
        let mut file = temporary_in(folder_of(&self.path))?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.path).map(|_| ()).map_err(|error| error.error)
    }

    /// Removes the written file.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Creates a temporary file in the same folder with this text, and syncs it to the medium.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn filled(&self, text: &str) -> io::Result<NamedTempFile> {
        let mut file = temporary_in(folder_of(&self.path))?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// The reason why a file cannot be created. Each holds the path as the user gave it.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// A file exists at the path.
    #[error("{} exists; existing files are never overwritten", .0.display())]
    Exists(PathBuf),
    /// The path is a directory.
    #[error("{} is a directory", .0.display())]
    Folder(PathBuf),
    /// The system refused. Holds its error.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, io::Error),
    /// Another process created the file in the meantime.
    #[error("{} appeared while the command ran", .0.display())]
    CameUp(PathBuf),
}

impl FileFault {
    /// Returns an instruction for the user that removes the fault.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Exists(..) => "name a new file",
            Self::Folder(..) => "name a file in that directory",
            Self::Unwritable(..) => "name a file in an existing, writable folder",
            Self::CameUp(..) => "the other file was left unchanged",
        }
    }
}

/// Creates a temporary file in the folder where the final file will be.
fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".tidegate-")
        // Use the permissions of any new file; temporary files are private by default.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// Returns the real path of a file that does not exist, in a folder that does.
///
/// # Errors
/// If the file exists, or its folder does not.
pub fn real_path_of_new(path: &Path) -> Result<PathBuf, FileFault> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => return Err(FileFault::Folder(path.to_owned())),
        Ok(_) => return Err(FileFault::Exists(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (),
        Err(error) => return Err(unwritable(path, error)),
    }
    real_path(path)
}

/// Returns the path of a file, with the symbolic links of its folder resolved.
fn real_path(path: &Path) -> Result<PathBuf, FileFault> {
    let folder = fs::canonicalize(folder_of(path)).map_err(|error| unwritable(path, error))?;
    match path.file_name() {
        Some(name) if !path.as_os_str().as_encoded_bytes().ends_with(b"/") => Ok(folder.join(name)),
        _ => Err(FileFault::Folder(path.to_owned())),
    }
}

/// Returns the path with `-number` before the first dot of its file name; 1 changes nothing.
fn with_number(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    // The dot of a hidden file is part of its name.
    let dot = name.iter().skip(1).position(|&byte| byte == b'.').map_or(name.len(), |at| at + 1);
    let (stem, rest) = name.split_at(dot);
    let name = [stem, format!("-{number}").as_bytes(), rest].concat();
    path.with_file_name(OsString::from_vec(name))
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns the fault for a file that the system refused to write.
pub fn unwritable(path: &Path, error: io::Error) -> FileFault {
    FileFault::Unwritable(path.to_owned(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_exists_is_replaced_before_or_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cpu.toml");
        let (first, second) = (NewFile::prepare(&path).unwrap(), NewFile::prepare(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing before the end");
        first.write("first").unwrap();
        assert!(second.write("second").is_err() && NewFile::prepare(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(NewFile::prepare(&folder.path().join("missing/a")).is_err());
        let other = NewFile::prepare(&folder.path().join("b.cpu.toml")).unwrap();
        let roundabout = NewFile::prepare(&folder.path().join("./b.cpu.toml")).unwrap();
        assert!(other.is_same(&roundabout) && !other.is_same(&first));
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.csv.zst", "a", ".a"] {
            for _ in 0..3 {
                let file = NewFile::numbered(&folder.path().join(name)).unwrap();
                file.persist_free(file.temporary().unwrap()).unwrap();
            }
        }
        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        let expected = [".a", ".a-2", ".a-3", "a", "a-2", "a-2.csv.zst", "a-3", "a-3.csv.zst"];
        assert_eq!(names, [&expected[..], &["a.csv.zst"]].concat());
        assert!(NewFile::numbered(folder.path()).is_err(), "a folder");
        assert!(NewFile::numbered(&folder.path().join("missing/a")).is_err());
    }

    #[test]
    fn a_file_that_grows_is_whole_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cpu.toml.partial");
        let growing = NewFile::prepare(&path).unwrap();
        for text in ["one", "one and two"] {
            growing.rewrite(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        growing.refresh("soon out of date").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "soon out of date");
        growing.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

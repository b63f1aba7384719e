// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a measured drive file goes.
//!
//! All that can be refused is refused before hours of measurement; nothing that exists is
//! replaced without being asked for; a reader sees the old file or the new one.
//!
//! ```text
//!   prepare --> the target itself ........................ refused
//!           --> exists --> without --add ................. refused
//!           |          --> --add: no drive file .......... refused
//!           --> exists --> --resume: its other tables stay
//!           --> missing --> --add ........................ refused
//!           --> folder missing, or cannot be written ..... refused
//!   publish --> new: never over a file that came up meanwhile
//!           --> --add: to what the file holds by then, one process after the other
//! ```

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tempfile::NamedTempFile;
use tidegate_measure::{Origin, StartTimes, merge};
use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;

use crate::failure::Failure;
use crate::new_file::{self, folder_of, real_path_of_new, unwritable};
use crate::text_file;

/// How often a file that another process is adding to is tried again.
const LOCK_TRIES: u32 = 500;
/// How long between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A place for a drive file, found usable.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// As it was named.
    named: PathBuf,
    /// The folder, without symbolic links.
    folder: PathBuf,
    /// The file itself, without symbolic links.
    path: PathBuf,
    /// What stands there and is added to.
    existing: Option<Identity>,
}

/// What may stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing.
    Nothing,
    /// A drive file to add to.
    DriveFile,
    /// The drive file of a measurement that was interrupted, or nothing.
    Interrupted,
}

impl OutputFile {
    /// Checks that a drive file can go to `path`; `target` is what will be measured.
    pub(crate) fn prepare(path: &Path, expected: Expected, target: &Path) -> Result<Self, Failure> {
        let is_there = expected == Expected::Interrupted && path.exists();
        let add = expected == Expected::DriveFile || is_there;
        if is_same_file(path, target) {
            return Err(Failure::input(
                format!("{} is what is to be measured: writing there destroys it", path.display()),
                "name another file for the result",
            ));
        }
        let help = "name a new file; a table is added to a drive file with --add";
        let real = if add { real_path_of_existing(path)? } else { real_path_of_new(path, help)? };
        let folder = folder_of(&real).to_owned();
        let mut output = Self { named: path.to_owned(), folder, path: real, existing: None };
        // Made and removed again: a process that is killed leaves nothing behind.
        output.temporary().map_err(|error| unwritable(path, &error))?;
        if add {
            let (_held, existing) = output.lock_existing()?;
            output.existing = Some(existing.identity);
        }
        Ok(output)
    }

    /// Refuses to add to a file about another device than `measured`.
    pub(crate) fn check_device(&self, measured: &Identity) -> Result<(), Failure> {
        let Some(known) = &self.existing else { return Ok(()) };
        self.about_same_device(known, measured)
    }

    /// Refuses to add times of that origin to a file of another.
    pub(crate) fn check_origin(&self, measured: Origin) -> Result<(), Failure> {
        let Some(known) = &self.existing else { return Ok(()) };
        measured.check(known).map_err(|error| {
            Failure::input(
                format!("{} {error}", self.named.display()),
                "leave --add out and name a new file",
            )
        })
    }

    /// Whether something stands there that is added to.
    pub(crate) fn is_added_to(&self) -> bool {
        self.existing.is_some()
    }

    /// How the user calls it.
    pub(crate) fn name(&self) -> String {
        self.named.display().to_string()
    }

    /// What stands there now; none where it cannot be read.
    pub(crate) fn read(&self) -> Option<DriveFile> {
        DriveFile::parse(&text_file::read(&self.path).ok()?).ok()
    }

    /// Puts the measured tables in place; drains from `starts` raise those that stand there. Gives
    /// what is to be said of the file as it is now.
    pub(crate) fn publish(
        &self,
        measured: &DriveFile,
        starts: &[StartTimes],
    ) -> Result<Option<String>, Failure> {
        if self.existing.is_some() {
            self.add(measured, starts)
        } else {
            let (file, said) = merge::with_drains_of(measured, starts);
            self.write_new(&file).map(|()| said)
        }
    }

    fn about_same_device(&self, known: &Identity, measured: &Identity) -> Result<(), Failure> {
        merge::check_device(known, measured).map_err(|error| {
            Failure::input(
                format!("{} {error}", self.named.display()),
                format!(
                    "write to a new file; if it is the same device all the same, correct `{}` \
                     under [identity] in the file first",
                    error.fact
                ),
            )
        })
    }

    fn write_new(&self, measured: &DriveFile) -> Result<(), Failure> {
        let file = self.filled(measured).map_err(|error| unwritable(&self.named, &error))?;
        new_file::put(file, &self.named, &self.path)
    }

    fn add(&self, measured: &DriveFile, starts: &[StartTimes]) -> Result<Option<String>, Failure> {
        // Read again: somebody may have added to it, and the file as it was is not the file.
        let (held, existing) = self.lock_existing()?;
        self.about_same_device(&existing.identity, &measured.identity)?;
        let replace = || {
            let (whole, said) = merge::with_tables_of(&existing, measured, starts);
            let file = self.filled(&whole)?;
            file.as_file().set_permissions(held.metadata()?.permissions())?;
            file.persist(&self.path)?;
            Ok(said)
        };
        replace().map_err(|error: io::Error| unwritable(&self.named, &error))
    }

    /// A temporary file in the same folder with this text, on the medium.
    fn filled(&self, file: &DriveFile) -> io::Result<NamedTempFile> {
        let mut temporary = self.temporary()?;
        temporary.write_all(file.to_toml().as_bytes())?;
        temporary.as_file().sync_all()?;
        Ok(temporary)
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        new_file::temporary_in(&self.folder)
    }

    /// The drive file that stands there, locked against other processes that add to it.
    fn lock_existing(&self) -> Result<(File, DriveFile), Failure> {
        let held = lock(&self.path).map_err(|error| unwritable(&self.named, &error))?;
        let text = text_file::read_open(&held).map_err(|error| {
            Failure::input(
                format!("cannot add to {}: {error}", self.named.display()),
                "name a drive file, or leave --add out to make a new one",
            )
        })?;
        match DriveFile::parse(&text) {
            Ok(existing) => Ok((held, existing)),
            Err(error) => Err(Failure::in_file(&self.named, text, &error)),
        }
    }
}

/// The path itself of a file that is added to.
fn real_path_of_existing(path: &Path) -> Result<PathBuf, Failure> {
    let real = fs::canonicalize(path).map_err(|error| {
        Failure::input(
            format!("there is no drive file {} to add to: {error}", path.display()),
            "leave --add out to make a new one",
        )
    })?;
    // Before it is opened: opening a pipe waits, opening a device may do anything.
    if real.is_file() {
        return Ok(real);
    }
    Err(Failure::input(
        format!("cannot add to {}: it is not a regular file", path.display()),
        "name a drive file, or leave --add out to make a new one",
    ))
}

/// Whether two names stand for one file, or will once it is made.
fn is_same_file(path: &Path, target: &Path) -> bool {
    if let (Ok(found), Ok(target)) = (fs::metadata(path), fs::metadata(target)) {
        return identity(&found) == identity(&target);
    }
    let real = |path: &Path| Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    path == target || real(path).is_some_and(|path| Some(path) == real(target))
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Opens and locks the file that stands at `path` now. Who adds replaces the file, so the
/// one that was opened may be another by the time that the lock is granted.
fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..LOCK_TRIES {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) if identity(&file.metadata()?) == identity(&fs::symlink_metadata(path)?) => {
                return Ok(file);
            }
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process keeps it locked"))
}

#[cfg(test)]
mod tests {
    fn expected(add: bool) -> Expected {
        if add { Expected::DriveFile } else { Expected::Nothing }
    }

    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tempfile::TempDir;

    use super::*;

    const TARGET: &str = "/dev/null";

    fn drive(op: &str) -> DriveFile {
        let text = format!(
            "name = \"d\"\nkind = \"recorded\"\ndepth = 1\n[identity]\nmodel = \"M\"\n\
             [[batch]]\nop = \"{op}\"\nsize = \"4KiB\"\nns_max = [1]\n"
        );
        DriveFile::parse(&text).unwrap()
    }

    fn folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.toml");
        (folder, path)
    }

    fn prepare(path: &Path, add: bool) -> Result<OutputFile, Failure> {
        OutputFile::prepare(path, expected(add), Path::new(TARGET))
    }

    fn read(path: &Path) -> DriveFile {
        DriveFile::parse(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn a_new_file_is_all_that_is_left_and_others_may_read_it() {
        let (folder, path) = folder();
        let output = prepare(&path, false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing before the end");
        output.publish(&drive("read"), &[]).unwrap();
        assert_eq!(read(&path), drive("read"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&usual));
    }

    /// Goal: of two measurements that end at one name, none replaces the other unseen.
    #[test]
    fn a_file_that_came_up_meanwhile_stays() {
        let (_folder, path) = folder();
        let [first, second] = [prepare(&path, false).unwrap(), prepare(&path, false).unwrap()];
        first.publish(&drive("read"), &[]).unwrap();
        assert!(second.publish(&drive("write"), &[]).is_err());
        assert_eq!(read(&path), drive("read"));
    }

    #[test]
    fn two_that_add_at_once_are_both_added() {
        let (_folder, path) = folder();
        fs::write(&path, drive("read").to_toml().replace("4KiB", "8KiB")).unwrap();
        let outputs = [("read", prepare(&path, true)), ("write", prepare(&path, true))];
        std::thread::scope(|scope| {
            for (op, output) in outputs {
                scope.spawn(move || output.unwrap().publish(&drive(op), &[]).unwrap());
            }
        });
        assert_eq!(read(&path).batch.len(), 3);
    }

    #[test]
    fn adding_keeps_permissions_and_links() {
        let (folder, path) = folder();
        fs::write(&path, drive("read").to_toml()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("link");
        symlink("d.toml", &link).unwrap();
        prepare(&link, true).unwrap().publish(&drive("write"), &[]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&path).batch.len(), 2);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn whatever_exists_is_left_alone() {
        let (folder, path) = folder();
        fs::write(&path, b"\xff\xfe not text").unwrap();
        let dangling = folder.path().join("dangling");
        symlink("nowhere", &dangling).unwrap();
        for path in [&path, &dangling, folder.path(), Path::new("/dev/full"), Path::new(".")] {
            assert!(prepare(path, false).is_err(), "{}", path.display());
            assert!(prepare(path, true).is_err(), "{}", path.display());
        }
        assert_eq!(fs::read(&path).unwrap(), b"\xff\xfe not text");
    }

    #[test]
    fn what_cannot_be_written_is_known_at_once() {
        let (folder, path) = folder();
        let missing = folder.path().join("missing");
        for path in [&missing.join("d.toml"), &missing.join(""), Path::new("/proc/d.toml")] {
            assert!(prepare(path, false).is_err(), "{}", path.display());
        }
        assert!(prepare(&path, true).is_err(), "nothing to add to");
    }

    #[test]
    fn the_target_is_no_place_whatever_it_is_called() {
        let (folder, path) = folder();
        let is_refused =
            |output: &Path, add| OutputFile::prepare(output, expected(add), &path).is_err();
        let other = folder.path().join(".").join("d.toml");
        assert!(is_refused(&path, false) && is_refused(&other, false), "before it is made");
        fs::write(&path, drive("read").to_toml()).unwrap();
        let [hard, soft] = ["hard", "soft"].map(|name| folder.path().join(name));
        fs::hard_link(&path, &hard).unwrap();
        symlink("d.toml", &soft).unwrap();
        for output in [&path, &other, &hard, &soft] {
            assert!(is_refused(output, true), "{}", output.display());
        }
    }

    #[test]
    fn a_foreign_table_is_refused_before_and_after() {
        let (_folder, path) = folder();
        fs::write(&path, drive("read").to_toml()).unwrap();
        let output = prepare(&path, true).unwrap();
        assert!(output.check_device(&drive("write").identity).is_ok());
        let mut foreign = drive("write");
        foreign.identity.model = Some("N".to_owned());
        assert!(output.check_device(&foreign.identity).is_err());
        assert!(output.publish(&foreign, &[]).is_err());
        assert_eq!(read(&path), drive("read"));
    }
}

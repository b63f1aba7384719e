// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Allows one service per store.
//!
//! Two services that write to one file would each prove bounds for a drive that they unknowingly
//! share, and neither would order its requests with the other's. So a service that writes or has
//! contracts locks the file exclusively; services that only read it without contracts share a lock.
//! The locks are the kernel's (`flock`), which attached simulated drives take too; the kernel
//! releases them when the process ends.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, FlockOperation, flock, fstat};
use rustix::io::Errno;
use tidegate_device::in_use::Use;
use tidegate_device::{Access, OpenError, Target};

use super::error::ServeError;

/// The longest time for which a file stays in use after its process was killed: the kernel
/// completes that process's io_uring requests afterwards.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// The interval between two attempts.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Opens a simulated drive's store and locks it exclusively.
pub(super) fn open_store(path: &Path) -> Result<File, ServeError> {
    let file = patiently(|| tidegate_device::open_store(path), is_busy)?;
    lock(&file, path, true)?;
    Ok(file)
}

/// Refuses a store that [`open_store`] could not open; does not create a store.
pub(super) fn check_store(path: &Path) -> Result<(), ServeError> {
    if path.exists() {
        return open_store(path).map(drop);
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    if folder.is_none_or(Path::is_dir) {
        return Ok(());
    }
    Err(OpenError::Refused { path: path.to_owned(), source: Errno::NOENT }.into())
}

/// Opens a backing. Opening a device for writing claims it exclusively; a file is locked.
pub(super) fn open_backing(
    path: &Path,
    access: Access,
    is_promised: bool,
) -> Result<Target, ServeError> {
    let target = patiently(|| Target::open(path, access), is_busy)?;
    let is_file = fstat(&target)
        .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::RegularFile);
    if is_file {
        lock(&target, path, access == Access::ReadWrite || is_promised)?;
    }
    Ok(target)
}

/// Returns whether another process, which may be about to end, has the device open.
fn is_busy<T>(found: &Result<T, OpenError>) -> bool {
    matches!(found, Err(OpenError::InUse { used: Use::Claimed | Use::Undecided { .. }, .. }))
}

fn lock(file: impl AsFd, path: &Path, is_alone: bool) -> Result<(), ServeError> {
    let operation = if is_alone {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    match patiently(|| flock(&file, operation), |found| *found == Err(Errno::WOULDBLOCK)) {
        Err(Errno::WOULDBLOCK) => Err(ServeError::Served { path: path.to_owned() }),
        // On a file system without locks, the service starts without one.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Repeats `act` until its result is not busy or the time limit is reached; returns the last
/// result.
fn patiently<T>(mut act: impl FnMut() -> T, is_busy: impl Fn(&T) -> bool) -> T {
    let begun = Instant::now();
    loop {
        let found = act();
        if !is_busy(&found) || begun.elapsed() >= RELEASE_MAX {
            return found;
        }
        std::thread::sleep(TRY_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(found: &Result<(), ServeError>) -> bool {
        matches!(found, Err(ServeError::Served { .. }))
    }

    #[test]
    fn readers_share_and_whoever_writes_or_promises_is_alone() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path();
        let open = || File::open(path).expect("it is there");
        let (first, second, third) = (open(), open(), open());
        lock(&first, path, false).expect("nobody has it");
        lock(&second, path, false).expect("another reader");
        assert!(is_refused(&lock(&third, path, true)));
        drop((first, second));
        lock(&third, path, true).expect("nobody has it any more");
        assert!(is_refused(&lock(open(), path, false)));
        assert!(is_refused(&lock(open(), path, true)));
    }

    #[test]
    fn a_store_belongs_to_one_and_what_attaches_drives_sees_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        let first = open_store(&path).expect("nobody has it");
        let error = open_store(&path).expect_err("somebody has it").to_string();
        assert!(error.contains("store is served by another service"), "{error}");
        // `tidegate drive attach --store` takes the same lock.
        let attached = File::options().write(true).open(&path).expect("it is there");
        assert!(attached.try_lock().is_err(), "an attached drive would write to it");
        drop(first);
        attached.try_lock().expect("nobody has it any more");
        assert!(open_store(&path).is_err(), "an attached drive writes to it");
    }
    #[test]
    fn a_store_is_a_regular_file() {
        let error = open_store(Path::new("/dev/null")).expect_err("a device").to_string();
        assert!(error.contains("/dev/null is a character device"), "{error}");
    }
}

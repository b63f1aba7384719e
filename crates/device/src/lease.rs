// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether another process has a file open. The kernel counts every open of the file: under
//! any name, from any mount namespace, and by loop devices too.

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use libc::{F_SETLEASE, F_UNLCK, F_WRLCK, SIGURG, c_int};

/// The crate `libc` lacks this constant for some C libraries.
const F_SETSIG: c_int = 10;

/// Returns whether it is certain that no other process has the file open. Only the file's owner and
/// root can find out, and only on some file systems.
///
/// The kernel grants a write lease only if no other process has the file open. The lease is
/// released immediately; a process that opens the file in between waits until then.
pub(crate) fn is_ours_alone(file: impl AsFd) -> bool {
    let file = file.as_fd();
    // A process that opens the file in between makes the kernel send a signal; the default one
    // would end this process.
    let is_given =
        control(file, F_SETSIG, SIGURG) && control(file, F_SETLEASE, c_int::from(F_WRLCK));
    is_given && control(file, F_SETLEASE, c_int::from(F_UNLCK))
}

#[expect(unsafe_code, reason = "fcntl without a wrapper in rustix")]
fn control(file: BorrowedFd<'_>, command: c_int, value: c_int) -> bool {
    // SAFETY: the descriptor is open, and these commands take a number, not an address.
    unsafe { libc::fcntl(file.as_raw_fd(), command, value) == 0 }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn whoever_else_has_it_open_is_seen_under_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        let file = File::create_new(&path).expect("a file");
        if !is_ours_alone(&file) {
            return eprintln!("skipped: this file system has no leases");
        }
        std::fs::hard_link(&path, &other).expect("a second name");
        let reader = File::open(&other).expect("it is there");
        std::fs::remove_file(&other).expect("it is there");
        assert!(!is_ours_alone(&file));
        drop(reader);
        assert!(is_ours_alone(&file));
    }
}

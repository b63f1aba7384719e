// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether anybody else has a file open, as the kernel counts it: under whatever name, from
//! whatever mount namespace, loop devices among them.

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use libc::{F_SETLEASE, F_UNLCK, F_WRLCK, SIGURG, c_int};

/// Not in `libc` for every C library.
const F_SETSIG: c_int = 10;

/// Whether it is certain that nobody else has the file open. Only its owner and root may know, and
/// not on every file system.
///
/// A lease to write is given to who is alone with a file. It is given back at once; whoever opens
/// the file in between waits so long.
pub(crate) fn is_ours_alone(file: impl AsFd) -> bool {
    let file = file.as_fd();
    // Who opens it in between makes the kernel send us a signal: by default one that kills.
    let is_given =
        control(file, F_SETSIG, SIGURG) && control(file, F_SETLEASE, c_int::from(F_WRLCK));
    is_given && control(file, F_SETLEASE, c_int::from(F_UNLCK))
}

#[expect(unsafe_code, reason = "fcntl without a wrapper in rustix")]
fn control(file: BorrowedFd<'_>, command: c_int, value: c_int) -> bool {
    // SAFETY: the descriptor is open, and these commands take a number and no address.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The terminal that a program was started from.

/// From now on the program writes to its terminal also from the background, where `stty tostop` would
/// stop it: for whoever must not be stopped.
#[expect(unsafe_code, reason = "sets a disposition of this process")]
pub fn write_from_background() {
    // SAFETY: no code of ours is installed; the kernel drops the signal, and lets the write through.
    unsafe {
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
    }
}

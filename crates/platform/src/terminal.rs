// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The terminal that a program was started from.

/// Lets the program write to its terminal from the background. Otherwise, with `stty tostop`, the
/// kernel would stop it.
#[expect(unsafe_code, reason = "sets a disposition of this process")]
pub fn write_from_background() {
    // SAFETY: no handler is installed; the kernel discards the signal and lets the write through.
    unsafe {
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
    }
}

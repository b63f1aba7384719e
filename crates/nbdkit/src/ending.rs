// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The end, although clients stay.
//!
//! Told to end, nbdkit lets nobody in, answers what it has read and refuses the rest, but waits for
//! each client to say or ask something first. A mounted file system or a machine may never. So
//! this thread ends the service when nothing is outstanding any more, whoever is still there.
//!
//! ```text
//!   serving --SIGTERM, ctl stop--> answering --nothing outstanding--> LAST_WORDS --> ended
//!      (nbdkit's own end, when all clients left, may come first)
//! ```

use std::ffi::{c_int, c_uint};
use std::time::Duration;

use engine::service::Service;

use crate::extended::end;
use crate::service;

#[expect(unsafe_code, reason = "a function of the server")]
unsafe extern "C" {
    fn nbdkit_nanosleep(seconds: c_uint, nanoseconds: c_uint) -> c_int;
}

/// For the server to send the last answers, and to end by itself.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often it is looked what is outstanding.
const LOOK: Duration = Duration::from_millis(100);

/// Begins to watch.
///
/// # Errors
/// When no thread is to be had.
pub(crate) fn watch() -> std::io::Result<()> {
    std::thread::Builder::new()
        .name("tidegate-end".to_owned())
        .stack_size(256 << 10)
        .spawn(|| {
            while !is_told_to_end() {}
            while service().is_some_and(|service| is_busy(&service)) {
                std::thread::sleep(LOOK);
            }
            std::thread::sleep(LAST_WORDS);
            if end() {
                std::process::exit(0);
            }
        })
        .map(drop)
}

/// Sleeps for some time, unless the server is told to end.
#[expect(unsafe_code, reason = "a function of the server")]
fn is_told_to_end() -> bool {
    // SAFETY: it takes two numbers, and any thread may call it.
    unsafe { nbdkit_nanosleep(60, 0) == -1 }
}

fn is_busy(service: &Service) -> bool {
    let seen = service.statistics();
    seen.is_some_and(|seen| seen.exports.iter().any(|export| export.outstanding > 0))
}

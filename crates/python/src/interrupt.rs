// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs work without the interpreter's lock, and ends it on Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// The time between two checks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The stack size of a program's main thread, on which the command line does the same work.
const STACK_BYTES: usize = 8 << 20;

/// Runs `work` on a separate thread, without the interpreter's lock, and returns its result. The
/// work must not use Python.
///
/// # Errors
/// The exception of a signal handler, such as `KeyboardInterrupt`. The flag that `work` got is then
/// set. If the work does not check the flag, it continues in the background, and its result is
/// dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let (sender, mut results) = sync_channel(1);
    let flag = cancelled.clone();
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // After an interruption, the receiver is gone.
        let _ = sender.send(work(&flag));
    })?;
    loop {
        let next;
        (next, results) = py.detach(move || (results.recv_timeout(LOOK_EVERY), results));
        match next {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                let panic = py.detach(|| thread.join()).expect_err("it sent no result");
                std::panic::resume_unwind(panic);
            }
            Err(RecvTimeoutError::Timeout) => {
                let keep_on = py.check_signals();
                keep_on.inspect_err(|_| cancelled.store(true, Ordering::Relaxed))?;
            }
        }
    }
}

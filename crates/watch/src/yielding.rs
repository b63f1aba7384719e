// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gives way to other threads while events are handled.
//!
//! A low priority does not suffice. On Linux 6.12, even a thread under `SCHED_IDLE` can keep the
//! processor until the next tick while the kernel's worker waits, which sends the requests of the
//! watched disk. A thread that yields makes the kernel choose again.

use std::thread;

/// The number of events between two yields.
const EVENTS: usize = 4;

/// Yields after every few events: call it after each one, with its index.
pub(crate) fn yield_after(index: usize) {
    if index % EVENTS == EVENTS - 1 {
        thread::yield_now();
    }
}

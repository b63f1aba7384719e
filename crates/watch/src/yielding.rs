// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gives way to other threads while events are handled.
//!
//! A low priority does not suffice. On Linux 6.12, even a thread under `SCHED_IDLE` can keep the
//! processor until the next tick while the kernel's worker waits, which sends the requests of the
//! watched disk. A thread that yields makes the kernel choose again.

use std::thread;
use std::time::{Duration, Instant};

/// The time after which the thread yields: far shorter than a tick, and long enough for tens of
/// events, because a thread under `SCHED_IDLE` may wait for 10 ms after each yield.
const PIECE: Duration = Duration::from_micros(20);

/// Yields during work on many events.
#[derive(Debug)]
pub struct Pacer {
    /// The time of the last yield; `None` if the work is not paced.
    last: Option<Instant>,
}

impl Pacer {
    /// Creates a pacer that yields every 20 us.
    pub fn begin() -> Self {
        Self { last: Some(Instant::now()) }
    }

    /// Creates a pacer that never yields, for work after the watch.
    pub const fn off() -> Self {
        Self { last: None }
    }

    /// Yields if it is time to. Call it after each event.
    pub fn pace(&mut self) {
        if self.last.is_some_and(|last| last.elapsed() >= PIECE) {
            thread::yield_now();
            self.last = Some(Instant::now());
        }
    }
}

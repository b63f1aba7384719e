// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The clock of a run: nanoseconds of `CLOCK_MONOTONIC` since the run began.
//!
//! Policies and drives never read a clock; hosts read this one and pass the instant down.

use model::Time;
use rustix::time::{ClockId, clock_gettime};

/// A clock that started when the run did; copies of it agree.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at the start of the run.
    started_ns: u64,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self { started_ns: monotonic_ns() }
    }

    /// How long ago the run began.
    pub fn now(self) -> Time {
        Time::from_ns(monotonic_ns() - self.started_ns)
    }
}

/// Nanoseconds since the machine started, without the time it slept.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("CLOCK_MONOTONIC is not negative");
    let fraction = u64::try_from(now.tv_nsec).expect("CLOCK_MONOTONIC is not negative");
    seconds * 1_000_000_000 + fraction
}

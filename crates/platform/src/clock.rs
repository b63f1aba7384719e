// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The clock of a run: nanoseconds of `CLOCK_MONOTONIC` since the run began.
//!
//! Policies and drives never read a clock; hosts read this one and pass the time on.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use tidegate_model::Time;

/// A clock that started with the run; all its copies show the same time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at the start of the run.
    started_ns: u64,
}

impl Clock {
    /// Starts a clock that reads zero now.
    pub fn start() -> Self {
        Self { started_ns: monotonic_ns() }
    }

    /// Returns the time since the run began.
    pub fn now(self) -> Time {
        Time::from_ns(monotonic_ns() - self.started_ns)
    }

    /// Sleeps until `at`, even if signals arrive; returns immediately if `at` has passed.
    ///
    /// How late the thread wakes up depends on the host; a real-time thread has no timer slack.
    ///
    /// # Panics
    /// If `at` is more than 292 years away.
    pub fn sleep_until(self, at: Time) {
        let ns = self.started_ns.checked_add(at.ns()).expect("an instant of this run");
        let seconds = i64::try_from(ns / 1_000_000_000).expect("an instant of this run");
        let fraction = i64::try_from(ns % 1_000_000_000).expect("less than a second");
        let at = Timespec { tv_sec: seconds, tv_nsec: fraction };
        while clock_nanosleep_absolute(ClockId::Monotonic, &at) == Err(Errno::INTR) {}
    }
}

/// Returns the nanoseconds since the machine started, without the time during which it was
/// suspended.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("CLOCK_MONOTONIC is not negative");
    let fraction = u64::try_from(now.tv_nsec).expect("CLOCK_MONOTONIC is not negative");
    seconds * 1_000_000_000 + fraction
}

#[cfg(test)]
mod tests {
    use tidegate_model::Duration;

    use super::*;

    #[test]
    fn a_sleep_never_ends_too_early() {
        let clock = Clock::start();
        let at = clock.now() + Duration::from_ms(3);
        clock.sleep_until(at);
        assert!(clock.now() >= at);
        clock.sleep_until(Time::ZERO);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The clock of a run: nanoseconds of `CLOCK_MONOTONIC` since the run began.
//!
//! Policies and drives never read a clock; hosts read this one and pass the instant down.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use tidegate_model::Time;

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

    /// Sleeps until an instant, whatever signals come meanwhile; not at all if it has passed.
    ///
    /// How late the thread wakes up is the host's: a real-time thread has no timer slack.
    ///
    /// # Panics
    /// When the instant is more than 292 years away.
    pub fn sleep_until(self, at: Time) {
        let ns = self.started_ns.checked_add(at.ns()).expect("an instant of this run");
        let seconds = i64::try_from(ns / 1_000_000_000).expect("an instant of this run");
        let fraction = i64::try_from(ns % 1_000_000_000).expect("less than a second");
        let at = Timespec { tv_sec: seconds, tv_nsec: fraction };
        while clock_nanosleep_absolute(ClockId::Monotonic, &at) == Err(Errno::INTR) {}
    }
}

/// Nanoseconds since the machine started, without the time it slept.
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
    fn nobody_wakes_up_too_early() {
        let clock = Clock::start();
        let at = clock.now() + Duration::from_ms(3);
        clock.sleep_until(at);
        assert!(clock.now() >= at);
        clock.sleep_until(Time::ZERO);
    }
}

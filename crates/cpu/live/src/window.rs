// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest execution in any window of one period, as far as checks of the thread can show.

use std::collections::VecDeque;

use tidegate_model::{Duration, Time};

/// Windows begin and end at checks and are at most a period long. If two checks are further apart,
/// the execution between them counts as one interval: all of it, but at most a window's length.
#[derive(Debug, Clone)]
pub(super) struct WindowMax {
    length: Duration,
    /// The checks of the last period: each instant, and the total execution until then.
    looks: VecDeque<(Time, Duration)>,
    executed: Duration,
    highest: Duration,
}

impl WindowMax {
    pub(super) fn new(length: Duration, begin: Time) -> Self {
        let looks = VecDeque::from([(begin, Duration::ZERO)]);
        Self { length, looks, executed: Duration::ZERO, highest: Duration::ZERO }
    }

    /// Records the execution since the last check.
    pub(super) fn add(&mut self, now: Time, executed: Duration) {
        self.executed += executed;
        while self.looks.front().is_some_and(|look| now.since(look.0) > self.length) {
            self.looks.pop_front();
        }
        let late = executed.min(self.length);
        let in_window = self.looks.front().map_or(late, |look| self.executed - look.1);
        self.highest = self.highest.max(in_window);
        self.looks.push_back((now, self.executed));
    }

    /// Returns the most execution in any window so far.
    pub(super) fn highest(&self) -> Duration {
        self.highest
    }

    /// Returns the total execution.
    pub(super) fn executed(&self) -> Duration {
        self.executed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_window_stands() {
        let mut window = WindowMax::new(Duration::from_ns(10), Time::ZERO);
        for (now, executed) in [(4, 2), (9, 3), (14, 5), (30, 6)] {
            window.add(Time::from_ns(now), Duration::from_ns(executed));
        }
        // The fullest window is from 4 to 14. The checks cannot tell when the 6 until 30 were
        // executed, so they are separate.
        assert_eq!(window.highest(), Duration::from_ns(8));
        assert_eq!(window.executed(), Duration::from_ns(16));
    }

    /// The worst case: the manager is delayed, for example by a kernel thread, for longer than a
    /// period.
    #[test]
    fn a_look_later_than_a_period_hides_nothing() {
        let mut window = WindowMax::new(Duration::from_ns(10), Time::ZERO);
        window.add(Time::from_ns(15), Duration::from_ns(9));
        assert_eq!(window.highest(), Duration::from_ns(9));
        window.add(Time::from_ns(50), Duration::from_ns(35));
        assert_eq!(window.highest(), Duration::from_ns(10), "no more than a window");
    }
}

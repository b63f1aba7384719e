// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The most that was executed in any window of a period, as far as looks tell.

use std::collections::VecDeque;

use model::{Duration, Time};

/// See the module's text. Windows begin and end at looks and are no longer than the period.
#[derive(Debug, Clone)]
pub(super) struct WindowMax {
    length: Duration,
    /// Looks of the last period: when, and what was executed until then.
    looks: VecDeque<(Time, Duration)>,
    executed: Duration,
    highest: Duration,
}

impl WindowMax {
    pub(super) fn new(length: Duration, begin: Time) -> Self {
        let looks = VecDeque::from([(begin, Duration::ZERO)]);
        Self { length, looks, executed: Duration::ZERO, highest: Duration::ZERO }
    }

    /// So much was executed since the last look.
    pub(super) fn add(&mut self, now: Time, executed: Duration) {
        self.executed += executed;
        while self.looks.front().is_some_and(|look| now.since(look.0) > self.length) {
            self.looks.pop_front();
        }
        let before = self.looks.front().map_or(self.executed, |look| look.1);
        self.highest = self.highest.max(self.executed - before);
        self.looks.push_back((now, self.executed));
    }

    /// The most so far.
    pub(super) fn highest(&self) -> Duration {
        self.highest
    }

    /// All that was executed.
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
        // From 4 to 14; what was executed until 30 may have begun at 14, longer ago than 10.
        assert_eq!(window.highest(), Duration::from_ns(8));
        assert_eq!(window.executed(), Duration::from_ns(16));
    }
}

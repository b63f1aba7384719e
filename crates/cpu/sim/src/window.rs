// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest execution in any window of one length, wherever the window begins.

use std::collections::VecDeque;

use tidegate_model::{Duration, Time};

/// Records intervals of execution, in order of time.
///
/// Moving a window changes its content at the rate of execution at its end minus the rate at its
/// start. So one of the fullest windows ends where execution ends, and only such windows are
/// examined. Only the intervals of one window are stored.
#[derive(Debug, Clone)]
pub struct WindowMax {
    window: Duration,
    /// The intervals that the window ending with the last execution overlaps.
    stretches: VecDeque<(Time, Time)>,
    /// The sum of their lengths.
    sum: Duration,
    highest: Duration,
}

impl WindowMax {
    /// Creates an empty record.
    pub const fn new(window: Duration) -> Self {
        Self { window, stretches: VecDeque::new(), sum: Duration::ZERO, highest: Duration::ZERO }
    }

    /// Records execution from `from`, no earlier than the end of the last interval, until `to`.
    pub fn record(&mut self, from: Time, to: Time) {
        self.sum += to - from;
        match self.stretches.back_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.stretches.push_back((from, to)),
        }
        let start = Time::from_ns(to.ns().saturating_sub(self.window.ns()));
        while let Some(&(first, end)) = self.stretches.front().filter(|first| first.1 <= start) {
            self.sum = self.sum - (end - first);
            self.stretches.pop_front();
        }
        let before = self.stretches.front().map_or(Duration::ZERO, |first| start.since(first.0));
        self.highest = self.highest.max(self.sum - before);
    }

    /// Returns the most execution in any window so far.
    pub const fn highest(&self) -> Duration {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the fullest window is found wherever it begins. Method: every window of small random
    /// patterns, tick by tick.
    #[test]
    fn the_fullest_of_all_windows_is_found() {
        let mut random = tidegate_model::Random::new(7, 0);
        for _ in 0..300 {
            let ticks: Vec<bool> = (0..60).map(|_| random.below(3) == 0).collect();
            let window = 1 + random.index(30);
            let plain =
                ticks.windows(window).map(|it| it.iter().filter(|&&is| is).count()).max().unwrap();
            let mut watch = WindowMax::new(Duration::from_ns(window as u64));
            for (tick, _) in (0..).zip(&ticks).filter(|(_, is_busy)| **is_busy) {
                watch.record(Time::from_ns(tick), Time::from_ns(tick + 1));
            }
            assert_eq!(watch.highest().ns(), plain as u64, "{ticks:?} {window}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the tokens per second that best effort achieved recently.

use tidegate_model::{Duration, Time};

/// Counts completions over a sliding window, assuming an even spread over the previous window.
///
/// # Complexity
/// O(1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meter {
    window: Duration,
    began: Time,
    current: u64,
    /// The count of the previous window; `None` in the first.
    before: Option<u64>,
}

impl Meter {
    pub(crate) const fn new(window: Duration) -> Self {
        Self { window, began: Time::ZERO, current: 0, before: None }
    }

    /// Records completions worth `tokens`.
    pub(crate) fn add(&mut self, now: Time, tokens: u64) {
        self.advance(now);
        self.current = self.current.saturating_add(tokens); // beyond every rate
    }

    /// Returns tokens per second, rounded down; `None` if that is 0.
    pub(crate) fn per_s(&mut self, now: Time) -> Option<u64> {
        self.advance(now);
        let elapsed = u128::from(now.since(self.began).ns());
        let window = u128::from(self.window.ns());
        let current = u128::from(self.current);
        let per_s = match self.before {
            None => current * 1_000_000_000 / elapsed.max(1),
            Some(before) => {
                let before = u128::from(before) * (window - elapsed) / window;
                (before + current) * 1_000_000_000 / window
            }
        };
        (per_s > 0).then(|| u64::try_from(per_s).unwrap_or(u64::MAX))
    }

    /// Begins a new window if the old one is over.
    fn advance(&mut self, now: Time) {
        let elapsed = now.since(self.began).ns();
        let windows = elapsed / self.window.ns();
        if windows == 0 {
            return;
        }
        self.before = Some(if windows == 1 { self.current } else { 0 });
        self.current = 0;
        self.began += Duration::from_ns(windows * self.window.ns());
    }
}

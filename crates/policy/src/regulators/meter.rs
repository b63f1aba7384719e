// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How many tokens per second best effort achieved of late.

use tidegate_model::{Duration, Time};

/// Counts what completed over a sliding window: the count of the window before is taken to have
/// come evenly.
///
/// # Complexity
/// O(1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meter {
    window: Duration,
    began: Time,
    current: u64,
    /// What came in the window before; none in the first.
    before: Option<u64>,
}

impl Meter {
    pub(crate) const fn new(window: Duration) -> Self {
        Self { window, began: Time::ZERO, current: 0, before: None }
    }

    /// So many tokens' worth came back.
    pub(crate) fn add(&mut self, now: Time, tokens: u64) {
        self.advance(now);
        self.current = self.current.saturating_add(tokens); // beyond every rate
    }

    /// Tokens per second, rounded down; none where nothing came back at all.
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

    /// Begins a new window where the old one is over.
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

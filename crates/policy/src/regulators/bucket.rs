// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arithmetic of a token bucket, kept separate from the use of its tokens.
//!
//! The level is kept in parts of a token, so small that a nanosecond adds a whole number of them.
//! For r tokens per second, a token has 10^9 parts and a nanosecond adds r. For a contract of e
//! requests per p, a token has p parts and a nanosecond adds e. So nothing is rounded or lost,
//! however often the level is read.
//!
//! Source: the token bucket filter of Wu and Brandt, section 3, figure 1.

use tidegate_model::{Duration, Time};

/// A bucket that fills at a constant rate up to a bound.
///
/// # Bound
/// Between any two instants s <= t, at most `max(full, largest single cost) + gain * (t - s)` parts
/// are taken.
///
/// # Complexity
/// O(1) for every operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// Parts that a nanosecond adds; never zero.
    gain: u64,
    /// The largest number of parts that accumulate while no request waits for more.
    full: u128,
    level: u128,
    /// The instant at which the bucket held `level`.
    at: Time,
}

impl Bucket {
    /// Returns a full bucket, which fills in `burst`.
    pub(crate) fn full(gain: u64, burst: Duration) -> Self {
        let full = capacity(gain, burst);
        Self { gain: gain.max(1), full, level: full, at: Time::ZERO }
    }

    /// Returns a bucket that is empty at `now`.
    pub(crate) fn empty(gain: u64, burst: Duration, now: Time) -> Self {
        Self { level: 0, at: now, ..Self::full(gain, burst) }
    }

    /// Fills the bucket until `now` while a request waits for `wanted` parts; a request that needs
    /// more than `full` may accumulate them.
    pub(crate) fn replenish(&mut self, now: Time, wanted: u128) {
        let gained = u128::from(self.gain) * u128::from(now.since(self.at).ns());
        // Saturation is intended: the bound that is applied next is far smaller.
        self.level = self.level.saturating_add(gained).min(self.full.max(wanted));
        self.at = self.at.max(now);
    }

    /// Returns a bucket with the same level but another rate and bound, from the last replenishment
    /// on.
    pub(crate) fn with_rate(self, gain: u64, burst: Duration) -> Self {
        Self { level: self.level, at: self.at, ..Self::full(gain, burst) }
    }

    /// Returns the parts that a nanosecond adds.
    pub(crate) const fn gain(self) -> u64 {
        self.gain
    }

    /// Empties the bucket.
    pub(crate) fn drain(&mut self, now: Time) {
        self.level = 0;
        self.at = now;
    }

    /// Takes `cost` parts and returns whether there were enough.
    pub(crate) fn take(&mut self, cost: u128) -> bool {
        let left = self.level.checked_sub(cost);
        self.level = left.unwrap_or(self.level);
        left.is_some()
    }

    /// Returns the first instant with `cost` parts in the bucket, if the rate is unchanged and none
    /// are taken; `None` past `Time::MAX`.
    pub(crate) fn ready_at(&self, cost: u128) -> Option<Time> {
        let missing = cost.saturating_sub(self.level); // zero if there are enough
        let wait = u64::try_from(missing.div_ceil(u128::from(self.gain))).ok()?;
        self.at.checked_add(Duration::from_ns(wait))
    }
}

fn capacity(gain: u64, burst: Duration) -> u128 {
    u128::from(gain.max(1)) * u128::from(burst.ns())
}

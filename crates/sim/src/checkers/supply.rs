// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tokens that a rate brings over time, in exact integers. The rate can grow by steps.
//!
//! Tokens are counted in parts: with r tokens per second, a nanosecond brings r parts, and a token
//! consists of 10^9 parts.

use tidegate_model::{Duration, Time};

/// Parts in a token.
pub(super) const PARTS: u128 = 1_000_000_000;

/// The steps by which a rate grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// The instant of the next step.
    pub(super) next: Time,
    /// The time between two steps, above zero.
    pub(super) interval: Duration,
    /// Tokens per second that a step adds.
    pub(super) increase: u64,
}

/// A rate and the tokens that it has brought; see the module documentation.
#[derive(Debug, Default)]
pub(super) struct Supply {
    /// Tokens per second; `None` without a limit.
    pub(super) per_s: Option<u64>,
    pub(super) growth: Option<Growth>,
    /// Parts that came until `at`.
    gained: u128,
    at: Time,
}

impl Supply {
    pub(super) fn of_rate(per_s: Option<u64>) -> Self {
        Self { per_s, ..Self::default() }
    }

    /// Returns the parts that came until `now`, which never decreases.
    ///
    /// # Equation
    /// n steps of i tokens per second, an interval I apart, bring `(n - 1) r I + n (n - 1) / 2 i I`
    /// parts from the first step to the last, with rate r before the first.
    pub(super) fn gained(&mut self, now: Time) -> u128 {
        if let Some(growth) = self.growth.filter(|growth| growth.next <= now) {
            self.fill(growth.next);
            let Growth { next, interval, increase } = growth;
            let (passed, rest_ns) =
                (now.since(next).ns() / interval.ns(), now.since(next).ns() % interval.ns());
            let (full, increase) = (u128::from(passed), u128::from(increase));
            let before = u128::from(self.per_s.unwrap_or(0));
            // Saturation is intended: the largest value exceeds every cost.
            let risen = increase.saturating_mul(full * (full + 1) / 2);
            let parts = before.saturating_mul(full).saturating_add(risen);
            let parts = parts.saturating_mul(u128::from(interval.ns()));
            self.gained = self.gained.saturating_add(parts);
            self.at = Time::from_ns(now.ns() - rest_ns);
            let rate = before.saturating_add(increase.saturating_mul(full + 1));
            // A rate beyond `u64` is no limit.
            self.per_s = self.per_s.and_then(|_| u64::try_from(rate).ok());
            let next = self.at.checked_add(interval).filter(|_| self.per_s.is_some());
            self.growth = next.map(|next| Growth { next, ..growth });
        }
        self.fill(now);
        self.gained
    }

    fn fill(&mut self, now: Time) {
        let elapsed = u128::from(now.since(self.at).ns());
        let parts = u128::from(self.per_s.unwrap_or(0)) * elapsed;
        self.gained = self.gained.saturating_add(parts);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the sum of the steps, taken one by one.
    #[test]
    fn growth_over_many_steps_is_the_sum_of_its_steps() {
        let growing = || Supply {
            per_s: Some(7),
            growth: Some(Growth {
                next: Time::from_ns(10),
                interval: Duration::from_ns(4),
                increase: 3,
            }),
            ..Supply::default()
        };
        let mut by_ns = 0;
        let mut asked_often = growing();
        for ns in 0..200_u64 {
            assert_eq!(growing().gained(Time::from_ns(ns)), by_ns, "{ns}");
            assert_eq!(asked_often.gained(Time::from_ns(ns)), by_ns, "{ns}");
            let steps = if ns < 10 { 0 } else { (ns - 10) / 4 + 1 };
            by_ns += u128::from(7 + 3 * steps);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Represents a line above the demand as a bucket that stealing empties.
//!
//! For whole numbers, `n <= c + ceil(u D)` is the same as `n < c + 1 + u D`: a bucket of just under
//! c + 1 ns that fills at rate u, also while stealing empties it at rate 1.

use tidegate_cpu_model::WHOLE_PPB;
use tidegate_model::{Duration, Time};

/// The longest recovery time: longer than any rest in a run.
const RECOVERY_MAX: Duration = Duration::from_ms(1_000_000);

/// The state of a line. The bucket's content is in billionths of a nanosecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bucket {
    rate: u128,
    full: u128,
    level: u128,
    /// The instant at which `level` was computed.
    at: Time,
}

impl Bucket {
    pub(super) fn new(utilization_ppb: u64, burst: Duration) -> Self {
        let rate = u128::from(utilization_ppb.min(WHOLE_PPB));
        let full = (u128::from(burst.ns()) + 1) * u128::from(WHOLE_PPB) - 1;
        Self { rate, full, level: full, at: Time::ZERO }
    }

    fn level(&self, now: Time) -> u128 {
        self.full.min(self.level + u128::from(now.since(self.at).ns()) * self.rate)
    }

    /// Returns the net amount that one stolen ns removes.
    fn drain(&self) -> u128 {
        u128::from(WHOLE_PPB) - self.rate
    }

    pub(super) fn available(&self, now: Time) -> Duration {
        match self.level(now).checked_div(self.drain()) {
            Some(ns) => u64::try_from(ns).map_or(Duration::MAX, Duration::from_ns),
            // The whole processor can be stolen.
            None => Duration::MAX,
        }
    }

    pub(super) fn take(&mut self, now: Time, stolen: Duration) {
        self.level = self.level(now) - u128::from(stolen.ns()) * self.drain();
        self.at = now + stolen;
    }

    pub(super) fn next(&self, from: Time, grain: Duration) -> Time {
        let drain = self.drain();
        // Waits for a piece as long as the grain, or shorter if even the full bucket allows only
        // less.
        let wanted = self.full.checked_div(drain).map_or(0, |most| most.min(grain.ns().into()));
        let missing = (wanted * drain).saturating_sub(self.level(from));
        if wanted == 0 && drain > 0 {
            return Time::MAX;
        }
        if missing == 0 {
            return from;
        }
        let wait =
            missing.checked_add(self.rate.max(1) - 1).and_then(|it| it.checked_div(self.rate));
        let wait = wait.and_then(|ns| u64::try_from(ns).ok()).map(Duration::from_ns);
        wait.and_then(|wait| from.checked_add(wait)).unwrap_or(Time::MAX)
    }

    pub(super) fn recovery(&self) -> Duration {
        let ns = self.full.div_ceil(self.rate.max(1));
        u64::try_from(ns).map_or(RECOVERY_MAX, Duration::from_ns).min(RECOVERY_MAX)
    }
}

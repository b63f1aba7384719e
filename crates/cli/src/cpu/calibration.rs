// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a thief that is known is measured as theory says (figure 5.8): its bound and what the
//! machine takes without it must cover what is measured with it.

use analysis::cpu::{DemandBound, Ratio, Source};
use measure::cpu::SyntheticThief;
use model::Duration;
use model::cpu::{StolenPoint, running_max};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Calibration {
    pub(super) thief: SyntheticThief,
    /// The machine without the thief.
    pub(super) idle: Vec<StolenPoint>,
    /// With the line above the demand (5.3.0.6).
    pub(super) linear: Coverage,
    /// With the refined bound (5.3.0.5), which a thief that executes alone meets.
    pub(super) refined: Coverage,
}

/// How many points are covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) covered: usize,
    pub(super) all: usize,
    /// By how much the worst point exceeds its bound.
    pub(super) excess_max: Duration,
}

impl Calibration {
    pub(super) fn of(
        thief: SyntheticThief,
        idle: &[StolenPoint],
        measured: &[StolenPoint],
    ) -> Self {
        let idle = running_max(idle);
        let source = Source::new(thief.execution, thief.period);
        let coverage = |bound| {
            let excess = idle.iter().zip(measured).map(|(idle, measured)| {
                let demand = source.demand(bound, measured.interval).and_then(Ratio::ceil);
                let demand = demand.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX);
                let bound = demand.saturating_add(idle.stolen_max.ns());
                Duration::from_ns(measured.stolen_max.ns().saturating_sub(bound))
            });
            let excess: Vec<Duration> = excess.collect();
            Coverage {
                covered: excess.iter().filter(|excess| excess.is_zero()).count(),
                all: excess.len(),
                excess_max: excess.into_iter().max().unwrap_or(Duration::ZERO),
            }
        };
        let (linear, refined) = (coverage(DemandBound::Linear), coverage(DemandBound::Refined));
        Self { thief, idle, linear, refined }
    }
}

impl Coverage {
    /// In a sentence.
    pub(super) fn says(&self) -> String {
        let Self { covered, all, excess_max } = self;
        if covered == all {
            return format!("all {all} points are covered");
        }
        format!("{covered} of {all} points are covered, the worst exceeds it by {excess_max}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(stolen_us: [u64; 2]) -> Vec<StolenPoint> {
        let point = |(ms, us)| StolenPoint {
            interval: Duration::from_ms(ms),
            stolen_max: Duration::from_us(us),
        };
        [1, 10].into_iter().zip(stolen_us).map(point).collect()
    }

    #[test]
    fn what_exceeds_both_together_is_found() {
        let ms = Duration::from_ms;
        let thief = SyntheticThief { execution: ms(2), period: ms(10) };
        let found = |measured| Calibration::of(thief, &points([100, 50]), &points(measured));
        // In 10 ms: 2 by the refined bound, 3.6 by the line; 0.1 without the thief.
        assert_eq!(found([1_000, 2_100]).refined.covered, 2);
        let above = found([1_000, 2_101]);
        assert_eq!((above.refined.covered, above.refined.excess_max), (1, Duration::from_us(1)));
        assert_eq!((above.linear.covered, found([1_000, 3_701]).linear.covered), (2, 1));
    }
}

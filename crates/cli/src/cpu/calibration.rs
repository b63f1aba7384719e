// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a thief that is known is measured as theory says (figure 5.8): its bound and what the
//! machine takes without it must cover what is measured with it.

use analysis::cpu::{DemandBound, Ratio, Source};
use measure::cpu::SyntheticThief;
use model::Duration;
use model::cpu::{CpuProfile, StolenPoint, running_max};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Calibration {
    pub(super) thief: SyntheticThief,
    /// The machine without the thief.
    pub(super) idle: Vec<StolenPoint>,
    /// With the line above the demand (5.3.0.6) and the line of the machine without it: one bound and
    /// the other.
    pub(super) lines: Coverage,
    /// With the line above the demand (5.3.0.6) and no more than was measured without it.
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
        without: &CpuProfile,
        measured: &[StolenPoint],
    ) -> Self {
        let idle = running_max(&without.points);
        let source = Source::new(thief.execution, thief.period);
        let line = |idle: &StolenPoint| {
            without.demand_fit.and_then(|fit| fit.demand_ns(idle.interval.ns()))
        };
        let coverage = |bound, idle_ns: &dyn Fn(&StolenPoint) -> u64| {
            let excess = idle.iter().zip(measured).map(|(idle, measured)| {
                let demand = source.demand(bound, measured.interval).and_then(Ratio::ceil);
                let demand = demand.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX);
                let bound = demand.saturating_add(idle_ns(idle));
                Duration::from_ns(measured.stolen_max.ns().saturating_sub(bound))
            });
            let excess: Vec<Duration> = excess.collect();
            Coverage {
                covered: excess.iter().filter(|excess| excess.is_zero()).count(),
                all: excess.len(),
                excess_max: excess.into_iter().max().unwrap_or(Duration::ZERO),
            }
        };
        let as_measured = |idle: &StolenPoint| idle.stolen_max.ns();
        Self {
            thief,
            lines: coverage(DemandBound::Linear, &|idle| line(idle).unwrap_or(as_measured(idle))),
            linear: coverage(DemandBound::Linear, &as_measured),
            refined: coverage(DemandBound::Refined, &as_measured),
            idle,
        }
    }

    /// Whether both bounds together cover all that was measured: figure 5.8.
    pub(super) fn is_covered(&self) -> bool {
        self.lines.covered == self.lines.all
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
    use model::cpu::DemandFit;

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
        let without = CpuProfile {
            name: "idle".to_owned(),
            conditions: model::cpu::CpuConditions::default(),
            points: points([100, 50]),
            demand_fit: Some(DemandFit { utilization_ppb: 10_000_000, offset_ns: 100_000 }),
            load_fit: None,
        };
        let found = |measured| Calibration::of(thief, &without, &points(measured));
        // In 10 ms: 2 by the refined bound, 3.6 by the line; 0.1 without the thief.
        assert_eq!(found([1_000, 2_100]).refined.covered, 2);
        let above = found([1_000, 2_101]);
        assert_eq!((above.refined.covered, above.refined.excess_max), (1, Duration::from_us(1)));
        assert_eq!((above.linear.covered, found([1_000, 3_701]).linear.covered), (2, 1));
        // The line says 0.2 in 10 ms without the thief.
        assert!(found([1_000, 3_800]).is_covered() && !found([1_000, 3_801]).is_covered());
    }
}

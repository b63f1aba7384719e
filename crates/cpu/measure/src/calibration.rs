// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks that a synthetic load is measured as theory predicts (figure 5.8): the load's bound plus
//! the time that the machine takes without the load must cover the time that is measured with it.

use std::thread;

use tidegate_cpu_analysis::{DemandBound, Ratio, Source};
use tidegate_cpu_model::{CpuProfile, StolenPoint, running_max};
use tidegate_model::Duration;
use tidegate_platform::{Scheduling, privileges};

use crate::measurement::{CpuMeasurement, CpuProfileEnd, CpuProfileParams};
use crate::synthetic_load::SyntheticLoad;

/// The result of a calibration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    /// The synthetic load.
    pub thief: SyntheticLoad,
    /// Whether the load's priority was above the measuring thread's. Only then did the load take
    /// its full time.
    pub is_above: bool,
    /// The time that the machine took without the synthetic load.
    pub idle: Vec<StolenPoint>,
    /// The coverage by the sum of two lines: the line above the load's demand (5.3.0.6), and the
    /// machine's line without the synthetic load.
    pub lines: Coverage,
    /// The coverage by the line above the load's demand (5.3.0.6) plus the time measured without
    /// the load.
    pub linear: Coverage,
    /// The coverage by the load's refined bound (5.3.0.5), which a load that executes alone
    /// attains, plus the time measured without the load.
    pub refined: Coverage,
}

/// How many points of a measurement a bound covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// The number of points that do not exceed their bound.
    pub covered: usize,
    /// The number of all points.
    pub all: usize,
    /// The number of points whose bound is at least the whole interval, so that no measurement
    /// could exceed it.
    pub by_any: usize,
    /// By how much the worst point exceeds its bound.
    pub excess_max: Duration,
}

/// Measures with these parameters. If they have a synthetic load, `measure` is first called without
/// it, unless a baseline is given, and the two measurements are compared. If the first measurement
/// is interrupted, its result is returned alone.
///
/// # Errors
/// If a measurement fails.
pub fn calibrated<E>(
    params: &CpuProfileParams,
    baseline: Option<CpuProfile>,
    mut measure: impl FnMut(&CpuProfileParams) -> Result<CpuMeasurement, E>,
) -> Result<(CpuMeasurement, Option<Calibration>), E> {
    let Some(thief) = params.synthetic_load else { return Ok((measure(params)?, None)) };
    let without = if let Some(known) = baseline {
        known
    } else {
        let without = CpuProfileParams { synthetic_load: None, ..params.clone() };
        let mut idle = measure(&without)?;
        if idle.end == CpuProfileEnd::Cancelled {
            let warning =
                "interrupted before the synthetic load began: this is the machine without it";
            idle.warnings.push(warning.to_owned());
            return Ok((idle, None));
        }
        idle.profile
    };
    let mut measured = measure(params)?;
    let (there, here) = (&without.conditions.place, &measured.profile.conditions.place);
    if there != here {
        let there = there.as_deref().unwrap_or("an unnamed machine");
        measured
            .warnings
            .push(format!("the baseline was measured on {there}, not on this machine"));
    }
    let calibration = Calibration::of(thief, &without, &measured);
    Ok((measured, Some(calibration)))
}

/// Refuses a profile as the baseline (the machine without the synthetic load) if it was not
/// measured in the same way.
///
/// # Errors
/// If the profile differs from the parameters in a way that makes the two incomparable.
pub fn check_baseline(
    profile: &CpuProfile,
    params: &CpuProfileParams,
) -> Result<(), OtherQuestion> {
    match other_question(profile, params, granted(params.priority)) {
        None => Ok(()),
        Some((what, help)) => Err(OtherQuestion { what, help }),
    }
}

/// A difference between two measurements that makes them incomparable, with advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct OtherQuestion {
    what: String,
    /// The advice to the user.
    pub help: String,
}

/// Returns the priority that a thread of this process gets; `None` if permission is denied.
fn granted(wanted: Option<u8>) -> Option<u32> {
    let is_granted = |priority| {
        // The thread ends right after this, and no other thread gets the priority.
        let asked = thread::spawn(move || Scheduling::fifo(priority).apply(None));
        asked.join().is_ok_and(|answer| answer.is_ok())
    };
    wanted.filter(|&priority| is_granted(priority)).map(u32::from)
}

/// Returns how the profile's measurement differs from this one, and how to make the two the same.
/// `granted` is the priority of this measurement.
fn other_question(
    profile: &CpuProfile,
    params: &CpuProfileParams,
    granted: Option<u32>,
) -> Option<(String, String)> {
    let (cpu, priority) = (profile.conditions.cpu, profile.conditions.priority);
    if cpu != params.cpu {
        return Some((format!("it was measured on processor {cpu}"), format!("write --cpu {cpu}")));
    }
    if priority != granted {
        return Some(other_priority(priority, granted));
    }
    if let Some(thief) = &profile.conditions.thief {
        let what = format!("it was measured with a thief of {thief} and contains its time");
        return Some((what, "measure the machine as it is, without --thief".to_owned()));
    }
    if profile.demand_fit.is_none() {
        let what = "it has no [fit.demand], the line that is compared";
        let again = "measure it again with `tidegate cpu profile -o NEW.cpu.toml`";
        return Some((what.to_owned(), again.to_owned()));
    }
    let lengths = params.intervals.lengths().unwrap_or_default();
    if lengths.into_iter().eq(profile.points.iter().map(|point| point.interval)) {
        return None;
    }
    let (count, longest) = (profile.points.len(), profile.points.last()?.interval);
    let what = format!("it has {count} interval lengths up to {longest}");
    Some((what, format!("write --lengths {count} --longest {longest}")))
}

/// Returns why a baseline at another priority is refused, and what to do. A less urgent thread
/// loses more time, so the two measurements cannot be compared.
fn other_priority(of_baseline: Option<u32>, granted: Option<u32>) -> (String, String) {
    match (of_baseline, granted) {
        (None, _) => (
            "it was measured without a real-time priority, and this measurement has one".to_owned(),
            "measure it again, with the same permission and --priority".to_owned(),
        ),
        (Some(other), None) => (
            format!("it was measured at priority {other}, and this process is granted none"),
            privileges::advice("run as root, or raise `ulimit -r`").to_owned(),
        ),
        (Some(other), Some(_)) => {
            (format!("it was measured at priority {other}"), format!("write --priority {other}"))
        }
    }
}

impl Calibration {
    /// Compares the measurement with the synthetic load to the sum of the load's bounds and the
    /// measurement without it.
    pub fn of(thief: SyntheticLoad, without: &CpuProfile, measured: &CpuMeasurement) -> Self {
        let above = measured.synthetic_load.and_then(|it| it.priority).map(u32::from);
        let is_above = above > measured.profile.conditions.priority;
        Self::of_points(thief, without, &measured.profile.points, is_above)
    }

    fn of_points(
        thief: SyntheticLoad,
        without: &CpuProfile,
        measured: &[StolenPoint],
        is_above: bool,
    ) -> Self {
        let idle = running_max(&without.points);
        let source = Source::new(thief.execution, thief.period);
        let line = |idle: &StolenPoint| {
            without.demand_fit.and_then(|fit| fit.demand_ns(idle.interval.ns()))
        };
        let coverage = |bound, idle_ns: &dyn Fn(&StolenPoint) -> u64| {
            let bound_ns = |idle: &StolenPoint| {
                let demand = source.demand(bound, idle.interval).and_then(Ratio::ceil);
                let demand = demand.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX);
                demand.saturating_add(idle_ns(idle))
            };
            let excess = idle.iter().zip(measured).map(|(idle, measured)| {
                Duration::from_ns(measured.stolen_max.ns().saturating_sub(bound_ns(idle)))
            });
            let excess: Vec<Duration> = excess.collect();
            Coverage {
                covered: excess.iter().filter(|excess| excess.is_zero()).count(),
                all: excess.len(),
                by_any: idle.iter().filter(|idle| bound_ns(idle) >= idle.interval.ns()).count(),
                excess_max: excess.into_iter().max().unwrap_or(Duration::ZERO),
            }
        };
        let as_measured = |idle: &StolenPoint| idle.stolen_max.ns();
        Self {
            thief,
            is_above,
            lines: coverage(DemandBound::Linear, &|idle| line(idle).unwrap_or(as_measured(idle))),
            linear: coverage(DemandBound::Linear, &as_measured),
            refined: coverage(DemandBound::Refined, &as_measured),
            idle,
        }
    }

    /// Returns whether the load had a higher priority than the measuring thread, and the sum of
    /// both lines covers every measured point (figure 5.8), where at least one point could have
    /// exceeded that sum.
    pub fn is_covered(&self) -> bool {
        self.is_above && self.lines.covered == self.lines.all && self.lines.by_any < self.lines.all
    }

    /// Returns a sentence about the points that both lines together cover.
    pub fn says(&self) -> String {
        if self.is_above {
            self.lines.says()
        } else {
            "says nothing: no thread was above the other".to_owned()
        }
    }
}

impl Coverage {
    /// Returns a sentence about the coverage.
    pub fn says(&self) -> String {
        let Self { covered, all, by_any, excess_max } = self;
        if covered < all {
            return format!(
                "{covered} of {all} points are covered, the worst exceeds it by {excess_max}"
            );
        }
        if by_any == all {
            return "it is the whole of every interval, which says nothing; a longer --longest might"
                .to_owned();
        }
        format!("all {all} points are covered, {by_any} because it is the whole interval")
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::IntervalRange;
    use tidegate_cpu_model::DemandFit;

    use super::*;

    fn points(stolen_us: [u64; 2]) -> Vec<StolenPoint> {
        let point = |(ms, us)| StolenPoint {
            interval: Duration::from_ms(ms),
            stolen_max: Duration::from_us(us),
        };
        [1, 10].into_iter().zip(stolen_us).map(point).collect()
    }

    fn idle() -> CpuProfile {
        CpuProfile {
            name: "idle".to_owned(),
            conditions: tidegate_cpu_model::CpuConditions::default(),
            points: points([100, 50]),
            demand_fit: Some(DemandFit { utilization_ppb: 10_000_000, offset_ns: 100_000 }),
            load_fit: None,
        }
    }

    #[test]
    fn what_exceeds_both_together_is_found() {
        let ms = Duration::from_ms;
        let thief = SyntheticLoad { execution: ms(2), period: ms(10) };
        let without = idle();
        let found = |measured| Calibration::of_points(thief, &without, &points(measured), true);
        // In 10 ms, the refined bound is 2 ms and the line 3.6 ms; without the load 0.1 ms is
        // stolen.
        assert_eq!(found([1_000, 2_100]).refined.covered, 2);
        let above = found([1_000, 2_101]);
        assert_eq!((above.refined.covered, above.refined.excess_max), (1, Duration::from_us(1)));
        assert_eq!((above.linear.covered, found([1_000, 3_701]).linear.covered), (2, 1));
        // In 1 ms both bounds are 1 ms plus 0.1 ms, which no measurement can exceed.
        assert_eq!((above.linear.by_any, above.refined.by_any), (1, 1));
        // The line without the load allows 0.2 ms in 10 ms.
        assert!(found([1_000, 3_800]).is_covered() && !found([1_000, 3_801]).is_covered());
    }

    #[test]
    fn a_bound_that_nothing_can_exceed_covers_nothing() {
        let ms = Duration::from_ms;
        let thief = SyntheticLoad { execution: ms(2), period: ms(10) };
        let without = CpuProfile {
            demand_fit: Some(DemandFit { utilization_ppb: 1_000_000_000, offset_ns: 0 }),
            ..idle()
        };
        let found = Calibration::of_points(thief, &without, &points([1_000, 10_000]), true);
        assert!(!found.is_covered() && found.lines.says().contains("says nothing"));
    }

    /// Goal: if the load's priority is not above the measuring thread's, the load may not get its
    /// full time, and coverage proves nothing.
    #[test]
    fn without_a_thread_above_nothing_is_covered() {
        let ms = Duration::from_ms;
        let thief = SyntheticLoad { execution: ms(2), period: ms(10) };
        let of = |is_above| Calibration::of_points(thief, &idle(), &points([10, 100]), is_above);
        assert!(of(true).is_covered() && !of(false).is_covered());
        assert_eq!(of(false).says(), "says nothing: no thread was above the other");
    }

    /// Goal: a baseline is accepted only if it has the measurement's priority and a line, and was
    /// measured without a synthetic load.
    #[test]
    fn a_baseline_has_the_priority_of_the_measurement_and_a_line() {
        let intervals = IntervalRange { longest: Duration::from_ms(10), count: 1 };
        let params = CpuProfileParams {
            name: "cpu".to_owned(),
            cpu: 0,
            priority: Some(40),
            intervals,
            trials: 1,
            time_limit: None,
            seed: 1,
            synthetic_load: None,
            keep_every: Duration::MAX,
        };
        let of = |priority| {
            let mut profile = CpuProfile { points: points([100, 50])[1..].to_vec(), ..idle() };
            profile.conditions.priority = priority;
            profile
        };
        let fault = |baseline: &CpuProfile, granted| {
            other_question(baseline, &params, granted).map_or(String::new(), |(what, _)| what)
        };
        assert_eq!(fault(&of(Some(40)), Some(40)), "");
        assert_eq!(fault(&of(None), None), "");
        assert!(fault(&of(None), Some(40)).contains("without a real-time priority"));
        assert!(fault(&of(Some(40)), None).contains("is granted none"));
        assert!(fault(&of(Some(39)), Some(40)).contains("at priority 39"));
        let without_line = CpuProfile { demand_fit: None, ..of(Some(40)) };
        assert!(fault(&without_line, Some(40)).contains("no [fit.demand]"));
        let mut with_thief = of(Some(40));
        with_thief.conditions.thief = Some("1ms/10ms".to_owned());
        assert!(fault(&with_thief, Some(40)).contains("with a thief of 1ms/10ms"));
    }
}

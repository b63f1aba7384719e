// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fits bounds to measured points: a line above the demand, a hyperbola above the load.
//!
//! Both are exact in integers, and never below a point or below what can have been stolen in an
//! interval between two points ([`corners`]), so a profile with them is accepted. Neither proves
//! anything beyond the measurement: the line depends on the slope of the hull, the hyperbola on the
//! last point. The longest interval must be much longer than the period of the interfering task.

use tidegate_cpu_model::{DemandFit, LoadFit, StolenPoint, WHOLE_PPB, corners, running_max};
use tidegate_model::Duration;

/// A fit as a sporadic task: its execution time and its period. `None` if nothing or everything is
/// stolen in the long run.
pub type FittedTask = Option<(Duration, Duration)>;

/// Returns the best line above all points and above everything that is possible between them.
///
/// # Bound
/// Each stolen time is first raised to the longest of all shorter intervals (Theorem 5.4.1). The
/// line is an edge of the corners' upper hull, which begins at length 0: the edge with the least
/// sum of `min(D, c + u D)` over the measured lengths D and, among equals, the least slope. The
/// slope is rounded up, at most to 1. The sum is concave in (c, u), so no line that touches the
/// hull at only one corner is better than both edges there. The edge within the last step is
/// excluded, unless all others have slope 1. That edge is flat only because no longer length was
/// measured, and would claim that nothing is stolen in the long run.
///
/// # Source
/// Dissertation, 5.4, steps 1 and 2. **Deviations:** the text takes the least sum of vertical
/// distances to `c + u D`, which selects the edge over the mean of the lengths. But no interval
/// loses more than its length, and the resulting bound is `min(D, c + u D)`. By the text's rule,
/// one gap as long as the mean gives a slope of 1, which is a useless bound. The text calls the
/// line a lower bound on demand; it is an upper bound on the measurement. The text's line touches
/// points, but more can have been stolen between two points than it allows.
///
/// # Panics
/// If there is no point.
///
/// # Complexity
/// O(edges x lengths).
pub fn demand_fit(points: &[StolenPoint]) -> DemandFit {
    let points = running_max(points);
    let corners = corners(&points);
    let hull = upper_hull(&corners);
    let last_step = points.iter().rev().nth(1).map_or(Duration::ZERO, |point| point.interval);
    let lines =
        hull.windows(2).map(|edge| (edge[0].interval, line_over(edge[0], edge[1], &corners)));
    let sum = |fit: &DemandFit| -> u128 {
        let bound = |ns: u64| fit.demand_ns(ns).unwrap_or(u64::MAX).min(ns);
        points.iter().map(|point| u128::from(bound(point.interval.ns()))).sum()
    };
    let rank = |&(begin, fit): &(Duration, DemandFit)| {
        let says_little = begin >= last_step || fit.utilization_ppb == WHOLE_PPB;
        (says_little, sum(&fit), fit.utilization_ppb)
    };
    lines.min_by_key(rank).expect("the hull has an edge").1
}

/// Returns the line with this edge's slope, rounded up, that lies above all corners.
fn line_over(from: StolenPoint, to: StolenPoint, corners: &[StolenPoint]) -> DemandFit {
    let rise = u128::from((to.stolen_max - from.stolen_max).ns());
    let run = u128::from((to.interval - from.interval).ns());
    let slope = (rise * u128::from(WHOLE_PPB)).div_ceil(run);
    let utilization_ppb = u64::try_from(slope).unwrap_or(u64::MAX).min(WHOLE_PPB);
    let level = DemandFit { utilization_ppb, offset_ns: 0 };
    let above = |point: &StolenPoint| {
        let line = level.demand_ns(point.interval.ns()).unwrap_or(u64::MAX);
        point.stolen_max.ns().saturating_sub(line)
    };
    DemandFit { offset_ns: corners.iter().map(above).max().unwrap_or(0), ..level }
}

/// Returns the corner points of the least concave curve above all points and the origin.
fn upper_hull(points: &[StolenPoint]) -> Vec<StolenPoint> {
    let origin = StolenPoint { interval: Duration::ZERO, stolen_max: Duration::ZERO };
    let mut hull: Vec<StolenPoint> = vec![origin];
    for &point in points {
        while let [.., first, second] = hull[..] {
            if is_above(first, second, point) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// Returns whether the second point is above the line from the first to the third. Stolen times
/// never decrease from point to point.
fn is_above(first: StolenPoint, second: StolenPoint, third: StolenPoint) -> bool {
    let part = |from: StolenPoint, to: StolenPoint| {
        let [rise, run] = [to.stolen_max - from.stolen_max, to.interval - from.interval];
        [rise, run].map(|part| u128::from(part.ns()))
    };
    let [rise, run] = part(first, second);
    let [rise_all, run_all] = part(first, third);
    rise * run_all > rise_all * run
}

/// Returns the hyperbola above all loads.
///
/// # Bound
/// Each load is first raised to the highest load of any longer interval, because the hyperbola
/// falls. Then u is the last load, and p is the least period such that `u (1 + p (1 - u) / D)` is
/// at least the load at each corner's length D.
///
/// # Source
/// Dissertation, 5.4. **Corrections:** the fitted inequality is 5.3.0.9, where the text names
/// 5.3.0.8; demand is raised first, and corners replace points, as for the line. If the longest
/// interval is not a multiple of the interfering task's period, u is slightly too large and p
/// slightly too small.
///
/// # Panics
/// If there is no point.
pub fn load_fit(points: &[StolenPoint]) -> LoadFit {
    let points = running_max(points);
    let utilization_ppb = points.last().expect("at least one point").load_ppb().min(WHOLE_PPB);
    let (u, whole) = (u128::from(utilization_ppb), u128::from(WHOLE_PPB));
    if u == 0 || u == whole {
        return LoadFit { utilization_ppb, period_ns: 0 };
    }
    let mut highest = utilization_ppb;
    let periods = corners(&points).into_iter().rev().map(|point| {
        highest = highest.max(point.load_ppb());
        let above = u128::from(highest - utilization_ppb) * u128::from(point.interval.ns());
        (above * whole).div_ceil(u * (whole - u))
    });
    let period_ns = u64::try_from(periods.max().unwrap_or(0)).unwrap_or(u64::MAX);
    LoadFit { utilization_ppb, period_ns }
}

/// Returns the task equivalent to a line above the demand (5.3.0.6): e = c / (1 - u), p = e / u.
pub fn task_of_demand(fit: DemandFit) -> FittedTask {
    let (u, whole) = (u128::from(fit.utilization_ppb), u128::from(WHOLE_PPB));
    if u == 0 || u >= whole {
        return None;
    }
    let execution = (u128::from(fit.offset_ns) * whole).div_ceil(whole - u);
    let period = execution * whole / u;
    both(execution, period)
}

/// Returns the task equivalent to a hyperbola above the load (5.3.0.9): e = u p.
pub fn task_of_load(fit: LoadFit) -> FittedTask {
    let (u, whole) = (u128::from(fit.utilization_ppb), u128::from(WHOLE_PPB));
    if u == 0 || u >= whole {
        return None;
    }
    let period = u128::from(fit.period_ns);
    both((period * u).div_ceil(whole), period)
}

fn both(execution: u128, period: u128) -> FittedTask {
    let ns = |value: u128| u64::try_from(value).ok().map(Duration::from_ns);
    ns(execution).zip(ns(period))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidegate_cpu_model::{CpuConditions, CpuProfile};
    use tidegate_model::Time;

    use super::super::tally::Tally;
    use super::super::trace::{Gap, Trace};
    use super::*;
    use tidegate_stats::float;

    const MS: u64 = 1_000_000;

    fn points(of: &[(u64, u64)]) -> Vec<StolenPoint> {
        let point = |&(interval, stolen): &(u64, u64)| StolenPoint {
            interval: Duration::from_ns(interval),
            stolen_max: Duration::from_ns(stolen),
        };
        of.iter().map(point).collect()
    }

    /// Returns the points of a task that takes e in every p, in intervals of 1 to `longest` ms.
    fn of_task(execution_ms: u64, period_ms: u64, longest_ms: u64) -> Vec<StolenPoint> {
        let mut trace = Trace::with_room(1 << 10);
        trace.restart(Time::ZERO);
        for job in 0..3 * longest_ms / period_ms {
            let begin = Time::from_ns((job * period_ms + 1) * MS + 77);
            trace.push(Gap { begin, end: begin + Duration::from_ms(execution_ms) });
        }
        trace.finish(Time::from_ns(3 * longest_ms * MS));
        let lengths: Vec<_> = (1..=longest_ms).map(Duration::from_ms).collect();
        let mut tally = Tally::new(&lengths);
        tally.add(&trace);
        tally.points().to_vec()
    }

    fn profile(points: Vec<StolenPoint>) -> CpuProfile {
        CpuProfile {
            name: "p".to_owned(),
            conditions: CpuConditions::default(),
            demand_fit: Some(demand_fit(&points)),
            load_fit: Some(load_fit(&points)),
            points,
        }
    }

    /// Both fits recover e = 2, p = 10. The hyperbola is biased if the longest interval is not a
    /// multiple of the period.
    #[test]
    fn both_fits_recover_a_known_task() {
        let ms = Duration::from_ms;
        let even = of_task(2, 10, 50);
        // Loads are rounded up to parts per billion, which can change a period by a ns or two.
        let is_recovered = |found: FittedTask| {
            let (execution, period) = found.unwrap();
            let is_close = |it: Duration, known: Duration| it.ns().abs_diff(known.ns()) <= 2;
            is_close(execution, ms(2)) && is_close(period, ms(10))
        };
        assert!(is_recovered(task_of_demand(demand_fit(&even))));
        assert!(is_recovered(task_of_load(load_fit(&even))));
        let odd = of_task(2, 10, 99);
        assert!(is_recovered(task_of_demand(demand_fit(&odd))));
        let (_, period) = task_of_load(load_fit(&odd)).unwrap();
        assert!((ms(9)..ms(10)).contains(&period), "{period}");
    }

    #[test]
    fn the_line_is_the_edge_of_the_hull_whose_bound_is_least() {
        // Corners (1,1) (4,3) (9,4) (10,4), edges of 1, 2/3, 1/5: their bounds sum to 25, 19, 14.
        let found = demand_fit(&points(&[(1, 1), (2, 1), (4, 3), (8, 3), (10, 4)]));
        assert_eq!(found.utilization_ppb, 200_000_000);
        // The line must reach 3 at length 4, so c = 3 - 4/5, rounded down because demand is rounded
        // up.
        assert_eq!(found.offset_ns, 2);
    }

    /// A task of 2.2 ms in every 10 ms, measured every half millisecond: it can take all of an
    /// interval of 2.2 ms.
    #[test]
    fn the_line_covers_lengths_between_the_measured_ones() {
        let takes = |us: u64| us / 10_000 * 2_200 + (us % 10_000).min(2_200);
        let of: Vec<_> = (1..=100).map(|at| (at * 500_000, takes(at * 500) * 1_000)).collect();
        let found = demand_fit(&points(&of));
        assert!(found.demand_ns(2_200_000).unwrap() >= 2_200_000, "{found:?}");
        assert!(found.demand_ns(2_199_000).unwrap() < 2_200_000, "no more than needed: {found:?}");
    }

    /// Goal: a single event does not determine the slope. Method: one gap of 30 ms beside a task of
    /// 0.1 ms in every 10 ms, in intervals of up to 50 ms. The dissertation's rule would select the
    /// edge over the mean length, 25 ms, whose slope is 1.
    #[test]
    fn one_long_gap_is_no_slope() {
        let light = |us: u64| (us / 10_000 + 1) * 100;
        let takes = |us: u64| us.min(30_000 + light(us.saturating_sub(30_000)));
        let of: Vec<_> = (1..=100).map(|at| (at * 500_000, takes(at * 500) * 1_000)).collect();
        let found = demand_fit(&points(&of));
        assert!(found.utilization_ppb < WHOLE_PPB / 20, "{found:?}");
        assert!(found.demand_ns(60_000_000).unwrap() < 31_000_000, "{found:?}");
        // If every interval is lost entirely, there is no other line.
        let all: Vec<_> = (1..=100).map(|at| (at * 500_000, at * 500_000)).collect();
        let all = demand_fit(&points(&all));
        assert_eq!(all, DemandFit { utilization_ppb: WHOLE_PPB, offset_ns: 0 });
    }

    /// Goal: the slope is right for a task of 8 ms in every 10 ms that is measured for no longer
    /// than its period. The idle time at the end does not determine the long run.
    #[test]
    fn a_last_step_that_is_level_is_not_the_long_run() {
        let takes = |us: u64| us.min(8_000 + us.saturating_sub(8_000) / 20);
        let of: Vec<_> = (1..=10).map(|ms| (ms * MS, takes(ms * 1_000) * 1_000)).collect();
        let found = demand_fit(&points(&of));
        assert!((1..WHOLE_PPB).contains(&found.utilization_ppb), "{found:?}");
    }

    #[test]
    fn extremes_have_fits() {
        for of in
            [&[(5, 0)][..], &[(5, 5)], &[(1, 0), (2, 2)], &[(1, 1), (9, 9)], &[(1, 0), (2, 0)]]
        {
            let text = profile(points(of)).to_toml();
            assert!(CpuProfile::parse(&text).is_ok(), "{text}");
        }
        assert_eq!(task_of_demand(demand_fit(&points(&[(1, 0), (2, 0)]))), None);
        assert_eq!(task_of_load(load_fit(&points(&[(1, 1), (9, 9)]))), None);
    }

    fn any_points() -> impl Strategy<Value = Vec<StolenPoint>> {
        let step = (1_u64..50_000_000, 0_u64..=1_000);
        prop::collection::vec(step, 1..40).prop_map(|steps| {
            let mut at = 0;
            let point = |(step, share): (u64, u64)| {
                at += step;
                (at, at * share / 1_000)
            };
            points(&steps.into_iter().map(point).collect::<Vec<_>>())
        })
    }

    proptest! {
        /// Goal: windows of *any* length are covered, including lengths between the measured ones.
        #[test]
        fn no_window_of_any_length_exceeds_a_fit(
            pieces in prop::collection::vec((0_u64..90, 1_u64..60), 1..24),
            step in 1_u64..80, count in 1_u64..12,
        ) {
            let (mut trace, mut at) = (Trace::with_room(32), 0);
            trace.restart(Time::ZERO);
            for (own, stolen) in pieces {
                let begin = Time::from_ns(at + own);
                trace.push(Gap { begin, end: begin + Duration::from_ns(stolen) });
                at += own + stolen;
            }
            trace.finish(Time::from_ns(at.max(step)));
            let lengths: Vec<_> = (1..=count).map(|it| Duration::from_ns(it * step)).collect();
            let mut tally = Tally::new(&lengths);
            tally.add(&trace);
            let (line, load) = (demand_fit(tally.points()), load_fit(tally.points()));
            for ns in 1..=tally.points().last().unwrap().interval.ns() {
                let stolen = trace.stolen_max(Duration::from_ns(ns)).unwrap().ns();
                for fit in [line, load.to_demand()] {
                    let bound = fit.demand_ns(ns).unwrap().min(ns);
                    prop_assert!(bound >= stolen, "{} in {}: {:?}", stolen, ns, fit);
                }
            }
        }

        /// The reader refuses fits below a point, so it must accept all fits made here.
        #[test]
        fn no_fit_is_below_a_point(points in any_points()) {
            let text = profile(points).to_toml();
            prop_assert!(CpuProfile::parse(&text).is_ok(), "{}", text);
        }

        /// No line through two corners that is above every corner gives a lower bound than the
        /// fitted line.
        #[test]
        fn no_line_bounds_better(points in any_points()) {
            let raised = running_max(&points);
            let xs: Vec<f64> = raised.iter().map(|point| float::of(point.interval.ns())).collect();
            let sum = |slope: f64, offset: f64| -> f64 {
                xs.iter().map(|x| (slope * x + offset).min(*x)).sum()
            };
            let fit = demand_fit(&points);
            let found = sum(float::of(fit.utilization_ppb) / 1e9, float::of(fit.offset_ns));
            let corner = |it: &StolenPoint| (float::of(it.interval.ns()), float::of(it.stolen_max.ns()));
            let corners: Vec<(f64, f64)> =
                [(0.0, 0.0)].into_iter().chain(corners(&raised).iter().map(corner)).collect();
            for (index, first) in corners.iter().enumerate() {
                for second in corners[index + 1..].iter().filter(|second| second.0 > first.0) {
                    let slope = (second.1 - first.1) / (second.0 - first.0);
                    let offset = first.1 - slope * first.0;
                    let is_above = corners.iter().all(|(x, y)| slope * x + offset >= y - 1e-3);
                    // Edges in the last step or of slope 1 are chosen only if there is no other.
                    let is_inside = xs.len() > 1 && first.0 < xs[xs.len() - 2] && slope < 1.0 - 1e-8;
                    if is_above && offset >= 0.0 && is_inside {
                        // Allow for rounding: a slope larger by 1 ppb, and an offset larger by some
                        // ns.
                        let rounding = (xs.last().unwrap() / 1e9 + 3.0) * float::of_length(xs.len());
                        prop_assert!(found <= sum(slope, offset) + rounding);
                    }
                }
            }
        }
    }
}

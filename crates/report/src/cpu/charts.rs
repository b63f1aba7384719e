// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charts of a processor profile: demand with its fitted line, load with its fitted hyperbola.

use tidegate_cpu_model::{CpuProfile, DemandFit, LoadFit, StolenPoint, WHOLE_PPB};

use crate::plot::Chart;
use crate::plot::axis::{Axis, Unit};

const MS: Unit = ("ms", 1_000_000);
/// The unit percent; values are in parts per billion.
const PERCENT: Unit = ("%", 10_000_000);

/// The number of interval lengths at which a bound is drawn.
const CURVE: u64 = 400;

/// Returns the charts of demand and load.
pub(super) fn of(profile: &CpuProfile) -> Vec<Chart> {
    vec![demand(profile), load(profile)]
}

fn longest_ns(profile: &CpuProfile) -> u64 {
    profile.points.last().map_or(1, |point| point.interval.ns())
}

/// Returns interval lengths from near 0 to the longest.
fn lengths(profile: &CpuProfile) -> impl Iterator<Item = u64> {
    let longest = longest_ns(profile);
    (1..=CURVE).map(move |index| (longest / CURVE * index).max(1))
}

fn demand(profile: &CpuProfile) -> Chart {
    let points: Vec<_> =
        profile.points.iter().map(|point| (point.interval.ns(), point.stolen_max.ns())).collect();
    let at = |fit: DemandFit, ns: u64| (ns, fit.demand_ns(ns).unwrap_or(u64::MAX).min(ns));
    let curve: Vec<_> = profile
        .demand_fit
        .iter()
        .flat_map(|&fit| lengths(profile).map(move |ns| at(fit, ns)))
        .collect();
    let highest = curve.iter().chain(&points).map(|point| point.1).max().unwrap_or(0);
    let title = "Demand: the most time taken in an interval, and its upper line".to_owned();
    let x = Axis::ending_at(longest_ns(profile), "interval", MS);
    let y = Axis::reaching(highest, "stolen", MS);
    Chart { points, ..Chart::of_curve(title, x, y, curve) }
}

fn load(profile: &CpuProfile) -> Chart {
    let load = |point: &StolenPoint| (point.interval.ns(), point.load_ppb());
    let at = |fit: LoadFit, ns: u64| {
        let demand = fit.to_demand().demand_ns(ns).unwrap_or(u64::MAX).min(ns);
        let share = u128::from(demand) * u128::from(WHOLE_PPB) / u128::from(ns);
        (ns, u64::try_from(share).unwrap_or(WHOLE_PPB))
    };
    let curve =
        profile.load_fit.iter().flat_map(|&fit| lengths(profile).map(move |ns| at(fit, ns)));
    let points: Vec<_> = profile.points.iter().map(load).collect();
    // The hyperbola reaches 100 % near length 0. Drawn in full, it would flatten the measured
    // points.
    let highest = points.iter().map(|point| point.1).max().unwrap_or(0);
    let title = "Load: demand divided by the interval, and its upper hyperbola".to_owned();
    let x = Axis::ending_at(longest_ns(profile), "interval", MS);
    let y = Axis::reaching(highest, "load", PERCENT);
    Chart { points, ..Chart::of_curve(title, x, y, curve.collect()) }
}

#[cfg(test)]
mod tests {
    use tidegate_cpu_model::CpuConditions;
    use tidegate_model::Duration;

    use super::*;

    #[test]
    fn bounds_are_drawn_above_the_points() {
        let point = |ms| StolenPoint {
            interval: Duration::from_ms(ms),
            stolen_max: Duration::from_us(100 + 50 * ms),
        };
        let points: Vec<_> = (1..=20).map(point).collect();
        let profile = CpuProfile {
            name: "p".to_owned(),
            conditions: CpuConditions::default(),
            demand_fit: Some(tidegate_cpu_measure::fit::demand_fit(&points)),
            load_fit: Some(tidegate_cpu_measure::fit::load_fit(&points)),
            points,
        };
        for chart in of(&profile) {
            for point in &chart.points {
                let above = chart.curves[0].points.iter().find(|it| it.0 == point.0).unwrap();
                assert!(above.1 >= point.1, "{}: {point:?} {above:?}", chart.title);
            }
            assert_eq!(chart.points.len(), 20);
        }
    }
}

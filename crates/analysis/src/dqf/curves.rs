// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Request and supply curves of a system, for readers. No verdict rests on them.

use tidegate_model::Duration;

use super::Demand;
use super::busy_interval::window_batches;
use crate::System;

/// The most steps of a curve; a system with more has no curves.
const STEPS_MAX: usize = 4_096;

/// The windows that are drawn one after the other.
const DRAWN: u64 = 3;

/// The request curve and the supply curve of a system, in a window that begins with the dispatch of
/// the carry-in batch.
///
/// # Invariants
/// Both rise in both coordinates. The supply reaches the last step of the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curves {
    /// Pairs of an instant and the requests that can be released up to it, that instant included.
    pub requests: Vec<(Duration, u64)>,
    /// Pairs of an instant and the requests that are complete at it, if so many were released.
    pub supply: Vec<(Duration, u64)>,
    /// The largest horizontal distance.
    pub distance: Distance,
}

/// The largest horizontal distance between the curves: no response time exceeds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// The height at which it lies.
    pub requests: u64,
    /// When that request is released at the earliest.
    pub released: Duration,
    /// When it is complete at the latest.
    pub served: Duration,
}

/// Returns the curves of a system; `None` if the tasks can keep full batches busy for ever, or
/// release too often to draw it.
///
/// # Bound
/// Requests `rbf(t) = sum (floor(t / p_i) + 1) e_i`. Supply: after the carry-in batch, z requests
/// in every b(z). The distance is `max over t of (ceil(rbf(t) / z) + 1) b(z) - t`, which lies
/// between [`tight`](super::tight) and [`linear`](super::linear): it knows the steps of both
/// curves, but not that the carry-in takes requests away or that the last batch can be small.
///
/// # Source
/// Dissertation figure 9.3 and equations 9.2.5.21 to 9.2.5.27. **Correction**: 9.2.5.21 prints the
/// ceiling; a closed window needs floor + 1.
///
/// # Complexity
/// As [`busy_interval`](super::busy_interval()), and O(steps log steps).
pub fn curves(system: &System) -> Option<Curves> {
    let demand = system.tasks.demand();
    let full_ns = system.table.time_max(system.batch_max).ns();
    if !demand.is_within_capacity(system.batch_max, full_ns) {
        return None;
    }
    // Releases behind x full batches that take all earlier ones belong to another window, and are
    // only drawn.
    let batches = window_batches(system, |ns| demand.closed(ns), 1, full_ns)?;
    let window = Duration::from_ns(batches.checked_mul(full_ns)?);
    let requests = request_steps(demand, window.ns().checked_mul(DRAWN)?)?;
    let (_, last) = requests.last()?;
    let served_ns =
        |requests: u64| (requests.div_ceil(system.batch_max.into()) + 1).checked_mul(full_ns);
    let distance = |&(released, requests): &(Duration, u64)| {
        let served = Duration::from_ns(served_ns(requests)?);
        Some(Distance { requests, released, served })
    };
    // The first of equal ones.
    let farther = |longest: Distance, other: Distance| {
        if other.length() > longest.length() { other } else { longest }
    };
    let in_window = requests.iter().filter(|(released, _)| *released <= window);
    let distances: Option<Vec<Distance>> = in_window.map(distance).collect();
    let distance = distances?.into_iter().reduce(farther)?;
    let supplied = (1..=last.div_ceil(system.batch_max.into())).map(|batch| {
        let served = batch * u64::from(system.batch_max);
        Some((Duration::from_ns(served_ns(served)?), served))
    });
    let supply = supplied.collect::<Option<Vec<_>>>()?;
    Some(Curves { requests, supply, distance })
}

/// Returns the steps of the request curve up to `end_ns`; `None` if there are too many.
fn request_steps(demand: &Demand, end_ns: u64) -> Option<Vec<(Duration, u64)>> {
    let mut instants = vec![0];
    for kind in &demand.kinds {
        let releases = end_ns / kind.period_ns;
        let releases = usize::try_from(releases).ok().filter(|&count| count <= STEPS_MAX)?;
        instants.extend((1..).take(releases).map(|release: u64| release * kind.period_ns));
        instants.sort_unstable();
        instants.dedup();
        if instants.len() > STEPS_MAX {
            return None;
        }
    }
    let step = |ns| Some((Duration::from_ns(ns), u64::try_from(demand.closed(ns)).ok()?));
    instants.into_iter().map(step).collect()
}

impl Distance {
    /// Returns its length.
    ///
    /// # Panics
    /// Never: a request is served after its release.
    pub fn length(&self) -> Duration {
        self.served.checked_sub(self.released).expect("it is served later")
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::BatchTable;

    use super::super::{linear, tight};
    use super::*;
    use crate::{SporadicTask, Verdict};

    const fn ns(ns: u64) -> Duration {
        Duration::from_ns(ns)
    }

    fn system(tasks: &[(u32, u64)], times_ns: &[u64]) -> System {
        let task = |&(requests, period_ns): &(u32, u64)| {
            let period = ns(period_ns);
            SporadicTask { requests, period, deadline: period }
        };
        let times: Vec<Duration> = times_ns.iter().copied().map(ns).collect();
        let table = BatchTable::new(&times).unwrap();
        System {
            tasks: tasks.iter().map(task).collect::<Vec<_>>().into(),
            batch_max: table.batch_max(),
            table,
            best_effort_fill: 0,
        }
    }

    /// Three tasks of one request every 20 ns, batches of two that take 6 ns. At once 3 requests
    /// are released, which take two batches behind the carry-in: 18 ns.
    #[test]
    fn curves_of_a_small_system() {
        let curves = curves(&system(&[(1, 20), (1, 20), (1, 20)], &[4, 6])).unwrap();
        assert_eq!(curves.requests, [(ns(0), 3), (ns(20), 6)]);
        assert_eq!(curves.supply, [(ns(12), 2), (ns(18), 4), (ns(24), 6)]);
        assert_eq!(curves.distance, Distance { requests: 3, released: ns(0), served: ns(18) });
    }

    /// The carry-in takes 10, and two more batches of one request each 10. At 15 the first task
    /// comes again, when 3 requests need 40: 25 from then, less than the 30 at the begin.
    #[test]
    fn distance_is_the_largest_of_all_releases() {
        let curves = curves(&system(&[(1, 15), (1, 1_000)], &[10])).unwrap();
        assert_eq!(curves.requests[..3], [(ns(0), 2), (ns(15), 3), (ns(30), 4)]);
        assert_eq!(curves.distance.length(), ns(30));
    }

    #[test]
    fn an_overload_has_no_curves() {
        assert_eq!(curves(&system(&[(1, 5), (1, 5)], &[4, 20])), None);
    }

    /// Goal: the distance is a bound between the two that theorems give. Method: many small
    /// systems.
    #[test]
    fn distance_lies_between_the_tight_and_the_linear_bound() {
        let mut compared = 0;
        for period in 8..40 {
            for (e, other) in [(1, 9), (2, 17), (3, 40), (2, 100)] {
                let system = system(&[(e, period), (1, other), (2, 2 * other)], &[5, 8, 9]);
                let Some(curves) = curves(&system) else { continue };
                let distance = curves.distance.length();
                let linear = linear(&system).unwrap()[0].bound().unwrap();
                let tight = tight(&system).unwrap().into_iter().filter_map(Verdict::bound).max();
                assert!(tight.unwrap() <= distance && distance <= linear, "{period} {e} {other}");
                compared += 1;
            }
        }
        assert!(compared > 60, "{compared}");
    }
}

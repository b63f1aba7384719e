// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes the latest instants until which the drive may be busy if the waiting requests, served
//! in the order of release, must stay feasible. One instant covers all requests. For each request,
//! another covers all but that one, because it may be the request to send.

use tidegate_model::Duration;

/// The latest instants, recomputed at each decision.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The latest instant for all waiting requests, in ns; `i128::MAX` if none waits.
    pub(super) all: i128,
    /// The latest instant for all waiting requests except one, by that request's index in release
    /// order; equal to `all` if the request is not in the fallback.
    pub(super) without: Vec<i128>,
}

impl Latest {
    /// Recomputes the instants. `waiting` gives for each request its deadline in ns and whether it
    /// is excused from the fallback; each of the others takes `service_max`.
    ///
    /// # Complexity
    /// O(waiting); allocates nothing once there is capacity.
    pub(super) fn measure(
        &mut self,
        waiting: impl DoubleEndedIterator<Item = (i128, bool)> + ExactSizeIterator + Clone,
        service_max: Duration,
    ) {
        let service_ns = i128::from(service_max.ns());
        self.without.clear();
        let (mut before_ns, mut ahead_ns) = (i128::MAX, 0);
        for (due_ns, is_excused) in waiting.clone() {
            self.without.push(before_ns);
            if !is_excused {
                ahead_ns += service_ns;
                before_ns = before_ns.min(due_ns - ahead_ns);
            }
        }
        self.all = before_ns;
        let mut after_ns = i128::MAX;
        for (without_ns, (due_ns, is_excused)) in self.without.iter_mut().zip(waiting).rev() {
            if is_excused {
                *without_ns = self.all;
                continue;
            }
            // Without this request, those behind it move up by one. Saturation is intended: there
            // may be none behind it.
            *without_ns = (*without_ns).min(after_ns.saturating_add(service_ns));
            after_ns = after_ns.min(due_ns - ahead_ns);
            ahead_ns -= service_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::Random;

    use super::*;

    /// Computes the instant from its definition: for the requests served in order, with one left
    /// out.
    fn directly(waiting: &[(i128, bool)], without: Option<usize>) -> i128 {
        let served = waiting.iter().enumerate();
        let served = served.filter(|&(index, &(_, excused))| !excused && Some(index) != without);
        served
            .zip(1..)
            .map(|((_, &(due_ns, _)), ahead)| due_ns - ahead * 10)
            .min()
            .unwrap_or(i128::MAX)
    }

    #[test]
    fn latest_instants_are_those_of_the_definition() {
        let mut latest = Latest::default();
        let mut random = Random::new(5, 1);
        for _ in 0..2_000 {
            let count = random.below(9);
            let mut one = || (i128::from(random.below(200)), random.below(3) == 0);
            let waiting: Vec<(i128, bool)> = (0..count).map(|_| one()).collect();
            latest.measure(waiting.iter().copied(), Duration::from_ns(10));
            assert_eq!(latest.all, directly(&waiting, None), "{waiting:?}");
            for (index, &without_ns) in latest.without.iter().enumerate() {
                assert_eq!(without_ns, directly(&waiting, Some(index)), "{waiting:?} {index}");
            }
        }
    }
}

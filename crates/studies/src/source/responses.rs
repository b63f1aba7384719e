// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response times of one or several sources of jobs, taken together.

use tidegate_stats::Distribution;

use crate::cell::Cell;

/// Response times as histogram steps.
pub(super) struct Responses {
    /// Pairs in rising order: a time in ns, and the number of response times above the previous
    /// pair's time and at most this one.
    steps: Vec<(u64, u64)>,
    min_ns: Option<u64>,
    sum_ns: u128,
    count: u64,
}

/// The measures of response times.
pub(super) const KNOWN: &str =
    "response_ns_min, _mean, _max, _p50, _p999 or another quantile, response_ns_steps";

impl Responses {
    /// Combines these distributions.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Distribution> + Clone) -> Self {
        let steps = all.clone().flat_map(Distribution::steps);
        let steps = steps.map(|(time, count)| (time.ns(), count)).collect();
        let sum = |it: &Distribution| {
            u128::from(it.mean().unwrap_or_default().ns()) * u128::from(it.count())
        };
        let min = all.clone().filter_map(Distribution::min).min();
        Self {
            min_ns: min.map(tidegate_model::Duration::ns),
            sum_ns: all.map(sum).sum(),
            ..Self::of_steps(steps)
        }
    }

    /// Combines recorded steps. The shortest and the mean time are computed from the steps, which
    /// are rounded up.
    pub(super) fn of_steps(mut steps: Vec<(u64, u64)>) -> Self {
        steps.sort_unstable();
        Self {
            min_ns: steps.first().map(|step| step.0),
            sum_ns: steps.iter().map(|step| u128::from(step.0) * u128::from(step.1)).sum(),
            count: steps.iter().map(|step| step.1).sum(),
            steps,
        }
    }

    /// Returns the measure called `name`.
    pub(super) fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let which = name.strip_prefix("response_ns_").ok_or_else(|| super::unknown(name, KNOWN))?;
        Ok(match which {
            "min" => self.min_ns.map(Cell::of),
            "mean" => self.mean_ns().map(Cell::of),
            "max" => self.steps.last().map(|step| Cell::of(step.0)),
            "steps" => Some(self.listed()),
            quantile => {
                let ppm = ppm(quantile).ok_or_else(|| super::unknown(name, KNOWN))?;
                self.quantile_ns(ppm).map(Cell::of)
            }
        })
    }

    fn mean_ns(&self) -> Option<u64> {
        u64::try_from(self.sum_ns.checked_div(u128::from(self.count))?).ok()
    }

    fn quantile_ns(&self, ppm: u32) -> Option<u64> {
        let wanted = (u128::from(self.count) * u128::from(ppm)).div_ceil(1_000_000);
        let mut below = 0;
        let reaches = |step: &&(u64, u64)| {
            below += u128::from(step.1);
            below >= wanted
        };
        self.steps.iter().find(reaches).map(|step| step.0)
    }

    fn listed(&self) -> Cell {
        let pair = |&(ns, count): &(u64, u64)| Cell::List(vec![Cell::of(ns), Cell::of(count)]);
        Cell::List(self.steps.iter().map(pair).collect())
    }
}

/// Converts a quantile's name to parts per million: 999,000 for `p999`.
fn ppm(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('p').filter(|it| (1..=6).contains(&it.len()))?;
    let number: u32 = digits.parse().ok()?;
    let digits = u32::try_from(digits.len()).ok()?;
    Some(number * 10_u32.pow(6 - digits))
}

#[cfg(test)]
mod tests {
    use tidegate_model::Duration;
    use tidegate_stats::Memory;

    use super::*;

    #[test]
    fn two_distributions_are_taken_together() {
        let mut both = [const { [0_u64; 2] }; 2].map(|_| Distribution::new(Memory::AsNeeded));
        for (times, ns) in both.iter_mut().zip([[1, 3], [4, 10]]) {
            for ns in ns {
                times.record(Duration::from_ns(ns));
            }
        }
        let taken = Responses::of(both.iter());
        let get = |name: &str| taken.get(&format!("response_ns_{name}")).unwrap().unwrap();
        assert_eq!(
            ["min", "mean", "max", "p50", "p75", "p999"].map(get),
            [1, 4, 10, 3, 4, 10].map(Cell::Int)
        );
        assert!(taken.get("response_ns_most").is_err() && taken.get("jobs").is_err());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive that takes longer than its tables say: by a factor and by an added time.
//!
//! A margin that the user requests and the slowdown that a verdict tolerates
//! (`docs/theory/tolerance.md` section 27) use the same calculation. Every slowed time is rounded
//! up.

use std::borrow::Cow;

use crate::batch_cost::RequestCharges;
use crate::batch_table::BatchTable;
use crate::contracts::{Ceilings, Contracts, DriveContract};
use crate::cost::{CostModel, RequestCost};
use crate::units::Duration;
use crate::workload::Workload;

/// The number one, in parts per million.
const WHOLE_PPM: u64 = 1_000_000;

/// A slowdown of every time of a table: `t (1 + factor) + added`, rounded up to 1 ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slowdown {
    /// The share of each time that is added to it, in parts per million.
    pub factor_ppm: u64,
    /// The time that is added to each time after the share.
    pub added: Duration,
}

impl Slowdown {
    /// No slowdown.
    pub const NONE: Self = Self { factor_ppm: 0, added: Duration::ZERO };

    /// The longest slowed time, which replaces longer ones: 146 years, more than any deadline, and
    /// far from overflow.
    pub const TIME_MAX: Duration = Duration::from_ns(1 << 62);

    /// Returns the slowdown that adds this time.
    pub const fn by(added: Duration) -> Self {
        Self { added, ..Self::NONE }
    }

    /// Returns the slowdown that adds this share of each time, in parts per million.
    pub const fn by_ppm(factor_ppm: u64) -> Self {
        Self { factor_ppm, ..Self::NONE }
    }

    /// Returns the slowed time, at most [`Self::TIME_MAX`] unless `time` itself is longer.
    pub fn of_time(self, time: Duration) -> Duration {
        let added = u128::from(time.ns()) * u128::from(self.factor_ppm);
        // Neither product nor sum can overflow: each factor is below 2^64, and so is each addend.
        let slowed = u128::from(time.ns()) + added.div_ceil(u128::from(WHOLE_PPM));
        let slowed = slowed.saturating_add(u128::from(self.added.ns()));
        u64::try_from(slowed)
            .map_or(Self::TIME_MAX, Duration::from_ns)
            .min(Self::TIME_MAX)
            .max(time)
    }

    /// Returns the table with every entry slowed; a batch of no requests takes no time.
    #[must_use]
    pub fn of_table(self, table: &BatchTable) -> BatchTable {
        table.map(|time| self.of_time(time))
    }

    /// Returns the cost model of slowed batches: the factor applies to every cost, and `added` is
    /// added to A, once for each batch.
    #[must_use]
    pub fn of_costs(self, costs: &CostModel) -> CostModel {
        let share = Self::by_ppm(self.factor_ppm);
        let slowed =
            |cost: &RequestCost| RequestCost { time_max: share.of_time(cost.time_max), ..*cost };
        CostModel {
            positioning_max: self.of_time(costs.positioning_max),
            requests: costs.requests.iter().map(slowed).collect(),
            switch_max: costs.switch_max.map(|time| share.of_time(time)),
            fua_max: costs.fua_max.map(|time| share.of_time(time)),
            ..costs.clone()
        }
    }

    /// Returns the ceilings of a drive and a host that slows it. A margin does not raise them: the
    /// drive cannot exceed its ceilings.
    #[must_use]
    pub fn of_ceilings(self, ceilings: &Ceilings) -> Ceilings {
        Ceilings {
            batches: self.of_table(&ceilings.batches),
            drain: self.of_table(&ceilings.drain),
            starvation_max: ceilings.starvation_max.map(|time| self.of_time(time)),
        }
    }

    /// Returns the workload on a drive whose times of this contract are slowed. The costs of
    /// requests belong to the batch times.
    #[must_use]
    pub fn of_contract(self, workload: &Workload, contract: DriveContract) -> Workload {
        let mut slowed = workload.clone();
        let contracts: &mut Contracts = &mut slowed.contracts;
        match contract {
            DriveContract::Batches => {
                slowed.table = self.of_table(&workload.table);
                contracts.costs = contracts.costs.as_ref().map(|costs| self.of_costs(costs));
                if let Some(prediction) = &mut contracts.prediction {
                    // The prediction is unchanged, so the request exceeds it by its full slowdown.
                    let ceiling = prediction.ceiling;
                    let later = |late: Duration| self.of_time(ceiling + late) - ceiling;
                    prediction.late_max = prediction.late_max.map(later);
                    let stated = &mut slowed.parameters.das.margin;
                    *stated = stated.map(later);
                }
            }
            DriveContract::Drain => {
                contracts.drain = contracts.drain.as_ref().map(|table| self.of_table(table));
            }
            DriveContract::Starvation => {
                contracts.starvation_max = contracts.starvation_max.map(|time| self.of_time(time));
            }
            DriveContract::Priority => {
                contracts.priority = contracts.priority.as_ref().map(|table| self.of_table(table));
            }
        }
        slowed
    }

    /// Returns the workload on a drive whose times are slowed under every contract.
    #[must_use]
    pub fn of_workload(self, workload: &Workload) -> Workload {
        let slowed = |workload: Workload, contract| self.of_contract(&workload, contract);
        DriveContract::ALL.into_iter().fold(workload.clone(), slowed)
    }
}

impl Workload {
    /// Returns the workload as it is planned: on a drive that exceeds its tables by the margin, as
    /// the policy sees it behind the host. The result has no margin, and nothing of the host's time
    /// is left to charge.
    ///
    /// A cost limit on batches is raised to the cost of the costliest request if the margin lifts
    /// that cost above the limit.
    #[must_use]
    pub fn planned(&self) -> Cow<'_, Self> {
        if self.margin_ppm == 0 {
            return self.behind_host();
        }
        let slowed = Slowdown::by_ppm(self.margin_ppm.into()).of_workload(self);
        let mut planned = Self { margin_ppm: 0, ..slowed };
        if let (Some(cost_max), Some(charges)) =
            (planned.parameters.dqf.batch_cost, RequestCharges::of_workload(&planned))
        {
            let tasks = planned.tasks.iter().map(|task| (task.op, task.size));
            let loads = planned.best_effort.iter().map(|load| (load.op, load.size));
            let of_each = |(op, size)| charges.of_request(op, size);
            let costliest = tasks.chain(loads).filter_map(of_each).max().unwrap_or_default();
            planned.parameters.dqf.batch_cost = Some(cost_max.max(costliest));
        }
        Cow::Owned(planned.behind_host().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ns(ns: u64) -> Duration {
        Duration::from_ns(ns)
    }

    #[test]
    fn times_are_rounded_up() {
        assert_eq!(Slowdown::by_ppm(100_000).of_time(ns(10)), ns(11));
        assert_eq!(Slowdown::by_ppm(100_000).of_time(ns(11)), ns(13));
        assert_eq!(Slowdown::by_ppm(1).of_time(ns(1)), ns(2));
        assert_eq!(Slowdown::by(ns(3)).of_time(ns(11)), ns(14));
        assert_eq!(Slowdown { factor_ppm: 500_000, added: ns(7) }.of_time(ns(3)), ns(12));
        assert_eq!(Slowdown::NONE.of_time(ns(11)), ns(11));
    }

    #[test]
    fn a_time_that_no_clock_holds_is_capped() {
        let most = Slowdown { factor_ppm: u64::MAX, added: Duration::MAX };
        assert_eq!(most.of_time(ns(1)), Slowdown::TIME_MAX);
        assert_eq!(most.of_time(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn an_empty_batch_stays_empty_and_costs_get_the_time_once() {
        let table = BatchTable::new(&[ns(10), ns(15)]).expect("two entries");
        let slowed = Slowdown { factor_ppm: 100_000, added: ns(5) }.of_table(&table);
        assert_eq!([0, 1, 2].map(|n| slowed.time_max(n).ns()), [0, 16, 22]);
        let cost = RequestCost {
            op: crate::task::Op::Read,
            size: crate::units::Bytes::from_kib(4),
            time_max: ns(20),
        };
        let costs = CostModel {
            positioning_max: ns(10),
            requests: vec![cost],
            switch_max: Some(ns(30)),
            fua_max: None,
            batch_max: None,
            how: None,
            samples: None,
        };
        let slowed = Slowdown { factor_ppm: 100_000, added: ns(5) }.of_costs(&costs);
        assert_eq!(slowed.positioning_max, ns(16));
        assert_eq!((slowed.requests[0].time_max, slowed.switch_max), (ns(22), Some(ns(33))));
    }
}

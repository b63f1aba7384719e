// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches limited by what they cost and not only by how many requests they hold.
//!
//! A count is blunt where requests differ: it lets as many large writes into a batch as small
//! reads. Here a batch is the longest prefix of the queue whose requests cost at most Z
//! together, one of them in any case. What a request costs stands in the cost model of the
//! drive (`docs/theory/requests-of-different-kinds.md` section 11); policy and analysis read the same charges here.

use crate::cost::{CostModel, RequestCost};
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::Workload;

/// How batches are limited by cost.
///
/// # Invariants
/// - No request of the workload costs more than `cost_max`.
/// - `best_effort_fill <= cost_max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchCost {
    /// Z: what the requests of one batch may cost together, A not counted.
    pub cost_max: Duration,
    /// F: a batch that takes every real-time request there is may be filled with best effort up
    /// to this cost in all; 0 keeps best effort off the drive.
    pub best_effort_fill: Duration,
    /// What requests cost.
    pub charges: RequestCharges,
}

impl BatchCost {
    /// What a request counts for, in ns: what nobody knows the cost of fills a batch.
    pub fn charge_ns(&self, op: Op, size: Bytes) -> u64 {
        self.charges.of_request(op, size).unwrap_or(self.cost_max).ns()
    }
}

/// What each request of a workload adds to a batch, changes of direction included.
///
/// # Bound
/// A batch takes at most `positioning_max` and the charges of its requests. Where the drive
/// charges changes of direction and the workload reads and writes, the operation of which its
/// tasks have fewer requests carries them: m requests of it make at most 2 m changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCharges {
    /// A: once for each batch.
    pub positioning_max: Duration,
    reads: Charges,
    writes: Charges,
}

/// The charges of one operation, by size, ascending; no smaller size is dearer.
type Charges = Vec<(Bytes, Duration)>;

impl RequestCharges {
    /// The charges of a workload's requests; none where it has no costs of its own.
    pub fn of_workload(workload: &Workload) -> Option<Self> {
        let costs = workload.contracts.costs.as_ref()?;
        let tasks = || workload.tasks.iter();
        let of_sources = tasks().map(|task| task.op);
        let ops: Vec<Op> = of_sources.chain(workload.best_effort.iter().map(|it| it.op)).collect();
        let requests = |op: Op| {
            let of_op = tasks().filter(|task| task.op == op);
            of_op.map(|task| u64::from(task.requests)).sum::<u64>()
        };
        let is_mixed = ops.contains(&Op::Read) && ops.contains(&Op::Write);
        let fewer = if requests(Op::Read) < requests(Op::Write) { Op::Read } else { Op::Write };
        Some(Self::of(costs, is_mixed.then_some(fewer)))
    }

    /// The charges by a cost model, `switching` being the operation that is charged twice what a
    /// change of direction takes.
    pub fn of(costs: &CostModel, switching: Option<Op>) -> Self {
        let charges = |op: Op| {
            let switch_max = costs.switch_max.filter(|_| switching == Some(op));
            let more = switch_max.unwrap_or_default().checked_mul(2).unwrap_or(Duration::MAX);
            ascending(costs.requests.iter().filter(|cost| cost.op == op), more)
        };
        let positioning_max = costs.positioning_max;
        Self { positioning_max, reads: charges(Op::Read), writes: charges(Op::Write) }
    }

    /// What a request adds to a batch at most: the charge of the smallest known size that covers
    /// it; none if no known size does.
    ///
    /// # Complexity
    /// O(log sizes).
    pub fn of_request(&self, op: Op, size: Bytes) -> Option<Duration> {
        let charges = match op {
            Op::Read => &self.reads,
            Op::Write => &self.writes,
        };
        let covering = charges.partition_point(|&(known, _)| known < size);
        charges.get(covering).map(|&(_, charge)| charge)
    }
}

/// By size, each at least as dear as all smaller ones: a fit may charge a smaller size more, and
/// what lies between is not known to cost less.
fn ascending<'a>(costs: impl Iterator<Item = &'a RequestCost>, more: Duration) -> Charges {
    let with_more = |cost: &RequestCost| {
        // More than a clock counts is more than any batch may cost.
        (cost.size, cost.time_max.checked_add(more).unwrap_or(Duration::MAX))
    };
    let mut charges: Charges = costs.map(with_more).collect();
    charges.sort_unstable();
    let mut dearest = Duration::ZERO;
    for (_, charge) in &mut charges {
        dearest = dearest.max(*charge);
        *charge = dearest;
    }
    charges
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches limited by the cost of their requests, not only by their number.
//!
//! A limit on the count treats all requests alike: it admits as many large writes to a batch as
//! small reads. Here a batch is the longest prefix of the queue whose requests cost at most Z
//! together, and at least one request. The cost of a request comes from the drive's cost model
//! (`docs/theory/requests-of-different-kinds.md` section 11); policy and analysis read the same
//! charges here.

use crate::cost::{CostModel, RequestCost};
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::Workload;

/// The limits on the cost of a batch.
///
/// # Invariants
/// - No request of the workload costs more than `cost_max`.
/// - `best_effort_fill <= cost_max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchCost {
    /// Z: the largest total cost of a batch's requests, without A.
    pub cost_max: Duration,
    /// F: a batch that takes every queued real-time request may be filled with best effort up to
    /// this total cost; 0 keeps best effort off the drive.
    pub best_effort_fill: Duration,
    /// The cost of each request.
    pub charges: RequestCharges,
}

impl BatchCost {
    /// Returns the charge of a request in ns. A request of unknown cost is charged `cost_max`,
    /// which fills a batch.
    pub fn charge_ns(&self, op: Op, size: Bytes) -> u64 {
        self.charges.of_request(op, size).unwrap_or(self.cost_max).ns()
    }
}

/// The charge that each request of a workload adds to a batch, changes of direction included.
///
/// # Bound
/// A batch takes at most `positioning_max` plus the charges of its requests. If the drive charges
/// changes of direction and the workload both reads and writes, the operation with fewer requests
/// carries these charges: m requests of it cause at most 2 m changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCharges {
    /// A: the largest positioning time, charged once for each batch.
    pub positioning_max: Duration,
    reads: Charges,
    writes: Charges,
}

/// The charges of one operation, in ascending order of size; charges never decrease with size.
type Charges = Vec<(Bytes, Duration)>;

impl RequestCharges {
    /// Returns the charges of a workload's requests; `None` if the workload has no cost model.
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

    /// Returns the charges of a cost model. Each request of the operation `switching` is also
    /// charged twice the time of a change of direction.
    pub fn of(costs: &CostModel, switching: Option<Op>) -> Self {
        let charges = |op: Op| {
            let switch_max = costs.switch_max.filter(|_| switching == Some(op));
            let more = switch_max.unwrap_or_default().checked_mul(2).unwrap_or(Duration::MAX);
            ascending(costs.requests.iter().filter(|cost| cost.op == op), more)
        };
        let positioning_max = costs.positioning_max;
        Self { positioning_max, reads: charges(Op::Read), writes: charges(Op::Write) }
    }

    /// Returns the longest time that a request adds to a batch: the charge of the smallest known
    /// size that covers it. `None` if no known size covers it.
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

/// Sorts the charges by size and raises each to the largest charge of all smaller sizes. A fit may
/// charge a smaller size more, and a size in between is not known to cost less.
fn ascending<'a>(costs: impl Iterator<Item = &'a RequestCost>, more: Duration) -> Charges {
    let with_more = |cost: &RequestCost| {
        // A charge that overflows counts as the longest time, which exceeds every limit on a batch.
        (cost.size, cost.time_max.checked_add(more).unwrap_or(Duration::MAX))
    };
    let mut charges: Charges = costs.map(with_more).collect();
    charges.sort_unstable();
    let mut costliest = Duration::ZERO;
    for (_, charge) in &mut charges {
        costliest = costliest.max(*charge);
        *charge = costliest;
    }
    charges
}

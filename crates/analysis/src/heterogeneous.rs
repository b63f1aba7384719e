// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for dual-queue FIFO with requests of different costs: each is charged its own cost
//! instead of the largest.
//!
//! A batch takes at most `A + sum c`. Batches are still limited by their number of requests (z,
//! beta), so the proof of Theorem 2 holds: it uses a batch's cost only in a sum, and the sum
//! contains each task's one pending job once. Theorem 3 needs care: see [`responses`].
//!
//! ```text
//!   release of J            J is in the next batch (E <= z)
//!        |
//!   [ A + C(S) ............][ A + C(all - S) ....]   C(S) + C(all - S) = sum C_i, whatever S
//! ```

use tidegate_model::{CostModel, Duration, Op, Workload};

use crate::cost_limited::{self, CostLimitedSystem};
pub use crate::mixed_task::MixedTask;
use crate::search::{HORIZON_NS, verdict};
use crate::{SporadicTask, Verdict};

/// Tasks of different kinds that share a device under dual-queue FIFO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedSystem {
    /// The tasks.
    pub tasks: Vec<MixedTask>,
    /// A: the largest positioning time, charged once per batch.
    pub positioning_max: Duration,
    /// The longest time of a change of direction inside a batch, charged for each change.
    pub switch_max: Duration,
    /// The largest c of a best-effort request.
    pub best_effort_max: Duration,
    /// The operations of best-effort requests.
    pub best_effort_ops: Vec<Op>,
    /// The largest batch for which A and c are known; `None` if they hold for every batch.
    pub known_max: Option<u32>,
    /// z, the largest number of requests in a batch.
    pub batch_max: u32,
    /// beta: best effort fills batches up to this many requests.
    pub best_effort_fill: u32,
}

/// Returns a cost-based bound, the same for every task.
///
/// # Bound
/// With `C = sum e_i c_i`, if R is below every period:
/// - E <= z: `R = 2 A + beta c_be + max(C, M)`. M is the sum of the beta costliest requests of one
///   job of each task, each counted as at least c_be; if there are fewer than beta requests, each
///   missing one counts c_be. A single task without best effort is charged A only once, because
///   nothing can be in flight at its release.
/// - E > z: `R = (1 + ceil((E - 1) / z)) A + C + (min(z, E - z) - 1) c_max`, where c_max is the
///   largest cost of a request. With best effort, one batch may hold only best effort: then there
///   are `1 + ceil(E / z)` batches, `beta c_be` is added for that batch, and the last batch holds
///   `max(min(z, E - z), beta) - 1` requests that the job does not wait for. Without best effort
///   and changes of direction, the bound of [`cost_limited`] with a Z that never cuts covers the
///   same batches and is never larger, so it is used.
///
/// If the device charges changes of direction, their count is twice the smaller of the numbers of
/// reads and writes in all these batches. The requests beyond C count as the operation that makes
/// this number larger.
///
/// # Source
/// Own derivation, `docs/theory/requests-of-different-kinds.md` section 11.
///
/// E <= z: in Theorem 2 the tasks S in flight at release cost `A + C(S) + (beta - e(S))^+ c_be`,
/// and the tasks T of the next batch cost the same with T in place of S. S and T are disjoint, but
/// T need not contain all other tasks: **if a best-effort request costs more than a task's
/// requests, a batch without that task takes longer**. Theorem 3's form, a maximum over S with T =
/// all - S, is therefore not a bound here. Moving S into T never decreases the sum (the terms in
/// beta are convex), so S = {} is the worst case. Then T is either all tasks, or leaves out tasks
/// whose requests cost less than best effort: M.
///
/// E > z: at release no task has two jobs pending (R < p), so the batch in flight and everything
/// queued before the job are requests of at most one job of each task: C. At most
/// `ceil((E - y) / z)` batches follow a batch with y requests. When the last batch is formed and is
/// not the first, z requests have just been served, so at most E - z are queued; the requests
/// behind the job may belong to new jobs.
///
/// # Assumptions
/// No batch takes longer than A plus its requests' costs; all requests of a job are released
/// together.
///
/// # Complexity
/// O(n log n); where [`cost_limited`] gives the bound, as [`cost_limited::responses`].
pub fn responses(system: &MixedSystem) -> Vec<Verdict> {
    vec![verdict(response_ns(system)); system.tasks.len()]
}

/// Returns whether the bound is within every deadline.
pub(crate) fn are_deadlines_met(system: &MixedSystem) -> bool {
    let is_within =
        |response: u64| system.tasks.iter().all(|mixed| response <= mixed.task.deadline.ns());
    response_ns(system).is_some_and(is_within)
}

/// The content of the batches that a job may have to wait for.
struct Charge {
    batches: u64,
    /// Requests beyond one job of each task.
    extra: u64,
    extra_ns: u128,
}

fn response_ns(system: &MixedSystem) -> Option<u64> {
    let requests = system.tasks.iter().map(|mixed| u64::from(mixed.task.requests)).sum::<u64>();
    let fill = u64::from(system.best_effort_fill);
    let largest = requests.min(u64::from(system.batch_max)).max(fill);
    if system.known_max.is_some_and(|known| u64::from(known) < largest) {
        return None;
    }
    if let Some(unlimited) = cut_by_count_alone(system, requests) {
        return cost_limited::response_ns(&unlimited);
    }
    let charge = charge(system, requests);
    let own_ns = system
        .tasks
        .iter()
        .map(|mixed| u128::from(mixed.task.requests) * u128::from(mixed.request_max.ns()));
    let batches_ns = u128::from(charge.batches) * u128::from(system.positioning_max.ns());
    let switches_ns =
        u128::from(switches(system, charge.extra)) * u128::from(system.switch_max.ns());
    let sum_ns = own_ns.sum::<u128>() + batches_ns + charge.extra_ns + switches_ns;
    let response = u64::try_from(sum_ns).ok().filter(|&ns| ns <= HORIZON_NS)?;
    let is_below = |mixed: &MixedTask| response < mixed.task.period.ns();
    system.tasks.iter().all(is_below).then_some(response)
}

/// Returns the same batches as a cost-limited system whose limit C never cuts. `None` unless count
/// cuts the batches and there is neither best effort nor a change of direction.
fn cut_by_count_alone(system: &MixedSystem, requests: u64) -> Option<CostLimitedSystem> {
    let is_alone = system.best_effort_fill == 0 && system.switch_max.is_zero();
    if !is_alone || requests <= u64::from(system.batch_max) {
        return None;
    }
    let of_task = |mixed: &MixedTask| mixed.request_max.checked_mul(u64::from(mixed.task.requests));
    let sum = system
        .tasks
        .iter()
        .try_fold(Duration::ZERO, |sum, mixed| sum.checked_add(of_task(mixed)?))?;
    Some(CostLimitedSystem {
        tasks: system.tasks.clone(),
        positioning_max: system.positioning_max,
        batch_max: system.batch_max,
        cost_max: sum,
        best_effort_fill: Duration::ZERO,
    })
}

fn charge(system: &MixedSystem, requests: u64) -> Charge {
    let (batch_max, fill) = (u64::from(system.batch_max), u64::from(system.best_effort_fill));
    let best_effort_ns = u128::from(system.best_effort_max.ns());
    if requests <= batch_max {
        let batches = if fill > 0 || system.tasks.len() > 1 { 2 } else { 1 };
        let extra_ns = u128::from(fill) * best_effort_ns + displaced_ns(system);
        return Charge { batches, extra: 2 * fill, extra_ns };
    }
    let behind = if fill > 0 { requests } else { requests - 1 };
    let last = batch_max.min(requests - batch_max).max(fill) - 1;
    let costs = system.tasks.iter().map(|mixed| u128::from(mixed.request_max.ns()));
    let any_ns = costs.chain((fill > 0).then_some(best_effort_ns)).max().unwrap_or(0);
    Charge {
        batches: 1 + behind.div_ceil(batch_max),
        extra: fill + last,
        extra_ns: u128::from(fill) * best_effort_ns + u128::from(last) * any_ns,
    }
}

/// Returns the excess of M over C, or 0.
fn displaced_ns(system: &MixedSystem) -> u128 {
    let best_effort_ns = u128::from(system.best_effort_max.ns());
    let mut kinds: Vec<(u64, u64)> = system
        .tasks
        .iter()
        .map(|mixed| (mixed.request_max.ns(), u64::from(mixed.task.requests)))
        .collect();
    kinds.sort_unstable_by(|a, b| b.cmp(a));
    let (mut left, mut costliest_ns, mut own_ns) = (u64::from(system.best_effort_fill), 0, 0);
    for (cost_ns, requests) in kinds {
        let cost_ns = u128::from(cost_ns);
        let taken = requests.min(left);
        costliest_ns += u128::from(taken) * cost_ns.max(best_effort_ns);
        own_ns += u128::from(requests) * cost_ns;
        left -= taken;
    }
    costliest_ns += u128::from(left) * best_effort_ns;
    // Saturation is intended: if C is larger, nothing is displaced.
    costliest_ns.saturating_sub(own_ns)
}

/// Returns the largest number of changes of direction in the batches: twice the smaller of the
/// numbers of reads and writes. The sum over several batches is largest when they are counted as
/// one.
fn switches(system: &MixedSystem, extra: u64) -> u64 {
    let count = |op: Op| {
        let of_op = system.tasks.iter().filter(|mixed| mixed.op == op);
        of_op.map(|mixed| u64::from(mixed.task.requests)).sum::<u64>()
    };
    let (reads, writes) = (count(Op::Read), count(Op::Write));
    let is_aboard = |op: Op| system.best_effort_fill > 0 && system.best_effort_ops.contains(&op);
    let has_both = (reads > 0 || is_aboard(Op::Read)) && (writes > 0 || is_aboard(Op::Write));
    if !has_both {
        return 0;
    }
    2 * (reads.min(writes) + extra).min((reads + writes + extra) / 2)
}

/// Returns the tasks that `sources` names with their costs; `None` if the workload has no cost
/// model.
pub(crate) fn system_of(
    workload: &Workload,
    sources: &[usize],
    tasks: &[SporadicTask],
) -> Option<MixedSystem> {
    let costs: &CostModel = workload.contracts.costs.as_ref()?;
    let with_cost = |(&source, &task): (&usize, &SporadicTask)| {
        let kind = &workload.tasks[source];
        let request_max = costs.cost(kind.op, kind.size)?;
        Some(MixedTask { task, request_max, op: kind.op })
    };
    let loads = &workload.best_effort;
    let best_effort: Option<Vec<Duration>> =
        loads.iter().map(|load| costs.cost(load.op, load.size)).collect();
    Some(MixedSystem {
        tasks: sources.iter().zip(tasks).map(with_cost).collect::<Option<Vec<_>>>()?,
        positioning_max: costs.positioning_max,
        switch_max: costs.switch_max.unwrap_or_default(),
        best_effort_max: best_effort?.into_iter().max().unwrap_or_default(),
        best_effort_ops: loads.iter().map(|load| load.op).collect(),
        known_max: costs.batch_max,
        batch_max: 1,
        best_effort_fill: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bound in a system with A = 100, a change of direction of 5, and best-effort
    /// reads that cost 20.
    fn bound(kinds: &[(u32, u64, Op)], batch_max: u32, best_effort_fill: u32) -> Option<u64> {
        let of = |&(requests, cost_ns, op): &(u32, u64, Op)| {
            let period = Duration::from_ns(1 << 40);
            let task = SporadicTask { period, requests, deadline: period };
            MixedTask { task, request_max: Duration::from_ns(cost_ns), op }
        };
        let verdicts = responses(&MixedSystem {
            tasks: kinds.iter().map(of).collect(),
            positioning_max: Duration::from_ns(100),
            switch_max: Duration::from_ns(5),
            best_effort_max: Duration::from_ns(20),
            best_effort_ops: vec![Op::Read],
            known_max: None,
            batch_max,
            best_effort_fill,
        });
        assert_eq!(verdicts.len(), kinds.len());
        verdicts[0].bound().map(Duration::ns)
    }

    /// Goal: each request is charged its own cost, and best effort what it displaces. Method: sums
    /// by hand for C = 10 + 2 * 30 = 70.
    #[test]
    fn every_request_is_charged_its_own_cost() {
        let kinds = [(1, 10, Op::Read), (2, 30, Op::Read)];
        assert_eq!(bound(&kinds, 8, 0), Some(2 * 100 + 70));
        assert_eq!(bound(&kinds[1..], 8, 0), Some(100 + 60), "nothing before it");
        // M: 30 and 30, 20 instead of the 10, and 20 for each of the two requests that are missing.
        assert_eq!(bound(&kinds, 8, 5), Some(2 * 100 + 5 * 20 + (30 + 30 + 20 + 2 * 20)));
        // M = 60 is less than C.
        assert_eq!(bound(&kinds, 8, 2), Some(2 * 100 + 2 * 20 + 70));
        // Three batches: best effort alone, two requests, and the third request.
        assert_eq!(bound(&kinds, 2, 1), Some(3 * 100 + 20 + 70));
        // A read among two writes: two changes at most.
        let both = [(1, 10, Op::Read), (2, 30, Op::Write)];
        assert_eq!(bound(&both, 8, 0), Some(2 * 100 + 70 + 2 * 5));
    }
}

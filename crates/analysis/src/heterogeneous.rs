// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Dual-queue FIFO where requests differ: each is charged its own cost, not the largest.
//!
//! A batch takes at most `A + sum c`. Batches are counted in requests as ever (z, beta), so the
//! proof of Theorem 2 stands: it uses the cost of a batch only where it adds it up. What it adds
//! up is every task's one pending job, once. Theorem 3 needs care: see [`responses`].
//!
//! ```text
//!   release of J            J rides in the next batch (E <= z)
//!        |
//!   [ A + C(S) ............][ A + C(all - S) ....]   C(S) + C(all - S) = sum C_i, whatever S
//! ```

use tidegate_model::{CostModel, Duration, Op, Workload};

use crate::cost_limited::{self, CostLimitedSystem};
use crate::search::{HORIZON_NS, verdict};
use crate::{SporadicTask, Verdict};

/// A task whose requests are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixedTask {
    /// (e, p, d).
    pub task: SporadicTask,
    /// c: what each of its requests adds to a batch.
    pub request_max: Duration,
    /// Read or write.
    pub op: Op,
}

/// Tasks of different kinds that share a device under dual-queue FIFO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedSystem {
    /// The tasks.
    pub tasks: Vec<MixedTask>,
    /// A: once for each batch.
    pub positioning_max: Duration,
    /// For each change of direction inside a batch.
    pub switch_max: Duration,
    /// The largest c of a best-effort request.
    pub best_effort_max: Duration,
    /// What best effort does.
    pub best_effort_ops: Vec<Op>,
    /// The largest batch that A and c speak of; none where they hold for every one.
    pub known_max: Option<u32>,
    /// z.
    pub batch_max: u32,
    /// beta: batches are filled up to so many requests with best effort.
    pub best_effort_fill: u32,
}

/// A bound by costs, the same for every task.
///
/// # Bound
/// With `C = sum e_i c_i`, if R is below every period:
/// - E <= z: `R = 2 A + beta c_be + max(C, M)`, M the sum of the beta dearest requests of one job of
///   each task, each at least c_be and where there are fewer c_be; a single task without best
///   effort has one A, for nothing can be in flight at its release.
/// - E > z: `R = (1 + ceil((E - 1) / z)) A + C + (min(z, E - z) - 1) c_max`; with best effort
///   aboard one batch may hold nothing else, `1 + ceil(E / z)` batches, `beta c_be` for it and
///   `max(min(z, E - z), beta) - 1` requests in the last batch that the job does not wait for.
///   Without best effort and changes of direction the bound of [`cost_limited`] for a Z that
///   never cuts is that of the same batches, and never larger.
///
/// Where the device charges changes of direction, twice the smaller count of reads and writes
/// in all these batches, the requests beyond C counted as what is worse.
///
/// # Source
/// Own derivation, `docs/theory/requests-of-different-kinds.md` section 11. E <= z: in Theorem 2 the tasks S in flight at
/// release and the tasks T of the next batch cost `A + C(S) + (beta - e(S))^+ c_be`, and the same
/// for T. S and T are disjoint, but T need not be all others: **where best effort is dearer than
/// a task's requests, a batch without that task takes longer**, so Theorem 3's form, a maximum
/// over S with T = all - S, is no bound here. Moving S into T never lessens the sum (the terms in
/// beta are convex), so S = {} is the worst, and then T is all, or such that best effort is
/// dearer than what is left out: M.
/// E > z: at release no task has two jobs pending (R < p), so the batch in
/// flight and all that stands before the job are requests of at most one job of each task: C.
/// At most `ceil((E - y) / z)` batches follow one with y requests. When the last is formed
/// and it is not the first, z requests have just been served, so at most E - z are queued;
/// those behind the job may be of new jobs.
///
/// # Assumptions
/// No batch takes longer than A and its costs; all requests of a job are released together.
///
/// # Complexity
/// O(n log n).
pub fn responses(system: &MixedSystem) -> Vec<Verdict> {
    vec![verdict(response_ns(system)); system.tasks.len()]
}

/// Whether the bound is within every deadline.
pub(crate) fn are_deadlines_met(system: &MixedSystem) -> bool {
    let is_within =
        |response: u64| system.tasks.iter().all(|mixed| response <= mixed.task.deadline.ns());
    response_ns(system).is_some_and(is_within)
}

/// What the batches hold that a job may have to wait for.
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

/// The same batches as such that a cost of C limits, which it never does: where they are cut at
/// all, without best effort and changes of direction.
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

/// By how much M exceeds C, if it does.
fn displaced_ns(system: &MixedSystem) -> u128 {
    let best_effort_ns = u128::from(system.best_effort_max.ns());
    let mut kinds: Vec<(u64, u64)> = system
        .tasks
        .iter()
        .map(|mixed| (mixed.request_max.ns(), u64::from(mixed.task.requests)))
        .collect();
    kinds.sort_unstable_by(|a, b| b.cmp(a));
    let (mut left, mut dearest_ns, mut own_ns) = (u64::from(system.best_effort_fill), 0, 0);
    for (cost_ns, requests) in kinds {
        let cost_ns = u128::from(cost_ns);
        let taken = requests.min(left);
        dearest_ns += u128::from(taken) * cost_ns.max(best_effort_ns);
        own_ns += u128::from(requests) * cost_ns;
        left -= taken;
    }
    dearest_ns += u128::from(left) * best_effort_ns;
    // Saturation is meant: where C is more, nothing is displaced.
    dearest_ns.saturating_sub(own_ns)
}

/// How often the batches change direction at most: between r reads and w writes twice the
/// smaller count, and that sum over several batches is largest for all of them together.
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

/// Some tasks of a workload with their costs, `sources` naming them; `None` where the workload
/// has no costs of its own.
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

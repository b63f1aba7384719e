// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One answer for a whole workload: which bounds hold, by which the verdict stands, and what
//! limits. `tidegate check` prints it, simulator and engine run by its plan. What other
//! policies would give and what else would fit is dearer and asked for apart.

use model::{BatchChoice, Duration, Intensity, Plan, PolicyName, Sending, Task, Workload};

use crate::batch_choice::{Choice, Order, Question};
use crate::bounds::{BoundName, Bounds, bound_of, edf_bounds, edf_responses, is_met, zip_bounds};
use crate::dqf::Demand;
use crate::fifo::BestEffortAhead;
use crate::heterogeneous::{self, MixedSystem};
use crate::regulated::{Regulated, too_many_units, unit_tasks};
use crate::{
    Inapplicable, SporadicTask, System, adaptive_drain, das, dqf, elastic, fifo, gated_drain, rtio,
    rtio_slots, shaping,
};

/// What may be promised to a workload under a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The policy in question.
    pub policy: PolicyName,
    /// z; for `noop` the drive's depth, for `fifo` 1.
    pub batch_max: u32,
    /// beta: batches may be filled up to so many requests with best effort; 0 without any.
    pub best_effort_fill: u32,
    /// How much best effort may be on the drive at once, for policies that limit it apart.
    pub best_effort_depth: u32,
    /// What the answer rests on beside the batch table, and what a reader must be warned of: a
    /// sentence each, without its full stop.
    pub assumptions: Vec<String>,
    /// The answer.
    pub answer: Answer,
    /// One entry for each task, in order.
    pub tasks: Vec<TaskAssessment>,
    /// What stands in the way of more; none where no bound applies or there is no task.
    pub limit: Option<Limit>,
}

/// The three answers; neither is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Every task has a bound within its deadline.
    Proven,
    /// Some task has none.
    NotProven,
    /// Nothing can be said of this policy.
    NotApplicable {
        /// Why not, a sentence without its full stop.
        reason: &'static str,
    },
}

/// What may be promised to one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskAssessment {
    /// The bounds that are valid for this policy and workload.
    pub bounds: Bounds,
    /// The least valid bound, and which it is.
    pub response_max: Option<(Duration, BoundName)>,
    /// Whether that is within the deadline.
    pub is_deadline_met: bool,
}

/// Bounds of one task under other policies; `None` also for the policy in question itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comparison {
    /// First in, first out, one at a time, best effort in the same queue.
    pub fifo: Option<Duration>,
    /// Earliest deadline first, one at a time, best effort behind it.
    pub edf: Option<Duration>,
    /// Dual-queue FIFO with the batch size that suits it best.
    pub dqf: Option<Duration>,
}

/// What stands in the way of more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The task with the least share of its deadline left.
    Margin {
        /// Index of the task.
        task: usize,
    },
    /// The task whose bound exceeds its deadline by the largest share.
    Deadline {
        /// Index of the task.
        task: usize,
    },
    /// More requests come in the long run than the device serves in full batches.
    Capacity,
    /// The task for which the analysis gave up before it found a bound.
    NoBound {
        /// Index of the task.
        task: usize,
    },
}

impl Assessment {
    /// The parameters for simulator and engine that this assessment speaks of.
    pub fn plan(&self, workload: &Workload) -> Plan {
        Plan {
            batch_max: self.batch_max.min(workload.table.batch_max()),
            best_effort_fill: self.best_effort_fill,
            best_effort_depth: self.best_effort_depth,
            ..Plan::of(workload)
        }
    }
}

/// Assesses a workload under a policy, with the batch size that the workload asks for.
///
/// # Complexity
/// For a given z about as [`dqf::tight`], times the logarithm of beta; `auto` tries each z
/// of the table.
///
/// # Panics
/// When a fixed batch size exceeds the table, which `WorkloadFile::bind` refuses.
pub fn assess(workload: &Workload, policy: PolicyName) -> Assessment {
    if let Some(reason) = too_many_units(workload) {
        return not_applicable(workload, policy, reason);
    }
    if let Some(regulated) = Regulated::of(workload) {
        return regulated.conclude(assess(&regulated.workload, policy));
    }
    if let Some(reason) = shaping::objection(workload, policy) {
        return not_applicable(workload, policy, reason);
    }
    match policy {
        PolicyName::Noop => not_applicable(
            workload,
            policy,
            "noop keeps sending while the drive is busy, so the drive may serve newer requests \
             first for as long as they come, and b(i) says nothing about that",
        ),
        PolicyName::Fifo => {
            let bounds = fifo_bounds(workload, &sporadic(&workload.tasks));
            conclude(workload, policy, Choice::of_batches(1, 0, bounds))
        }
        PolicyName::Sstf | PolicyName::Scan | PolicyName::CLook | PolicyName::Satf => {
            not_applicable(workload, policy, by_position_reason(policy))
        }
        PolicyName::Das => {
            let bounds = das_bounds(workload, &sporadic(&workload.tasks));
            let assumptions = vec![das::assumption(workload.parameters.das.margin)];
            let choice = Choice { assumptions, ..Choice::of_batches(1, 0, bounds) };
            conclude(workload, policy, choice)
        }
        PolicyName::Edf | PolicyName::ScanEdf => {
            let system = single(workload, &sporadic(&workload.tasks));
            let bounds = edf_bounds(&system, is_shared(workload));
            conclude(workload, policy, Choice::of_batches(1, 0, bounds))
        }
        PolicyName::GroupEdf => not_applicable(
            workload,
            policy,
            "g-edf lets later deadlines of a group go first as long as they are smaller or nearer, \
             and nobody has proved how long that may go on",
        ),
        PolicyName::DqEdf => {
            let tasks = sporadic(&workload.tasks);
            let question = question(workload, &tasks, None, workload.batch, Order::Due);
            conclude(workload, policy, question.choose())
        }
        PolicyName::Dqf => {
            let tasks = sporadic(&workload.tasks);
            let mixed = mixed(workload, &tasks);
            let question =
                question(workload, &tasks, mixed.as_ref(), workload.batch, Order::Release);
            conclude(workload, policy, question.choose())
        }
        PolicyName::Rtio
        | PolicyName::RtioDrain
        | PolicyName::RtioLimit
        | PolicyName::RtioPriority => assess_rtio(workload, policy),
        PolicyName::DqfElastic => {
            let tasks = sporadic(&workload.tasks);
            let mixed = mixed(workload, &tasks);
            let order = Order::Release;
            let question = question(workload, &tasks, mixed.as_ref(), workload.batch, order);
            conclude(workload, policy, elastic::of_dqf(workload, question.choose()))
        }
        PolicyName::Deadline => not_applicable(
            workload,
            policy,
            "deadline says when a request is sent, not when it is served: the drive stays full, \
             best effort ahead in the same queue",
        ),
        PolicyName::Cfq => not_applicable(
            workload,
            policy,
            "cfq is a model of heuristics: time slices of other sources, idling, and a drive that \
             others have filled; nobody has bounded it",
        ),
        PolicyName::CfqGrouped => not_applicable(
            workload,
            policy,
            "cfq-grouped keeps sending best effort while a real-time request waits on the drive, \
             so the drive may serve it last for as long as more comes",
        ),
        PolicyName::MqDeadline => not_applicable(
            workload,
            policy,
            "mq-deadline is a model: it drains the drive for its highest class, unless a lower \
             one has waited for 10 s, and nobody has bounded that",
        ),
        PolicyName::BfqStrict => not_applicable(
            workload,
            policy,
            "bfq-strict is a model: it guarantees shares of the drive, of which no bound on \
             response times is derived here",
        ),
        PolicyName::RtioSlots => rtio_slots::assess(workload),
        PolicyName::AdaptiveDrain | PolicyName::GatedDrain => {
            let tasks = sporadic(&workload.tasks);
            let choice = match policy {
                PolicyName::AdaptiveDrain => adaptive_drain::choose(workload, &tasks),
                _ => gated_drain::choose(workload, &tasks),
            };
            match choice {
                Ok(choice) => conclude(workload, policy, choice),
                Err(reason) => not_applicable(workload, policy, reason),
            }
        }
        PolicyName::TokenBucket | PolicyName::Mdn | PolicyName::MdnExtended => not_applicable(
            workload,
            policy,
            "shaping best effort leaves the rest to noop, of which nothing can be promised; wrap \
             it round a policy with a bound instead: regulators = [..]",
        ),
        _ => not_applicable(workload, policy, "nothing is known of this policy"),
    }
}

/// What policies other than `policy` would give each task.
///
/// # Complexity
/// As [`assess`] of each of them.
pub fn compare(workload: &Workload, policy: PolicyName) -> Vec<Comparison> {
    if too_many_units(workload).is_some() {
        return vec![Comparison::default(); workload.tasks.len()];
    }
    if let Some(regulated) = Regulated::of(workload) {
        return regulated.conclude_comparison(&compare(&regulated.workload, policy));
    }
    let tasks = sporadic(&workload.tasks);
    // By the same bound, `scan-edf` promises what `edf` does.
    let is_edf = matches!(policy, PolicyName::Edf | PolicyName::ScanEdf);
    let edf = (!is_edf).then(|| edf_responses(&single(workload, &tasks), is_shared(workload)));
    let fifo = (policy != PolicyName::Fifo).then(|| {
        let ahead = best_effort_ahead(workload);
        fifo::responses_with_best_effort(&single(workload, &tasks), &ahead)
    });
    let mixed = mixed(workload, &tasks);
    let dqf = (policy != PolicyName::Dqf)
        .then(|| question(workload, &tasks, mixed.as_ref(), BatchChoice::Auto, Order::Release))
        .map(|question| question.choose().bounds);
    let comparison = |task: usize| Comparison {
        fifo: fifo.as_ref().and_then(|fifo| bound_of(fifo, task)),
        edf: edf.as_ref().and_then(|edf| bound_of(edf, task)),
        dqf: dqf.as_ref().and_then(|dqf| dqf[task].least()).map(|(bound, _)| bound),
    };
    (0..tasks.len()).map(comparison).collect()
}

/// Whether `policy` proves these tasks on the workload's drive beside its best effort;
/// `sources` says which task of the workload each of them is like.
pub(crate) fn is_provable(
    workload: &Workload,
    policy: PolicyName,
    tasks: &[SporadicTask],
    sources: &[usize],
) -> bool {
    if let Some(regulated) = Regulated::of(workload) {
        let sources = regulated.unit_sources(workload, tasks, sources);
        return is_provable(&regulated.workload, policy, &unit_tasks(workload, tasks), &sources);
    }
    if shaping::objection(workload, policy).is_some() {
        return false;
    }
    match policy {
        PolicyName::Fifo => {
            let bounds = fifo_bounds(workload, tasks);
            tasks.iter().zip(&bounds).all(|(task, bounds)| is_met(task, bounds))
        }
        PolicyName::Das => {
            let bounds = das_bounds(workload, tasks);
            tasks.iter().zip(&bounds).all(|(task, bounds)| is_met(task, bounds))
        }
        PolicyName::Edf | PolicyName::ScanEdf => {
            let bounds = edf_bounds(&single(workload, tasks), is_shared(workload));
            tasks.iter().zip(&bounds).all(|(task, bounds)| is_met(task, bounds))
        }
        PolicyName::DqEdf => {
            question(workload, tasks, None, workload.batch, Order::Due).is_provable()
        }
        // Proven deadlines exclude the overload in which `dqf-elastic` would differ.
        PolicyName::Dqf | PolicyName::DqfElastic => {
            let mixed = heterogeneous::system_of(workload, sources, tasks);
            let order = Order::Release;
            question(workload, tasks, mixed.as_ref(), workload.batch, order).is_provable()
        }
        PolicyName::Rtio
        | PolicyName::RtioDrain
        | PolicyName::RtioLimit
        | PolicyName::RtioPriority => rtio::choose(workload, policy, tasks)
            .is_ok_and(|choice| tasks.iter().zip(&choice.bounds).all(|(t, b)| is_met(t, b))),
        PolicyName::AdaptiveDrain => adaptive_drain::is_provable(workload, tasks),
        PolicyName::GatedDrain => gated_drain::is_provable(workload, tasks),
        _ => false,
    }
}

/// The RTIO family, by the contract of the drive that each policy rests on.
fn assess_rtio(workload: &Workload, policy: PolicyName) -> Assessment {
    let tasks = sporadic(&workload.tasks);
    match rtio::choose(workload, policy, &tasks) {
        Ok(choice) => conclude(workload, policy, choice),
        Err(reason) => Assessment {
            best_effort_depth: rtio::depth_beside(workload, &tasks),
            ..not_applicable(workload, policy, reason)
        },
    }
}

fn question<'a>(
    workload: &'a Workload,
    tasks: &'a [SporadicTask],
    mixed: Option<&'a MixedSystem>,
    batch: BatchChoice,
    order: Order,
) -> Question<'a> {
    let is_shared = is_shared(workload);
    Question { tasks, table: &workload.table, order, batch, is_shared, mixed }
}

/// All tasks of a workload with their own costs, where requests differ.
fn mixed(workload: &Workload, tasks: &[SporadicTask]) -> Option<MixedSystem> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    heterogeneous::system_of(workload, &all, tasks)
}

/// Whether there is best effort beside the tasks.
fn is_shared(workload: &Workload) -> bool {
    !workload.best_effort.is_empty()
}

/// A policy of which nothing can be promised, and why: a sentence without its full stop.
pub(crate) fn not_applicable(
    workload: &Workload,
    policy: PolicyName,
    reason: &'static str,
) -> Assessment {
    let task =
        TaskAssessment { bounds: Bounds::default(), response_max: None, is_deadline_met: false };
    Assessment {
        policy,
        batch_max: workload.depth,
        best_effort_fill: 0,
        best_effort_depth: workload.depth,
        assumptions: Vec::new(),
        answer: Answer::NotApplicable { reason },
        tasks: vec![task; workload.tasks.len()],
        limit: None,
    }
}

/// Puts the answer together once batch size and bounds are known.
fn conclude(workload: &Workload, policy: PolicyName, choice: Choice) -> Assessment {
    let tasks = sporadic(&workload.tasks);
    let bounds = shaping::while_in_rhythm(&workload.tasks, &tasks, choice.bounds);
    let assumptions = choice.assumptions.into_iter().chain(shaping::note(workload)).collect();
    let assessed = tasks.iter().zip(bounds).map(|(task, bounds)| TaskAssessment {
        bounds,
        response_max: bounds.least(),
        is_deadline_met: is_met(task, &bounds),
    });
    let assessed: Vec<TaskAssessment> = assessed.collect();
    let is_proven = assessed.iter().all(|task| task.is_deadline_met);
    let full_batch_ns = workload.table.time_max(choice.batch_max).ns();
    // Capacity is that of full batches: where there are none, it stands in nobody's way.
    let is_within_capacity = policy.sending() == Sending::BestEffortDepth
        || Demand::new(&tasks).is_within_capacity(choice.batch_max, full_batch_ns);
    Assessment {
        policy,
        batch_max: choice.batch_max,
        best_effort_fill: choice.best_effort_fill,
        best_effort_depth: choice.best_effort_depth.unwrap_or(workload.depth),
        assumptions,
        answer: if is_proven { Answer::Proven } else { Answer::NotProven },
        limit: if is_within_capacity || is_proven {
            limit(&tasks, &assessed)
        } else {
            Some(Limit::Capacity)
        },
        tasks: assessed,
    }
}

/// The task that stands closest to its deadline, or furthest beyond it.
fn limit(tasks: &[SporadicTask], assessed: &[TaskAssessment]) -> Option<Limit> {
    // The bound as a share of the deadline, in parts per billion, rounded up.
    let share = |index: usize| {
        let deadline = u128::from(tasks[index].deadline.ns());
        assessed[index].response_max.map_or(u128::MAX, |(response, _)| {
            (u128::from(response.ns()) * 1_000_000_000).div_ceil(deadline)
        })
    };
    let task = (0..tasks.len()).max_by_key(|&index| (share(index), usize::MAX - index))?;
    Some(match assessed[task] {
        TaskAssessment { response_max: None, .. } => Limit::NoBound { task },
        TaskAssessment { is_deadline_met: true, .. } => Limit::Margin { task },
        TaskAssessment { .. } => Limit::Deadline { task },
    })
}

/// The tasks as the analyses see them.
pub(crate) fn sporadic(tasks: &[Task]) -> Vec<SporadicTask> {
    let sporadic = |task: &Task| SporadicTask {
        period: task.period,
        requests: task.requests,
        deadline: shaping::response_limit(task),
    };
    tasks.iter().map(sporadic).collect()
}

/// The tasks with one request on the device at a time.
fn single(workload: &Workload, tasks: &[SporadicTask]) -> System {
    let table = workload.table.clone();
    System { tasks: tasks.to_vec(), table, batch_max: 1, best_effort_fill: 0 }
}

/// All bounds of one-at-a-time FIFO: without best effort it is dual-queue FIFO with z = 1.
fn fifo_bounds(workload: &Workload, tasks: &[SporadicTask]) -> Vec<Bounds> {
    let system = single(workload, tasks);
    let tight = fifo::responses_with_best_effort(&system, &best_effort_ahead(workload));
    if workload.best_effort.is_empty() {
        let [linear, busy_interval, min_period] =
            [dqf::linear(&system), dqf::busy_interval(&system), dqf::min_period(&system)];
        return zip_bounds(tasks.len(), [linear, busy_interval, min_period, tight]);
    }
    let shared = Err(Inapplicable::BestEffortAboard);
    zip_bounds(tasks.len(), [shared.clone(), shared.clone(), shared, tight])
}

/// Why a policy that orders by position has no bound.
fn by_position_reason(policy: PolicyName) -> &'static str {
    match policy {
        PolicyName::Satf => {
            "satf serves what is reached first, so a request far from the heads waits for as long \
             as nearer ones come; das keeps deadlines with the same knowledge"
        }
        PolicyName::Sstf => {
            "sstf serves what is nearest to the heads, so a request far away waits for as long as \
             nearer ones come"
        }
        _ => {
            "requests that come at the position of the heads are served before those ahead of \
             them, for as long as they come, and no deadline changes the order"
        }
    }
}

/// The bound of the dynamic active subset.
fn das_bounds(workload: &Workload, tasks: &[SporadicTask]) -> Vec<Bounds> {
    let tight = das::responses(&single(workload, tasks));
    let verdicts =
        tight.iter().map(|verdict| Bounds { tight: verdict.bound(), ..Bounds::default() });
    verdicts.collect()
}

fn best_effort_ahead(workload: &Workload) -> BestEffortAhead {
    let mut ahead = BestEffortAhead::default();
    for load in &workload.best_effort {
        match load.intensity {
            // One that is paced has no more ahead of a task than its buffers hold.
            Intensity::Outstanding(outstanding) | Intensity::Paced { outstanding, .. } => {
                ahead.outstanding += u64::from(outstanding);
            }
            Intensity::Rate(rate) => {
                // Rounded down, so more load than there is; never a gap of nothing.
                let period = rate.transfer_time_floor(load.size).max(Duration::from_ns(1));
                ahead.open_loops.push(SporadicTask { period, requests: 1, deadline: period });
            }
        }
    }
    ahead
}

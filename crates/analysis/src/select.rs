// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Selects a policy's theorem and returns its bounds and the best effort that they allow. The
//! policy's row of facts names the theorem; a policy whose row names none gets no bound. The
//! analyses are in separate files; this file gives them their inputs.

use tidegate_model::{
    ActiveSubset, BatchChoice, Duration, Knowledge, PolicyName, Task, Theorem, UnprovedDepth,
    Workload,
};

use crate::batch_choice::{Choice, Order, Question};
use crate::bounds::{Bounds, bound_of, common_bounds, edf_bounds, is_met};
use crate::budget::Budget;
use crate::depth_cap::fill_limit;
use crate::dqf::Caps;
use crate::fifo::BestEffortAhead;
use crate::heterogeneous::{self, MixedSystem};
use crate::regulated::{self, Regulated, unit_tasks};
use crate::shaping::{self, sporadic};
use crate::system::{is_shared, single};
use crate::{
    SporadicTask, Tasks, adaptive_drain, cost_limited, das, deferred, edf, edf_in_windows, elastic,
    fifo, gated_drain, rtio, rtio_slots, strict_classes,
};

/// Returns the theorem that bounds the policy with the workload's parameters, or the reason for
/// none.
pub(crate) fn theorem(workload: &Workload, policy: PolicyName) -> Result<Theorem, &'static str> {
    let has_windows = !workload.parameters.scan_edf.window.is_zero();
    Ok(match policy.facts().theorem? {
        // With a width of zero only equal deadlines share a window, and the bound of `edf` holds
        // for any order of these.
        Theorem::EdfInWindows if !has_windows => Theorem::Edf,
        theorem @ (Theorem::Fifo
        | Theorem::Edf
        | Theorem::EdfInWindows
        | Theorem::ActiveSubset
        | Theorem::DualQueue
        | Theorem::ElasticDualQueue
        | Theorem::DualQueueEdf
        | Theorem::Starvation
        | Theorem::DrainRounds
        | Theorem::LimitedDrainRounds
        | Theorem::PriorityRounds
        | Theorem::AdaptiveDrain
        | Theorem::GatedDrain
        | Theorem::StrictClasses) => theorem,
    })
}

/// Returns whether the same theorem bounds both policies with the workload's parameters.
pub fn shares_bounds(workload: &Workload, policy: PolicyName, other: PolicyName) -> bool {
    let [own, others] = [policy, other].map(|policy| theorem(workload, policy));
    policy == other || (own.is_ok() && own == others)
}

/// Returns the reason why no analysis applies to this workload under the policy, whatever its tasks
/// are.
pub(crate) fn objection(workload: &Workload, policy: PolicyName) -> Option<&'static str> {
    // A closed loop has no period, so no proof covers it or the tasks beside it.
    if policy.facts().theorem.is_ok() && workload.tasks.iter().any(Task::is_closed_loop) {
        return Some(
            "a [[task]] without a `period` sends its next request when it has an answer, so nothing \
             limits its load, and no proof covers such a task or those beside it; give it the \
             `period` that its program keeps, or make it a [[best_effort]] with `outstanding`",
        );
    }
    shaping::objection(workload, policy).or_else(|| {
        // If the policy has no bound for any workload, that is the better reason to report.
        let theorem = policy.facts().theorem.ok()?;
        deferred::objection(workload, theorem).or_else(|| passed_on_late(workload, theorem))
    })
}

/// Returns the reason why no bound by this theorem holds behind the workload's host: predictions
/// are for the instant of a decision, with the drive as the policy sees it then
/// (`docs/theory/host-time.md` section 30). All other theorems hold if host and drive together
/// count as one slower drive.
fn passed_on_late(workload: &Workload, theorem: Theorem) -> Option<&'static str> {
    let predicts = match theorem.facts().needs {
        Knowledge::AccessTimes => true,
        Knowledge::Nothing | Knowledge::DrainTimes => false,
    };
    let is_late = predicts && !workload.host.time().of_batch().is_zero();
    is_late.then_some(
        "the policy predicts the service time of a request that the drive gets at once, and [host] \
         states that the host may pass it on later, or see its completion later, when the heads are \
         elsewhere; choose another policy",
    )
}

/// Chooses the policy's parameters and returns them with the bounds of these tasks. The error says
/// why nothing can be promised, as a sentence without its full stop.
pub(crate) fn choose(
    workload: &Workload,
    policy: PolicyName,
    tasks: &Tasks,
) -> Result<Choice, &'static str> {
    Ok(match theorem(workload, policy)? {
        Theorem::Fifo => Choice::of_batches(1, 0, fifo_bounds(workload, tasks)),
        Theorem::Edf => {
            let bounds = edf_bounds(&single(workload, tasks), is_shared(workload));
            Choice::of_batches(1, 0, bounds)
        }
        Theorem::EdfInWindows => edf_in_windows::choose(workload, tasks)?,
        Theorem::ActiveSubset => by_active_subset(workload, tasks)?,
        Theorem::DualQueueEdf => {
            question(workload, tasks, None, workload.batch, Order::Due).choose()
        }
        Theorem::DualQueue => {
            cost_limited::choose(workload, tasks).unwrap_or_else(|| of_dqf(workload, tasks))
        }
        Theorem::ElasticDualQueue => elastic::of_dqf(workload, of_dqf(workload, tasks)),
        Theorem::Starvation => rtio::Question::of(workload, policy, tasks)?.by_starvation()?,
        Theorem::DrainRounds => rtio::Question::of(workload, policy, tasks)?.by_drain()?,
        Theorem::LimitedDrainRounds => {
            rtio::Question::of(workload, policy, tasks)?.by_limited_drain()?
        }
        Theorem::PriorityRounds => rtio::Question::of(workload, policy, tasks)?.by_priority()?,
        Theorem::AdaptiveDrain => adaptive_drain::choose(workload, tasks)?,
        Theorem::GatedDrain => gated_drain::choose(workload, tasks)?,
        Theorem::StrictClasses => strict_classes::choose(workload, tasks)?,
    })
}

/// Returns the best-effort depth of a policy that promises nothing.
pub(crate) fn depth_without_bound(workload: &Workload, policy: PolicyName) -> u32 {
    match policy.facts().unproved_depth {
        UnprovedDepth::Drive => workload.depth,
        UnprovedDepth::BesideTasks => rtio::depth_beside(workload, &sporadic(&workload.tasks)),
        UnprovedDepth::WithinDeadlines => rtio_slots::best_effort_depth(workload),
        UnprovedDepth::Stated => {
            let stated = workload.parameters.mq_deadline_tuned.queue_depth;
            stated.map_or(workload.depth, |depth| depth.get().min(workload.depth))
        }
    }
}

/// Returns whether `policy` proves these tasks on the workload's drive together with its best
/// effort. `sources` gives, for each task, the index of the workload's task that it copies.
pub(crate) fn is_provable(
    workload: &Workload,
    policy: PolicyName,
    tasks: &Tasks,
    sources: &[usize],
) -> bool {
    if regulated::objection(workload).is_some() || workload.premises.void().is_some() {
        return false;
    }
    if let Some(regulated) = Regulated::of(workload) {
        let sources = regulated.unit_sources(workload, tasks, sources);
        return is_provable(&regulated.workload, policy, &unit_tasks(workload, tasks), &sources);
    }
    if objection(workload, policy).is_some() {
        return false;
    }
    let Ok(theorem) = theorem(workload, policy) else { return false };
    let is_in_batches = |order: Order| {
        let mixed = match order {
            Order::Due => None,
            Order::Release => heterogeneous::system_of(workload, sources, tasks),
        };
        question(workload, tasks, mixed.as_ref(), workload.batch, order).is_provable()
    };
    match theorem {
        Theorem::DualQueueEdf => is_in_batches(Order::Due),
        Theorem::DualQueue => cost_limited::is_provable(workload, tasks, sources)
            .unwrap_or_else(|| is_in_batches(Order::Release)),
        // Proven deadlines exclude the overload in which batches grow.
        Theorem::ElasticDualQueue => is_in_batches(Order::Release),
        Theorem::GatedDrain => gated_drain::is_provable(workload, tasks),
        Theorem::Edf => {
            let budget = Budget::of_tasks(tasks.len());
            edf::is_provable(&single(workload, tasks), is_shared(workload), &budget)
        }
        Theorem::EdfInWindows => {
            edf_in_windows::are_deadlines_met(workload, tasks, &Budget::of_tasks(tasks.len()))
        }
        Theorem::Fifo
        | Theorem::ActiveSubset
        | Theorem::Starvation
        | Theorem::DrainRounds
        | Theorem::LimitedDrainRounds
        | Theorem::PriorityRounds
        | Theorem::AdaptiveDrain
        | Theorem::StrictClasses => choose(workload, policy, tasks).is_ok_and(|choice| {
            let is_void = choice.premises.void().is_some();
            !is_void && tasks.iter().zip(&choice.bounds).all(|(t, b)| is_met(t, b))
        }),
    }
}

fn of_dqf(workload: &Workload, tasks: &Tasks) -> Choice {
    let mixed = mixed(workload, tasks);
    question(workload, tasks, mixed.as_ref(), workload.batch, Order::Release).choose()
}

/// Returns the input to the choice of z and beta.
pub(crate) fn question<'a>(
    workload: &'a Workload,
    tasks: &'a Tasks,
    mixed: Option<&'a MixedSystem>,
    batch: BatchChoice,
    order: Order,
) -> Question<'a> {
    let is_shared = is_shared(workload);
    let budget = Budget::of_tasks(tasks.len());
    let fill_max = fill_limit(workload, tasks);
    Question { tasks, table: &workload.table, order, batch, is_shared, fill_max, mixed, budget }
}

/// Returns all tasks of a workload with their own costs, if requests differ.
pub(crate) fn mixed(workload: &Workload, tasks: &Tasks) -> Option<MixedSystem> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    heterogeneous::system_of(workload, &all, tasks)
}

/// Returns all bounds of one-at-a-time FIFO: without best effort it is dual-queue FIFO with z = 1.
pub(crate) fn fifo_bounds(workload: &Workload, tasks: &Tasks) -> Vec<Bounds> {
    let system = single(workload, tasks);
    let tight = fifo::responses_with_best_effort(&system, &best_effort_ahead(workload));
    let common = if is_shared(workload) {
        Bounds::default()
    } else {
        common_bounds(&system, &Caps::of(&system), false)
    };
    (0..tasks.len()).map(|task| Bounds { tight: bound_of(&tight, task), ..common }).collect()
}

/// Returns whether one-at-a-time FIFO bounds every task within its deadline.
pub(crate) fn fifo_proves(workload: &Workload, tasks: &Tasks) -> bool {
    let system = single(workload, tasks);
    let ahead = best_effort_ahead(workload);
    let shortest = tasks.iter().map(|task| task.deadline).min();
    let is_possible =
        shortest.is_none_or(|deadline| !fifo::exceeds_at_once(&system, &ahead, deadline));
    let are_met = |bounds: &[Bounds]| tasks.iter().zip(bounds).all(|(t, b)| is_met(t, b));
    is_possible && are_met(&fifo_bounds(workload, tasks))
}

/// Returns the choice for the dynamic active subset; nothing is promised if service times cannot be
/// predicted, or if the error of the predictions is unknown.
fn by_active_subset(workload: &Workload, tasks: &Tasks) -> Result<Choice, &'static str> {
    let times = das::times(workload)?;
    Ok(Choice {
        premises: [das::premise(times.margin)].into_iter().collect(),
        ..Choice::of_batches(1, 0, das_bounds(times, tasks))
    })
}

/// Returns the bound of the dynamic active subset.
fn das_bounds(times: ActiveSubset, tasks: &Tasks) -> Vec<Bounds> {
    let tight = das::responses(tasks, times.service_max);
    let verdicts =
        tight.iter().map(|verdict| Bounds { tight: verdict.bound(), ..Bounds::default() });
    verdicts.collect()
}

/// Returns the best effort that may be ahead of a task in the one queue of `fifo`.
pub(crate) fn best_effort_ahead(workload: &Workload) -> BestEffortAhead {
    let mut ahead = BestEffortAhead::default();
    for load in &workload.best_effort {
        // A load with a limited number of outstanding requests has at most these ahead of a task.
        if let Some(most) = load.intensity.requests_max() {
            ahead.outstanding = ahead.outstanding.saturating_add(most);
        } else if let Some(gap) = load.intensity.period(load.size) {
            // The requests pass the host like those of tasks, so jitter shortens the gaps. A gap
            // within the jitter becomes 1 ns, a load that no drive serves.
            let seen = gap.checked_sub(workload.host.time().release).unwrap_or_default();
            let period = seen.max(Duration::from_ns(1));
            let requests = load.intensity.requests();
            ahead.open_loops.push(SporadicTask { period, requests, deadline: period });
        }
    }
    ahead
}

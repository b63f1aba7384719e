// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds a workload with `batch_cost` and chooses its best-effort fill.
//!
//! The workload gives Z. z is the requested size, limited by the drive, the tables and the costs. F
//! is the largest fill that invalidates no proof. It is either 0 or enough for the costliest
//! best-effort request, which would otherwise wait forever at the head of its queue.

use tidegate_model::{
    BatchChoice, BatchCost, Duration, Premise, PremiseCode, RequestCharges, Workload,
};

use super::system::CostLimitedSystem;
use super::{Solution, solve};
use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::Bounds;
use crate::depth_cap::fill_limit;
use crate::mixed_task::MixedTask;
use crate::search::largest;

/// The input to a choice: a workload's tasks in batches limited by cost, before F is chosen.
struct Question {
    system: CostLimitedSystem,
    charges: RequestCharges,
    /// The largest cost of a best-effort request; `None` without best effort.
    best_effort_max: Option<Duration>,
}

impl Question {
    /// Returns the question for these tasks; `None` if the workload has no `batch_cost` or its
    /// requests have no costs.
    fn of(workload: &Workload, tasks: &[SporadicTask], sources: &[usize]) -> Option<Self> {
        let cost_max = workload.parameters.dqf.batch_cost?;
        let charges = RequestCharges::of_workload(workload)?;
        let with_cost = |(&source, &task): (&usize, &SporadicTask)| {
            let kind = &workload.tasks[source];
            let request_max = charges.of_request(kind.op, kind.size)?;
            Some(MixedTask { task, request_max, op: kind.op })
        };
        let loads = workload.best_effort.iter();
        let of_loads = loads.map(|load| charges.of_request(load.op, load.size));
        let best_effort = of_loads.collect::<Option<Vec<_>>>()?;
        let system = CostLimitedSystem {
            tasks: sources.iter().zip(tasks).map(with_cost).collect::<Option<Vec<_>>>()?,
            positioning_max: charges.positioning_max,
            batch_max: count_max(workload),
            cost_max,
            best_effort_fill: Duration::ZERO,
        };
        Some(Self { system, charges, best_effort_max: best_effort.into_iter().max() })
    }

    fn with_fill(&self, best_effort_fill: Duration) -> CostLimitedSystem {
        CostLimitedSystem { best_effort_fill, ..self.system.clone() }
    }

    /// Returns the number of tasks that meet their deadlines with this best-effort fill.
    fn proven_count(&self, best_effort_fill: Duration) -> usize {
        let Some(solution) = solve(&self.with_fill(best_effort_fill)) else { return 0 };
        let tasks = self.system.tasks.iter();
        tasks.filter(|mixed| solution.response_ns <= mixed.task.deadline.ns()).count()
    }

    /// Returns the largest F that invalidates no proof; bounds grow with F.
    fn largest_fill(&self) -> Duration {
        let Some(least) = self.best_effort_max else { return Duration::ZERO };
        let proven_count = self.proven_count(Duration::ZERO);
        let is_unproved = proven_count == 0 && !self.system.tasks.is_empty();
        let fits = |ns: u64| self.proven_count(Duration::from_ns(ns)) == proven_count;
        if is_unproved || !fits(least.ns()) {
            return Duration::ZERO;
        }
        // No batch can cost more than z of the costliest requests.
        let costliest = self.system.tasks.iter().map(|mixed| mixed.request_max);
        let costliest = costliest.fold(least, Duration::max);
        let all_ns = costliest.ns().saturating_mul(u64::from(self.system.batch_max));
        let most_ns = self.system.cost_max.ns().min(all_ns);
        Duration::from_ns(largest(least.ns()..=most_ns, fits))
    }
}

/// Returns z, at most the size that the drive, the tables and the costs cover.
fn count_max(workload: &Workload) -> u32 {
    let known_max = workload.contracts.costs.as_ref().and_then(|costs| costs.batch_max);
    let count_max = workload.depth.min(workload.table.batch_max());
    let count_max = known_max.map_or(count_max, |known_max| known_max.min(count_max));
    match workload.batch {
        BatchChoice::Auto => count_max,
        BatchChoice::Fixed(batch_max) => batch_max.min(count_max),
    }
}

/// Returns F and the bounds that follow; `None` if the workload does not limit batches by cost.
pub(crate) fn choose(workload: &Workload, tasks: &[SporadicTask]) -> Option<Choice> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let question = Question::of(workload, tasks, &all)?;
    let best_effort_fill = question.largest_fill();
    let system = question.with_fill(best_effort_fill);
    let solution = solve(&system);
    let response = solution.as_ref().map(|found| Duration::from_ns(found.response_ns));
    let bounds = vec![Bounds { mixed: response, ..Bounds::default() }; tasks.len()];
    // By count, best effort may fill a batch up to z, or up to the file's limit if that is smaller;
    // F limits it by cost.
    let fill_max = fill_limit(workload, tasks).min(system.batch_max);
    let fill_count = if best_effort_fill.is_zero() { 0 } else { fill_max };
    Some(Choice {
        batch_cost: Some(BatchCost {
            cost_max: system.cost_max,
            best_effort_fill,
            charges: question.charges.clone(),
        }),
        premises: solution.iter().map(premise).collect(),
        ..Choice::of_batches(system.batch_max, fill_count, bounds)
    })
}

/// Returns whether every deadline is met in batches of at most `batch_max` requests within `limit`,
/// on a drive that takes `positioning_max` in addition to the requests' charges.
pub(crate) fn holds_at(
    workload: &Workload,
    tasks: &[SporadicTask],
    batch_max: u32,
    limit: &BatchCost,
    positioning_max: Duration,
) -> bool {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let Some(mut question) = Question::of(workload, tasks, &all) else { return false };
    let cost_max = limit.cost_max;
    question.system = CostLimitedSystem { positioning_max, batch_max, cost_max, ..question.system };
    question.proven_count(limit.best_effort_fill) == tasks.len()
}

/// Returns the limit for a workload without a proof: best effort may fill the rest of each batch.
pub(crate) fn unproved(workload: &Workload) -> Option<BatchCost> {
    let cost_max = workload.parameters.dqf.batch_cost?;
    let is_shared = !workload.best_effort.is_empty();
    let best_effort_fill = if is_shared { cost_max } else { Duration::ZERO };
    Some(BatchCost { cost_max, best_effort_fill, charges: RequestCharges::of_workload(workload)? })
}

/// Returns whether every deadline is met without best effort; `None` if the workload does not limit
/// batches by cost. `sources` gives, for each task, the index of the workload's task that it
/// copies.
pub(crate) fn is_provable(
    workload: &Workload,
    tasks: &[SporadicTask],
    sources: &[usize],
) -> Option<bool> {
    let question = Question::of(workload, tasks, sources)?;
    Some(question.proven_count(Duration::ZERO) == tasks.len())
}

/// Returns the premise that describes the bound.
fn premise(solution: &Solution) -> Premise {
    let batches = match solution.batches {
        1 => "its own batch only".to_owned(),
        more => format!("at most {more} batches, its own included"),
    };
    let text = format!(
        "batches are limited by batch_cost: `mixed` is the bound for such batches, and a job waits \
         for {batches}; bounds by count do not hold for them"
    );
    Premise::new(PremiseCode::CostLimitedBatches, "batches limited by cost", text)
}

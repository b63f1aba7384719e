// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload with `batch_cost`: its bounds, and how much best effort they leave room for.
//!
//! Z is the workload's; z is as large as drive, tables and costs allow, or as asked for; F is the
//! largest that costs no proof, and either nothing or enough for the dearest request of best
//! effort, which would otherwise wait for ever at the head of its queue.

use tidegate_model::{BatchChoice, BatchCost, Duration, RequestCharges, Workload};

use super::{CostLimitedSystem, Solution, solve};
use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::Bounds;
use crate::heterogeneous::MixedTask;

/// Some tasks of a workload in batches limited by cost, before F is chosen.
struct Question {
    system: CostLimitedSystem,
    charges: RequestCharges,
    /// The dearest request of best effort; none where there is no best effort.
    best_effort_max: Option<Duration>,
}

impl Question {
    /// None where the workload does not ask for it, or its requests have no costs.
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

    /// How many tasks meet their deadlines beside that much best effort.
    fn proven_count(&self, best_effort_fill: Duration) -> usize {
        let Some(solution) = solve(&self.with_fill(best_effort_fill)) else { return 0 };
        let tasks = self.system.tasks.iter();
        tasks.filter(|mixed| solution.response_ns <= mixed.task.deadline.ns()).count()
    }

    /// The largest F that costs no proof; bounds grow with it.
    fn largest_fill(&self) -> Duration {
        let Some(least) = self.best_effort_max else { return Duration::ZERO };
        let proven_count = self.proven_count(Duration::ZERO);
        let is_unproved = proven_count == 0 && !self.system.tasks.is_empty();
        let fits = |ns: u64| self.proven_count(Duration::from_ns(ns)) == proven_count;
        if is_unproved || !fits(least.ns()) {
            return Duration::ZERO;
        }
        // A batch of z of the dearest is all that there can be.
        let dearest = self.system.tasks.iter().map(|mixed| mixed.request_max);
        let dearest = dearest.fold(least, Duration::max);
        let all_ns = dearest.ns().saturating_mul(u64::from(self.system.batch_max));
        let most_ns = self.system.cost_max.ns().min(all_ns);
        let (mut enough, mut too_much) = (least.ns(), most_ns.saturating_add(1));
        while enough + 1 < too_much {
            let middle = enough + (too_much - enough) / 2;
            if fits(middle) {
                enough = middle;
            } else {
                too_much = middle;
            }
        }
        Duration::from_ns(enough)
    }
}

/// z: no more than the drive, the tables and the costs speak of.
fn count_max(workload: &Workload) -> u32 {
    let known_max = workload.contracts.costs.as_ref().and_then(|costs| costs.batch_max);
    let count_max = workload.depth.min(workload.table.batch_max());
    let count_max = known_max.map_or(count_max, |known_max| known_max.min(count_max));
    match workload.batch {
        BatchChoice::Auto => count_max,
        BatchChoice::Fixed(batch_max) => batch_max.min(count_max),
    }
}

/// F and the bounds that follow; none where the workload does not limit batches by cost.
pub(crate) fn choose(workload: &Workload, tasks: &[SporadicTask]) -> Option<Choice> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let question = Question::of(workload, tasks, &all)?;
    let best_effort_fill = question.largest_fill();
    let system = question.with_fill(best_effort_fill);
    let solution = solve(&system);
    let response = solution.as_ref().map(|found| Duration::from_ns(found.response_ns));
    let bounds = vec![Bounds { mixed: response, ..Bounds::default() }; tasks.len()];
    // By count best effort may take what is left of z: cost limits it.
    let fill_count = if best_effort_fill.is_zero() { 0 } else { system.batch_max };
    Some(Choice {
        batch_cost: Some(BatchCost {
            cost_max: system.cost_max,
            best_effort_fill,
            charges: question.charges.clone(),
        }),
        assumptions: solution.iter().map(note).collect(),
        ..Choice::of_batches(system.batch_max, fill_count, bounds)
    })
}

/// The limit where nothing is proved: best effort fills whatever it leaves.
pub(crate) fn unproved(workload: &Workload) -> Option<BatchCost> {
    let cost_max = workload.parameters.dqf.batch_cost?;
    let is_shared = !workload.best_effort.is_empty();
    let best_effort_fill = if is_shared { cost_max } else { Duration::ZERO };
    Some(BatchCost { cost_max, best_effort_fill, charges: RequestCharges::of_workload(workload)? })
}

/// Whether every deadline is met with no best effort riding along; none where the workload does
/// not limit batches by cost. `sources` says which task of the workload each of them is like.
pub(crate) fn is_provable(
    workload: &Workload,
    tasks: &[SporadicTask],
    sources: &[usize],
) -> Option<bool> {
    let question = Question::of(workload, tasks, sources)?;
    Some(question.proven_count(Duration::ZERO) == tasks.len())
}

/// What the bound is made of, a sentence.
fn note(solution: &Solution) -> String {
    let batches = match solution.batches {
        1 => "its own one alone".to_owned(),
        more => format!("at most {more} of them, its own included"),
    };
    format!(
        "batches are limited by batch_cost: `mixed` is the bound for such batches, a job waiting \
         for {batches}; bounds by count do not hold for them"
    )
}

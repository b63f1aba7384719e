// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes in a sentence what limits a disk's workload.

use tidegate_analysis::{Answer, Assessment, Limit, counts_in_windows};
use tidegate_model::{DeferredWrites, DriveContract, Duration, Measurement, Task, Workload};

use crate::figures;

pub(super) fn limited_by(workload: &Workload, assessment: &Assessment) -> Option<String> {
    let bound_of =
        |task: usize| assessment.tasks[task].response_max.map_or(Duration::ZERO, |b| b.0);
    let sentence = match assessment.limit? {
        Limit::NoBound { task } if assessment.policy.facts().dispatch.limits_best_effort() => {
            format!("{}: no bound holds for it", workload.tasks[task].name)
        }
        Limit::NoBound { task } if assessment.batch_cost.is_some() => format!(
            "{}: the bound for batches limited by cost would not be below every period, and says \
             nothing then",
            workload.tasks[task].name
        ),
        Limit::NoBound { task } if counts_in_windows(workload, assessment.policy) => format!(
            "{}: earliest deadline first does not meet the deadlines less the window of {}",
            workload.tasks[task].name, workload.parameters.scan_edf.window
        ),
        Limit::NoBound { task } => format!(
            "{}: no bound was found before the search was given up",
            workload.tasks[task].name
        ),
        Limit::Capacity => format!(
            "capacity: more requests come in the long run than batches of {} serve",
            assessment.batch_max
        ),
        Limit::CapacityBehindJitter => format!(
            "capacity: batches of {} serve the requests in the long run, but not if all come as close \
             together as their jitter and the host's time allow, which the proof assumes; make the \
             jitter shorter",
            assessment.batch_max
        ),
        Limit::Margin { task } => format!(
            "{}: {} of its deadline of {} are left",
            workload.tasks[task].name,
            figures::ms_floor(workload.tasks[task].deadline - bound_of(task)),
            workload.tasks[task].deadline
        ),
        Limit::Deadline { task } => format!(
            "{}: it may take {}, its deadline is {}",
            workload.tasks[task].name,
            figures::ms_ceil(bound_of(task)),
            workload.tasks[task].deadline
        ),
    };
    Some(sentence)
}

/// Returns the command that measures the data that the policy needs and the drive file lacks; the
/// caller replaces `TARGET` and `FILE`.
pub(super) fn lacking(workload: &Workload, assessment: &Assessment) -> Option<String> {
    let Answer::NotApplicable { .. } = assessment.answer else { return None };
    if workload.tasks.iter().any(Task::is_closed_loop) {
        return None;
    }
    let theorem = assessment.policy.facts().theorem.ok()?;
    let contracts = &workload.contracts;
    let tasks = workload.tasks.iter().map(|task| (task.op, task.size));
    let loads = workload.best_effort.iter().map(|load| (load.op, load.size));
    let kinds: Vec<_> = tasks.chain(loads).collect();
    let is_mixed = kinds.iter().any(|kind| kind.0 != kinds[0].0);
    let experiment = match theorem.facts().contract {
        DriveContract::Batches
            if contracts.deferred_writes == DeferredWrites::Unmeasured && is_mixed =>
        {
            "batch,mixed"
        }
        DriveContract::Drain if contracts.drain.is_none() => "drain",
        DriveContract::Starvation if contracts.starvation_max.is_none() => "starvation",
        DriveContract::Priority if contracts.priority.is_none() => "priority",
        DriveContract::Batches
        | DriveContract::Drain
        | DriveContract::Starvation
        | DriveContract::Priority => return None,
    };
    let size = kinds.iter().map(|kind| kind.1).max()?;
    let largest = kinds.iter().map(|kind| (kind.0, size));
    Some(Measurement::of(experiment).with(largest).to_string())
}

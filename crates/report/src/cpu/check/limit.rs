// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes in a sentence what limits a processor's workload.

use tidegate_cpu_analysis::{
    CpuAnswer, CpuAssessment, CpuLimit, CpuThread, MeasuredDemand, Prioritised, fitting_priorities,
};
use tidegate_cpu_model::{CpuWorkload, Scheduling};
use tidegate_model::Duration;

use crate::figures;

/// Returns the limit to more work, as a sentence without its full stop.
pub(super) fn limited_by(workload: &CpuWorkload, assessment: &CpuAssessment) -> Option<String> {
    let of = |thread| {
        let (name, row) = match thread {
            CpuThread::Task(index) => (&workload.tasks[index].name, &assessment.tasks[index]),
            CpuThread::Work(index) => (&workload.work[index].name, &assessment.work[index]),
        };
        let response = row.response_max().unwrap_or_default();
        (name, response, row.deadline.unwrap_or_default())
    };
    let is_edf = workload.scheduling == Scheduling::Edf;
    Some(match assessment.limit? {
        // Under EDF the bound is the deadline itself.
        CpuLimit::Margin(CpuThread::Task(_)) if is_edf => return None,
        CpuLimit::Margin(thread) => {
            let (name, response, deadline) = of(thread);
            let left = figures::ms_floor(deadline - response);
            format!("{name}: {left} left before its deadline of {deadline}")
        }
        CpuLimit::Deadline(thread) => {
            let (name, response, deadline) = of(thread);
            format!(
                "{name}: it can take {}, but its deadline is {deadline}",
                figures::ms_ceil(response)
            )
        }
        CpuLimit::NoBound(thread) => {
            format!(
                "{}: no bound was found; the processor may have no time left for it",
                of(thread).0
            )
        }
        CpuLimit::Window(window) => {
            format!("a window of {window}: more work can be due in it than the processor executes")
        }
    })
}

/// Returns the changes with which every deadline would be proven: other priorities.
pub(super) fn would_fit(
    workload: &CpuWorkload,
    measured: &[MeasuredDemand],
    assessment: &CpuAssessment,
) -> Vec<String> {
    if assessment.answer != CpuAnswer::NotProven {
        return Vec::new();
    }
    let Some(order) = fitting_priorities(workload, measured) else { return Vec::new() };
    let name = |thread: &Prioritised| match *thread {
        Prioritised::Task(index) => workload.tasks[index].name.clone(),
        Prioritised::Server(index) => workload.servers[index].name.clone(),
    };
    let names: Vec<String> = order.iter().map(name).collect();
    let blocked = workload.tasks.iter().map(|task| task.blocking);
    let blocked = blocked.chain(workload.servers.iter().map(|server| server.blocking));
    let provided = match blocked.max() {
        None | Some(Duration::ZERO) => "",
        Some(_) => ", if `blocking` holds in this order too",
    };
    let names = names.join(", ");
    vec![format!("priorities in this order, the highest first: {names}{provided}")]
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The limit of a processor's workload, as a sentence.

use tidegate_cpu_analysis::{CpuAssessment, CpuLimit, CpuThread};
use tidegate_cpu_model::{CpuWorkload, Scheduling};

use crate::figures;

/// Returns what prevents more work, as a sentence without its full stop.
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

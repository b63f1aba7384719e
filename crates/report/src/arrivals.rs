// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes in one line how jobs arrive. Tasks are left out if their jobs arrive once per period
//! and the policy sees each job immediately.

use tidegate_model::{Arrivals, Task, Workload};

use crate::page::{Page, printable};

/// Writes the tasks for which the policy can see jobs later than they arrive.
pub(crate) fn write_jitter(workload: &Workload, page: &mut Page) {
    let of_task = |task: &Task| (!task.jitter.is_zero()).then(|| task.jitter.to_string());
    if let Some(jitter) = of_entries(workload, of_task) {
        let text = format!("{jitter}: bounds count from the arrival of a job");
        page.labelled("Jitter", text);
    }
}

/// Describes how tasks arrive in a simulation or run; `None` if all arrive once per period.
pub fn arrivals(workload: &Workload) -> Option<String> {
    let of_task = |task: &Task| {
        let arrivals = match task.arrivals {
            Arrivals::Periodic => None,
            Arrivals::Sporadic { extra_max } => {
                Some(format!("sporadic (gaps {} to {})", task.period, task.period + extra_max))
            }
            Arrivals::Bunched => Some("bunched".to_owned()),
            Arrivals::OnCompletion => Some("when an earlier job completes".to_owned()),
        };
        let jitter = (!task.jitter.is_zero()).then(|| format!("seen up to {} late", task.jitter));
        let all: Vec<String> = arrivals.into_iter().chain(jitter).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    of_entries(workload, of_task)
}

/// Writes the line that [`arrivals`] returns.
pub(crate) fn write(arrivals: Option<&str>, page: &mut Page) {
    if let Some(arrivals) = arrivals {
        page.labelled("Arrivals", arrivals);
    }
}

/// Joins the texts that `of_task` returns for the first task of each entry; `None` if there are
/// none.
fn of_entries(workload: &Workload, of_task: impl Fn(&Task) -> Option<String>) -> Option<String> {
    let first = workload.tasks.chunk_by(|a, b| a.entry == b.entry).map(|entry| &entry[0]);
    let said = first.filter_map(|task| {
        let name = workload.entries.get(task.entry as usize).unwrap_or(&task.name);
        Some(format!("{} {}", printable(name), of_task(task)?))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join("; "))
}

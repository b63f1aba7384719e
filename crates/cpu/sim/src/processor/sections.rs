// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Derives limits on sections and stolen time from a workload: which sections can occur, how long
//! they last, and how long a source steals.

use tidegate_cpu_model::{CpuServer, CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::Duration;

/// Returns whether any thread can be blocked.
pub(super) fn is_blocking(workload: &CpuWorkload) -> bool {
    let of_tasks = workload.tasks.iter().map(|task| task.blocking);
    of_tasks.chain(workload.servers.iter().map(|server| server.blocking)).any(|it| !it.is_zero())
}

/// Returns the longest time for which a source steals before it rests: several times the longest
/// deadline, so that the affected job usually completes in it.
pub(super) fn patience(workload: &CpuWorkload) -> Duration {
    let of_tasks = workload.tasks.iter().map(|task| task.deadline);
    let longest = of_tasks.chain(workload.servers.iter().map(|server| server.params.period)).max();
    longest.unwrap_or_default().checked_mul(4).unwrap_or(Duration::MAX)
}

/// Returns the longest section of a task, or of the outsider if `owner` is `None`, that delays
/// everything more urgent than the owner up to the thread `victim`. Tasks are numbered before
/// servers.
pub(super) fn section_max(
    workload: &CpuWorkload,
    owner: Option<&CpuTask>,
    victim: usize,
) -> Duration {
    let ceiling = priority_of(workload, victim);
    let is_waiting = |priority: Priority, deadline: Option<Duration>| match workload.scheduling {
        Scheduling::FixedPriority => {
            priority <= ceiling && owner.is_none_or(|owner| priority > owner.priority)
        }
        // Threads that can be due before the owner. A server always counts, because no lower bound
        // of its deadline is known.
        Scheduling::Edf => {
            owner.zip(deadline).is_none_or(|(owner, deadline)| deadline < owner.deadline)
        }
    };
    let of_task = |task: &CpuTask| {
        let from_release = task.deadline.checked_sub(task.jitter).unwrap_or_default();
        is_waiting(task.priority, Some(from_release)).then_some(task.blocking)
    };
    let of_server = |it: &CpuServer| is_waiting(it.priority, None).then_some(it.blocking);
    let of_tasks = workload.tasks.iter().filter_map(of_task);
    of_tasks.chain(workload.servers.iter().filter_map(of_server)).min().unwrap_or_default()
}

pub(super) fn priority_of(workload: &CpuWorkload, thread: usize) -> Priority {
    match workload.tasks.get(thread) {
        Some(task) => task.priority,
        None => workload.servers[thread - workload.tasks.len()].priority,
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random task sets small enough to be simulated tick by tick.

use tidegate_cpu_analysis::{Level, Source};
use tidegate_cpu_model::{CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::{Duration, Random};

/// A task with its times in ticks; lists of tasks begin with the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) execution: u64,
    pub(crate) period: u64,
    pub(crate) deadline: u64,
}

impl Ticks {
    pub(crate) fn source(self) -> Source {
        Source::new(Duration::from_ns(self.execution), Duration::from_ns(self.period))
    }
}

/// Draws two to four tasks with deadlines within their periods.
pub(crate) fn tasks(random: &mut Random) -> Vec<Ticks> {
    let count = 2 + random.below(3);
    let task = |_| {
        let period = 3 + random.below(18);
        let execution = 1 + random.below(period.div_ceil(2));
        let deadline = execution + random.below(period - execution + 1);
        Ticks { execution, period, deadline }
    };
    (0..count).map(task).collect()
}

/// Returns all tasks that are more urgent than task `index`.
pub(crate) fn level(tasks: &[Ticks], index: usize) -> Level<'static> {
    let mut level = Level::new(&[]);
    for task in &tasks[..index] {
        level.add(task.source(), 1);
    }
    level
}

/// Returns the tasks as a workload; the first task is the most urgent.
pub(crate) fn workload(tasks: &[Ticks], scheduling: Scheduling) -> CpuWorkload {
    let mut workload = CpuWorkload::new(scheduling);
    let ns = Duration::from_ns;
    for (task, priority) in tasks.iter().zip((1..=tasks.len()).rev()) {
        let priority = Priority(u32::try_from(priority).unwrap());
        let name = format!("task-{priority}");
        let task = CpuTask {
            deadline: ns(task.deadline),
            ..CpuTask::new(name, ns(task.execution), ns(task.period), priority)
        };
        workload.tasks.push(task);
    }
    workload
}

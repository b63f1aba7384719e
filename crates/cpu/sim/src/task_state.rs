// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task in a run: its incomplete jobs.

use std::collections::VecDeque;

use tidegate_cpu_model::{CpuTask, Priority};
use tidegate_model::{Duration, Random, Time};

use super::arrivals::TaskReleases;
use super::ready::Urgency;

/// The largest number of waiting jobs of one task; one more is an overload that ends the run.
const JOBS_MAX: usize = 65_536;

/// A part of a job that only threads above the section's ceiling can preempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    left: Duration,
    /// The job's urgency outside the section.
    outside: Option<Urgency>,
}

/// A task in a run.
#[derive(Debug, Clone)]
pub(super) struct TaskState {
    execution: Duration,
    pub(super) deadline: Duration,
    pub(super) releases: TaskReleases,
    /// Arrivals of the incomplete jobs, in order.
    pub(super) jobs: VecDeque<Time>,
    /// The remaining execution of the first job.
    pub(super) remaining: Duration,
    /// The task's urgency while it has a job.
    pub(super) urgency: Option<Urgency>,
    section: Option<Section>,
}

impl TaskState {
    pub(super) fn new(task: &CpuTask, random: Random) -> Self {
        Self {
            execution: task.execution,
            deadline: task.deadline,
            releases: TaskReleases::new(task, random),
            jobs: VecDeque::new(),
            remaining: Duration::ZERO,
            urgency: None,
            section: None,
        }
    }

    /// Puts the executing job into a section of this length, with the urgency of its ceiling.
    pub(super) fn enter(&mut self, length: Duration, ceiling: Urgency) {
        self.section = Some(Section { left: length, outside: self.urgency });
        self.urgency = Some(ceiling);
    }

    pub(super) fn is_in_section(&self) -> bool {
        self.section.is_some()
    }

    /// Returns the execution left until the job completes or leaves its section.
    pub(super) fn until_change(&self) -> Duration {
        self.section.map_or(self.remaining, |section| section.left)
    }

    /// Executes the job for `executed`.
    pub(super) fn execute(&mut self, executed: Duration) {
        self.remaining = self.remaining - executed;
        let Some(section) = &mut self.section else { return };
        section.left = section.left - executed;
        if section.left.is_zero() {
            self.urgency = section.outside;
            self.section = None;
        }
    }

    /// Creates the thread outside the workload, which is less urgent than everything in it and
    /// executes only sections.
    pub(super) fn outsider(random: Random) -> Self {
        let never = CpuTask::new("", Duration::ZERO, Duration::MAX, Priority(0));
        Self::new(&CpuTask { offset: Duration::MAX, ..never }, random)
    }

    /// Begins a section of the outsider.
    pub(super) fn begin_outside(&mut self, now: Time, length: Duration) {
        self.jobs.push_back(now);
        self.remaining = length;
    }

    /// Releases a job; returns whether there is room for it.
    pub(super) fn release(&mut self) -> bool {
        let arrival = self.releases.take();
        if self.jobs.is_empty() {
            self.remaining = self.execution;
        }
        self.jobs.push_back(arrival);
        self.jobs.len() <= JOBS_MAX
    }

    /// Completes the first job; returns its arrival.
    pub(super) fn complete(&mut self) -> Time {
        self.remaining = self.execution;
        self.jobs.pop_front().expect("a task that executes has a job")
    }
}

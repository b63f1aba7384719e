// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task in a run: its jobs that are not complete.

use std::collections::VecDeque;

use tidegate_cpu_model::{CpuTask, Priority};
use tidegate_model::{Duration, Random, Time};

use super::arrivals::TaskReleases;
use super::ready::Urgency;

/// Jobs of one task that may wait; more is an overload that no run need go through.
const JOBS_MAX: usize = 65_536;

/// A part of a job in which only what is above its ceiling preempts it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    left: Duration,
    /// How urgent the job is outside.
    outside: Option<Urgency>,
}

/// A task in a run.
#[derive(Debug, Clone)]
pub(super) struct TaskState {
    execution: Duration,
    pub(super) deadline: Duration,
    pub(super) releases: TaskReleases,
    /// Arrivals of the jobs that are not complete, in order.
    pub(super) jobs: VecDeque<Time>,
    /// What the first of them has yet to execute.
    pub(super) remaining: Duration,
    /// While it has a job.
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

    /// The job that executes is in a section of this length, as urgent as its ceiling.
    pub(super) fn enter(&mut self, length: Duration, ceiling: Urgency) {
        self.section = Some(Section { left: length, outside: self.urgency });
        self.urgency = Some(ceiling);
    }

    pub(super) fn is_in_section(&self) -> bool {
        self.section.is_some()
    }

    /// What the job has left to execute before something about it changes.
    pub(super) fn until_change(&self) -> Duration {
        self.section.map_or(self.remaining, |section| section.left)
    }

    /// The job has executed for so long.
    pub(super) fn execute(&mut self, executed: Duration) {
        self.remaining = self.remaining - executed;
        let Some(section) = &mut self.section else { return };
        section.left = section.left - executed;
        if section.left.is_zero() {
            self.urgency = section.outside;
            self.section = None;
        }
    }

    /// A thread that is not in the workload, less urgent than all that is: it executes nothing but
    /// sections.
    pub(super) fn outsider(random: Random) -> Self {
        let never = CpuTask::new("", Duration::ZERO, Duration::MAX, Priority(0));
        Self::new(&CpuTask { offset: Duration::MAX, ..never }, random)
    }

    /// An outsider's section begins.
    pub(super) fn begin_outside(&mut self, now: Time, length: Duration) {
        self.jobs.push_back(now);
        self.remaining = length;
    }

    /// A job is released; whether there is room for it.
    pub(super) fn release(&mut self) -> bool {
        let arrival = self.releases.take();
        if self.jobs.is_empty() {
            self.remaining = self.execution;
        }
        self.jobs.push_back(arrival);
        self.jobs.len() <= JOBS_MAX
    }

    /// The first job is complete: when did it arrive?
    pub(super) fn complete(&mut self) -> Time {
        self.remaining = self.execution;
        self.jobs.pop_front().expect("a task that executes has a job")
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task in a run: its jobs that are not complete.

use std::collections::VecDeque;

use model::cpu::CpuTask;
use model::{Duration, Random, Time};

use super::arrivals::TaskReleases;
use super::ready::Urgency;

/// Jobs of one task that may wait; more is an overload that no run need go through.
const JOBS_MAX: usize = 65_536;

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
        }
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

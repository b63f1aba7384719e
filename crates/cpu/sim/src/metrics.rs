// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The metrics of a run of a processor.

use tidegate_cpu_model::CpuWorkload;
use tidegate_model::Duration;
use tidegate_stats::{Distribution, Memory};

use super::window::WindowMax;

/// The metrics of the jobs of a task or a piece of work.
#[derive(Debug, Clone, PartialEq)]
pub struct JobMetrics {
    /// The name of the task or piece of work.
    pub name: String,
    /// The deadline, counted from the arrival; `None` if the jobs have no deadline.
    pub deadline: Option<Duration>,
    /// The response times, from arrival to completion.
    pub responses: Distribution,
    /// Jobs that completed after their deadline, or are incomplete and past it.
    pub misses: u64,
    /// Jobs that found the queue full; they are misses if there is a deadline.
    pub lost: u64,
    /// Jobs that were incomplete when the run ended.
    pub unfinished: u64,
}

impl JobMetrics {
    fn new(name: &str, deadline: Option<Duration>) -> Self {
        Self {
            name: name.to_owned(),
            deadline,
            responses: Distribution::new(Memory::AsNeeded),
            misses: 0,
            lost: 0,
            unfinished: 0,
        }
    }

    pub(super) fn complete(&mut self, response: Duration) {
        self.responses.record(response);
        self.hold_against_deadline(response);
    }

    pub(super) fn abandon(&mut self, age: Duration) {
        self.unfinished += 1;
        self.hold_against_deadline(age);
    }

    pub(super) fn lose(&mut self) {
        self.lost += 1;
        if self.deadline.is_some() {
            self.misses += 1;
        }
    }

    fn hold_against_deadline(&mut self, response: Duration) {
        if self.deadline.is_some_and(|deadline| response > deadline) {
            self.misses += 1;
        }
    }
}

/// The metrics of a server.
#[derive(Debug, Clone)]
pub struct ServerMetrics {
    /// The server's name in the workload.
    pub name: String,
    /// The server's execution within its budget, including overruns.
    pub executed: Duration,
    /// The server's execution at its background priority.
    pub background: Duration,
    /// The total charge for preemptions.
    pub charged: Duration,
    /// The number of charged preemptions: times when the server was about to take the processor
    /// from a thread that would have continued.
    pub preemptions: u64,
    /// The number of times when the budget ran out with work left.
    pub exhaustions: u64,
    /// The longest execution within its budget in any window as long as its period.
    pub window: WindowMax,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct CpuRun {
    /// The metrics of each task.
    pub tasks: Vec<JobMetrics>,
    /// The metrics of each server.
    pub servers: Vec<ServerMetrics>,
    /// The metrics of each piece of work.
    pub work: Vec<JobMetrics>,
    /// The duration of the run.
    pub duration: Duration,
    /// The time in which the processor executed jobs, or switched.
    pub busy: Duration,
    /// The part of `busy` spent on context switches.
    pub switching: Duration,
    /// The number of context switches.
    pub switches: u64,
    /// The number of releases, completions, exhaustions, replenishments and preemptions.
    pub events: u64,
    /// The total stolen time.
    pub stolen: Duration,
    /// The number of sections of less urgent threads, whether or not they delayed another thread.
    pub sections: u64,
    /// The longest section.
    pub section_max: Duration,
    /// How the run ended.
    pub end: CpuRunEnd,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuRunEnd {
    /// The run lasted its whole duration.
    Complete,
    /// The run ended early, because too many jobs of one task were waiting.
    Overloaded,
    /// The run ended early, because [`CpuParams::interrupted`](crate::CpuParams) was set.
    Interrupted,
}

impl CpuRun {
    pub(super) fn new(workload: &CpuWorkload) -> Self {
        let tasks = workload.tasks.iter();
        let work = workload.work.iter();
        Self {
            tasks: tasks.map(|it| JobMetrics::new(&it.name, Some(it.deadline))).collect(),
            servers: workload
                .servers
                .iter()
                .map(|server| ServerMetrics {
                    name: server.name.clone(),
                    executed: Duration::ZERO,
                    background: Duration::ZERO,
                    charged: Duration::ZERO,
                    preemptions: 0,
                    exhaustions: 0,
                    window: WindowMax::new(server.params.period),
                })
                .collect(),
            work: work.map(|it| JobMetrics::new(&it.name, it.deadline)).collect(),
            duration: Duration::ZERO,
            busy: Duration::ZERO,
            switching: Duration::ZERO,
            switches: 0,
            events: 0,
            stolen: Duration::ZERO,
            sections: 0,
            section_max: Duration::ZERO,
            end: CpuRunEnd::Complete,
        }
    }

    /// Returns whether every deadline was kept and the run was complete.
    pub fn is_kept(&self) -> bool {
        self.end == CpuRunEnd::Complete
            && self.tasks.iter().chain(&self.work).all(|it| it.misses == 0)
    }

    /// Returns the share of the run in which the processor was busy, in parts per million.
    ///
    /// # Panics
    /// Never: the processor is busy for at most the run.
    pub fn utilisation_ppm(&self) -> u64 {
        let busy = u128::from(self.busy.ns()) * 1_000_000;
        u64::try_from(busy / u128::from(self.duration.ns().max(1))).expect("a share of the run")
    }
}

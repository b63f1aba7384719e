// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is counted in a run of a processor.

use tidegate_cpu_model::CpuWorkload;
use tidegate_model::Duration;
use tidegate_stats::{Distribution, Memory};

use super::window::WindowMax;

/// What is counted of the jobs of a task or a piece of work.
#[derive(Debug, Clone, PartialEq)]
pub struct JobMetrics {
    /// Its name in the workload.
    pub name: String,
    /// What a response is held against.
    pub deadline: Option<Duration>,
    /// From arrival to completion.
    pub responses: Distribution,
    /// Jobs that were complete after their deadline, or not complete and past it.
    pub misses: u64,
    /// Jobs that found the queue full; they are misses where there is a deadline.
    pub lost: u64,
    /// Jobs that were not complete when the run ended.
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

/// What is counted of a server.
#[derive(Debug, Clone)]
pub struct ServerMetrics {
    /// Its name in the workload.
    pub name: String,
    /// Executed within its budget, overruns included.
    pub executed: Duration,
    /// Executed in the background.
    pub background: Duration,
    /// What it was charged for preemptions.
    pub charged: Duration,
    /// How often it was about to take the processor from somebody who would have gone on, and was
    /// charged for that.
    pub preemptions: u64,
    /// How often its budget ran out with work left.
    pub exhaustions: u64,
    /// The most it executed within its budget in any window as long as its period.
    pub window: WindowMax,
}

/// A run of a processor.
#[derive(Debug, Clone)]
pub struct CpuRun {
    /// Of each task.
    pub tasks: Vec<JobMetrics>,
    /// Of each server.
    pub servers: Vec<ServerMetrics>,
    /// Of each piece of work.
    pub work: Vec<JobMetrics>,
    /// How long it was.
    pub duration: Duration,
    /// The processor executed jobs, or switched.
    pub busy: Duration,
    /// Of that, spent on context switches.
    pub switching: Duration,
    /// Context switches.
    pub switches: u64,
    /// Releases, completions, exhaustions, replenishments and preemptions.
    pub events: u64,
    /// What thieves took.
    pub stolen: Duration,
    /// Sections of less urgent threads, whether somebody was kept waiting or could have been.
    pub sections: u64,
    /// The longest section.
    pub section_max: Duration,
    /// More jobs of a task waited than there is room for; the run ended early.
    pub is_overloaded: bool,
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
            is_overloaded: false,
        }
    }

    /// Whether every deadline was kept, and the run came to its end.
    pub fn is_kept(&self) -> bool {
        !self.is_overloaded && self.tasks.iter().chain(&self.work).all(|it| it.misses == 0)
    }

    /// The share of the run in which the processor was busy, in parts per million.
    ///
    /// # Panics
    /// Never: the processor is busy for no longer than the run.
    pub fn utilisation_ppm(&self) -> u64 {
        let busy = u128::from(self.busy.ns()) * 1_000_000;
        u64::try_from(busy / u128::from(self.duration.ns().max(1))).expect("a share of the run")
    }
}

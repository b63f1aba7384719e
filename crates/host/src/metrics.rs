// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts a run's response times and volumes, for each source and in total.
//!
//! Memory does not grow with the run, because times are kept in a [`Distribution`].

use tidegate_model::{Bytes, Duration, Outcome, Task, TaskIndex, Time, Workload};

use crate::ledger::{Ending, Job};
use crate::over_time::OverTime;
use tidegate_stats::Distribution;
use tidegate_stats::Memory;

/// A number of requests and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume {
    /// The number of requests.
    pub requests: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl Volume {
    fn add(&mut self, other: Self) {
        self.requests = self.requests.checked_add(other.requests).expect("fewer than 2^64");
        self.bytes = self.bytes.checked_add(other.bytes).expect("less than 2^64 bytes");
    }
}

/// The volume completed up to the last release. Which release is the last becomes known only later.
///
/// Completions after the latest release are kept separately until a later release shows that they
/// count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct UpToLastRelease {
    counted: Volume,
    /// The volume completed after `release`.
    apart: Volume,
    release: Time,
}

impl UpToLastRelease {
    fn add(&mut self, at: Time, last_release: Time, volume: Volume) {
        self.counted = self.total(last_release);
        if self.release < last_release {
            self.apart = Volume::default();
            self.release = last_release;
        }
        let part = if at <= last_release { &mut self.counted } else { &mut self.apart };
        part.add(volume);
    }

    fn total(&self, last_release: Time) -> Volume {
        let mut total = self.counted;
        if self.release < last_release {
            total.add(self.apart);
        }
        total
    }
}

/// The counts of one task or load.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceMetrics {
    /// The source's name in the workload.
    pub name: String,
    /// The relative deadline; `None` for best effort.
    pub deadline: Option<Duration>,
    /// The response times of complete jobs, from the nominal release until the client has the reply
    /// to the last request.
    pub responses: Distribution,
    /// The number of jobs that completed after their deadline, or were unfinished and past it.
    pub misses: u64,
    /// The number of jobs with a failed request; no other job figure includes them.
    pub failed_jobs: u64,
    /// The number of jobs with a dropped request, as their task's quality allows; no other job
    /// figure includes them.
    pub dropped_jobs: u64,
    /// The number of dropped requests.
    pub dropped_requests: u64,
    /// The share of the jobs that must be served, in parts per million.
    pub quality_ppm: u32,
    /// The number of jobs that were unfinished when the run ended.
    pub unfinished_jobs: u64,
    /// The requests completed in the whole run.
    pub completed: Volume,
    /// The number of failed requests; no volume includes them.
    pub failed_requests: u64,
    in_window: UpToLastRelease,
}

impl SourceMetrics {
    fn new(name: String, deadline: Option<Duration>, memory: Memory) -> Self {
        Self {
            name,
            deadline,
            responses: Distribution::new(memory),
            misses: 0,
            failed_jobs: 0,
            dropped_jobs: 0,
            dropped_requests: 0,
            quality_ppm: Task::QUALITY_ALL_PPM,
            unfinished_jobs: 0,
            completed: Volume::default(),
            failed_requests: 0,
            in_window: UpToLastRelease::default(),
        }
    }

    /// Returns the number of complete jobs.
    pub const fn jobs(&self) -> u64 {
        self.responses.count()
    }

    /// Returns whether all jobs, except those that may be dropped, were served by their deadlines
    /// without an error.
    pub fn is_kept(&self) -> bool {
        let ended = u128::from(self.jobs() + self.dropped_jobs);
        let droppable_ppm = u128::from(Task::QUALITY_ALL_PPM - self.quality_ppm);
        let is_quality_kept = u128::from(self.dropped_jobs) * 1_000_000 <= ended * droppable_ppm;
        self.misses == 0 && self.failed_jobs == 0 && is_quality_kept
    }

    fn complete_job(&mut self, response: Duration, ending: Ending) -> bool {
        match ending {
            Ending::Failed => self.failed_jobs += 1,
            Ending::Dropped => self.dropped_jobs += 1,
            Ending::Served => {
                self.responses.record(response);
                self.hold_against_deadline(response);
            }
        }
        self.is_late(response)
    }

    fn abandon_job(&mut self, age: Duration) {
        self.unfinished_jobs += 1;
        self.hold_against_deadline(age);
    }

    fn hold_against_deadline(&mut self, response: Duration) {
        if self.is_late(response) {
            self.misses += 1;
        }
    }

    fn is_late(&self, response: Duration) -> bool {
        self.deadline.is_some_and(|deadline| response > deadline)
    }

    fn complete_request(&mut self, at: Time, last_release: Time, size: Bytes, outcome: Outcome) {
        if outcome == Outcome::Failed {
            self.failed_requests += 1;
            return;
        }
        let volume = Volume { requests: 1, bytes: size.get() };
        self.completed.add(volume);
        self.in_window.add(at, last_release, volume);
    }
}

/// Sums over several sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// The volume completed in the whole run.
    pub completed: Volume,
    /// The volume completed up to the last release.
    pub completed_in_window: Volume,
    /// The length of the window of `completed_in_window`: from the start of the run to its last
    /// release.
    pub window: Duration,
    /// The number of failed requests.
    pub failed_requests: u64,
}

impl Totals {
    /// Returns the throughput in bytes per second up to the last release, rounded down; `None` if
    /// the last release was at the start.
    ///
    /// # Panics
    /// At 2^64 bytes per second or more, which no drive reaches.
    pub fn throughput_bytes_per_s(&self) -> Option<u64> {
        let window_ns = u128::from(self.window.ns());
        let bytes = u128::from(self.completed_in_window.bytes) * 1_000_000_000;
        let per_s = bytes.checked_div(window_ns)?;
        Some(u64::try_from(per_s).expect("no drive transfers 2^64 bytes in a second"))
    }

    fn add(&mut self, source: &SourceMetrics, last_release: Time) {
        self.completed.add(source.completed);
        self.completed_in_window.add(source.in_window.total(last_release));
        self.failed_requests += source.failed_requests;
    }
}

/// The counts of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMetrics {
    /// Tasks first, then best-effort loads; indexed by source.
    sources: Vec<SourceMetrics>,
    task_count: usize,
    last_release: Time,
    over_time: OverTime,
}

impl RunMetrics {
    /// Makes zero counters for the workload's sources.
    pub(crate) fn new(workload: &Workload, memory: Memory) -> Self {
        let tasks = workload.tasks.iter().map(|task| SourceMetrics {
            quality_ppm: task.quality_ppm,
            ..SourceMetrics::new(task.name.clone(), Some(task.deadline), memory)
        });
        let loads = workload.best_effort.iter();
        let loads = loads.map(|load| SourceMetrics::new(load.name.clone(), None, memory));
        Self {
            sources: tasks.chain(loads).collect(),
            task_count: workload.tasks.len(),
            last_release: Time::ZERO,
            over_time: OverTime::new(workload),
        }
    }

    /// Returns the tasks' counts, in the workload's order.
    pub fn tasks(&self) -> &[SourceMetrics] {
        &self.sources[..self.task_count]
    }

    /// Returns the best-effort loads' counts, in the workload's order.
    pub fn loads(&self) -> &[SourceMetrics] {
        &self.sources[self.task_count..]
    }

    /// Returns the instant of the last release of any source.
    pub const fn last_release(&self) -> Time {
        self.last_release
    }

    /// Returns throughput, misses and notices over time.
    pub const fn over_time(&self) -> &OverTime {
        &self.over_time
    }

    pub(crate) const fn over_time_mut(&mut self) -> &mut OverTime {
        &mut self.over_time
    }

    /// Returns the totals of all tasks.
    pub fn real_time(&self) -> Totals {
        self.totals(self.tasks())
    }

    /// Returns the totals of all best-effort loads.
    pub fn best_effort(&self) -> Totals {
        self.totals(self.loads())
    }

    /// Returns the totals of the given sources.
    pub fn totals(&self, sources: &[SourceMetrics]) -> Totals {
        let window = self.last_release.since(Time::ZERO);
        let mut totals = Totals { window, ..Totals::default() };
        for source in sources {
            totals.add(source, self.last_release);
        }
        totals
    }

    /// Returns the totals of all sources.
    pub fn all(&self) -> Totals {
        self.totals(&self.sources)
    }

    /// Returns whether every released job of every task, except those that may be dropped, was
    /// finished by its deadline without an error.
    pub fn is_kept(&self) -> bool {
        self.tasks().iter().all(SourceMetrics::is_kept)
    }

    /// Counts the release of a job.
    pub(crate) fn release(&mut self, at: Time) {
        self.last_release = self.last_release.max(at);
    }

    /// Counts a completed request.
    pub(crate) fn complete_request(
        &mut self,
        source: TaskIndex,
        at: Time,
        size: Bytes,
        outcome: Outcome,
    ) {
        if outcome == Outcome::Done {
            self.over_time.complete(at, source, size);
        }
        let source = &mut self.sources[source.index()];
        source.complete_request(at, self.last_release, size, outcome);
    }

    /// Counts a dropped request.
    pub(crate) fn drop_request(&mut self, source: TaskIndex) {
        self.sources[source.index()].dropped_requests += 1;
    }

    /// Counts a job that ended; returns whether its client received the last reply after the
    /// deadline.
    pub(crate) fn complete_job(&mut self, at: Time, job: &Job) -> bool {
        let response = at.since(job.released);
        self.sources[job.source.index()].complete_job(response, job.ending)
    }

    /// Counts a job that was unfinished when the run ended.
    pub(crate) fn abandon_job(&mut self, at: Time, job: &Job) {
        self.sources[job.source.index()].abandon_job(at.since(job.released));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is counted in a run: response times and volumes, for each source and in total.
//!
//! Nothing here knows of the simulator, and memory does not grow with the run: response
//! times go to a histogram of fixed precision, beside exact extremes and an exact sum.

use hdrhistogram::Histogram;
use model::{Bytes, Duration, Outcome, TaskIndex, Time, Workload};

/// Response times: exact count, extremes and mean; quantiles to three digits.
#[derive(Debug, Clone)]
pub struct ResponseTimes {
    count: u64,
    lowest: Duration,
    highest: Duration,
    sum_ns: u128,
    histogram: Histogram<u64>,
}

impl Default for ResponseTimes {
    fn default() -> Self {
        Self {
            count: 0,
            lowest: Duration::MAX,
            highest: Duration::ZERO,
            sum_ns: 0,
            histogram: Histogram::new(3).expect("three digits are possible"),
        }
    }
}

impl ResponseTimes {
    /// Takes note of a response time.
    ///
    /// # Panics
    /// When the histogram cannot be enlarged for lack of memory.
    pub fn record(&mut self, response: Duration) {
        self.count += 1;
        self.lowest = self.lowest.min(response);
        self.highest = self.highest.max(response);
        self.sum_ns += u128::from(response.ns());
        self.histogram.record(response.ns()).expect("the histogram grows on demand");
    }

    /// How many were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The shortest.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.lowest)
    }

    /// The longest.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.highest)
    }

    /// The exact mean, rounded down to a nanosecond.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count))?;
        Some(Duration::from_ns(narrowed(mean)))
    }

    /// The time that `share_ppm` parts per million of the responses did not exceed, to
    /// three digits, and never beyond the exact extremes.
    pub fn quantile(&self, share_ppm: u32) -> Option<Duration> {
        let quantile = f64::from(share_ppm) / 1_000_000.0;
        let value = Duration::from_ns(self.histogram.value_at_quantile(quantile));
        Some(value.clamp(self.min()?, self.max()?))
    }
}

/// Requests and what they moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume {
    /// How many.
    pub requests: u64,
    /// How much.
    pub bytes: u64,
}

impl Volume {
    fn add(&mut self, other: Self) {
        self.requests = self.requests.checked_add(other.requests).expect("fewer than 2^64");
        self.bytes = self.bytes.checked_add(other.bytes).expect("less than 2^64 bytes");
    }
}

/// A quotient that is below 2^64: a mean is at most the longest, and no
/// drive moves 2^64 bytes in a second.
fn narrowed(quotient: u128) -> u64 {
    u64::try_from(quotient).expect("a quotient below 2^64")
}

/// What completed up to the last release, though nobody knows at the time which is last.
///
/// Completions after the latest release stand apart until a later release shows that they
/// count.
#[derive(Debug, Clone, Copy, Default)]
struct UpToLastRelease {
    counted: Volume,
    /// Completed after `release`.
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

/// What is counted for one task or load.
#[derive(Debug, Clone)]
pub struct SourceMetrics {
    /// Its name in the workload.
    pub name: String,
    /// What a response time is held against; none for best effort.
    pub deadline: Option<Duration>,
    /// Response times of complete jobs; for best effort each request is a job.
    pub responses: ResponseTimes,
    /// Complete jobs that exceeded the deadline.
    pub misses: u64,
    /// Jobs of which a request failed; they are in no other figure about jobs.
    pub failed_jobs: u64,
    /// Requests that completed in the whole run.
    pub completed: Volume,
    /// Requests that failed; they are in no volume.
    pub failed_requests: u64,
    in_window: UpToLastRelease,
}

impl SourceMetrics {
    fn new(name: String, deadline: Option<Duration>) -> Self {
        Self {
            name,
            deadline,
            responses: ResponseTimes::default(),
            misses: 0,
            failed_jobs: 0,
            completed: Volume::default(),
            failed_requests: 0,
            in_window: UpToLastRelease::default(),
        }
    }

    /// Complete jobs.
    pub const fn jobs(&self) -> u64 {
        self.responses.count()
    }

    fn complete_job(&mut self, response: Duration, has_failed: bool) {
        if has_failed {
            self.failed_jobs += 1;
            return;
        }
        self.responses.record(response);
        if self.deadline.is_some_and(|deadline| response > deadline) {
            self.misses += 1;
        }
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
    /// What completed in the whole run.
    pub completed: Volume,
    /// What completed up to the last release.
    pub completed_in_window: Volume,
    /// How long that window is: from the start of the run to its last release.
    pub window: Duration,
    /// Requests that failed.
    pub failed_requests: u64,
}

impl Totals {
    /// Bytes per second up to the last release, rounded down; none if that was at once.
    pub fn throughput_bytes_per_s(&self) -> Option<u64> {
        let window_ns = u128::from(self.window.ns());
        let bytes = u128::from(self.completed_in_window.bytes) * 1_000_000_000;
        bytes.checked_div(window_ns).map(narrowed)
    }

    fn add(&mut self, source: &SourceMetrics, last_release: Time) {
        self.completed.add(source.completed);
        self.completed_in_window.add(source.in_window.total(last_release));
        self.failed_requests += source.failed_requests;
    }
}

/// What is counted in one run.
#[derive(Debug, Clone)]
pub struct RunMetrics {
    /// Tasks first, then best-effort loads: the index is that of the source.
    sources: Vec<SourceMetrics>,
    task_count: usize,
    last_release: Time,
}

impl RunMetrics {
    /// Counters at zero for the sources of that workload.
    pub fn new(workload: &Workload) -> Self {
        let tasks = workload.tasks.iter().map(|task| (&task.name, Some(task.deadline)));
        let loads = workload.best_effort.iter().map(|load| (&load.name, None));
        Self {
            sources: tasks
                .chain(loads)
                .map(|(name, deadline)| SourceMetrics::new(name.clone(), deadline))
                .collect(),
            task_count: workload.tasks.len(),
            last_release: Time::ZERO,
        }
    }

    /// The tasks, in the order of the workload.
    pub fn tasks(&self) -> &[SourceMetrics] {
        &self.sources[..self.task_count]
    }

    /// The best-effort loads, in the order of the workload.
    pub fn loads(&self) -> &[SourceMetrics] {
        &self.sources[self.task_count..]
    }

    /// The instant of the last release of any source.
    pub const fn last_release(&self) -> Time {
        self.last_release
    }

    /// All tasks together.
    pub fn real_time(&self) -> Totals {
        self.totals(self.tasks())
    }

    /// All best-effort loads together.
    pub fn best_effort(&self) -> Totals {
        self.totals(self.loads())
    }

    /// One source, or some.
    pub fn totals(&self, sources: &[SourceMetrics]) -> Totals {
        let window = self.last_release.since(Time::ZERO);
        let mut totals = Totals { window, ..Totals::default() };
        for source in sources {
            totals.add(source, self.last_release);
        }
        totals
    }

    /// Takes note that a job was released.
    pub fn release(&mut self, at: Time) {
        self.last_release = self.last_release.max(at);
    }

    /// Takes note that a request completed.
    ///
    /// # Panics
    /// When the workload has no such source.
    pub fn complete_request(&mut self, source: TaskIndex, at: Time, size: Bytes, outcome: Outcome) {
        let source = &mut self.sources[source.index()];
        source.complete_request(at, self.last_release, size, outcome);
    }

    /// Takes note that the last request of a job completed.
    ///
    /// # Panics
    /// When the workload has no such source.
    pub fn complete_job(&mut self, source: TaskIndex, response: Duration, has_failed: bool) {
        self.sources[source.index()].complete_job(response, has_failed);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a run found. Names are those of the machine-readable output, where durations carry
//! their unit: `response.max` here is `response_ns_max` there.

use model::{Bytes, Duration, PolicyName};

use crate::metrics::Summary;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The policy that decided.
    pub policy: PolicyName,
    /// What fixed everything random.
    pub seed: u64,
    /// How the run ended.
    pub end: RunEnd,
    /// The tasks, in file order.
    pub tasks: Vec<TaskOutcome>,
    /// What tasks got up to the last release.
    pub real_time: ClassOutcome,
    /// What best effort got up to the last release.
    pub best_effort: ClassOutcome,
    /// Requests that came back, up to the end of the run.
    pub requests: u64,
    /// Those of them that the device failed.
    pub requests_failed: u64,
    /// Releases and completions of requests.
    pub events: u64,
    /// How late the host released jobs: from the nominal instant to when the policy was told.
    /// Part of every response time.
    pub host_lateness: Option<Summary>,
    /// What the device took for a request: from submission to when the host saw it complete.
    pub device_time: Option<Summary>,
    /// Batches that an idle device got and that nothing joined.
    pub batches: u64,
    /// Those of them that took longer than the drive's table allows.
    pub overruns: u64,
    /// The most by which one did.
    pub overrun_max: Duration,
    /// From the start to the end of the run.
    pub wall: Duration,
}

impl RunOutcome {
    /// Whether every job that was released was finished by its deadline, without an error.
    pub fn is_kept(&self) -> bool {
        self.tasks.iter().all(|task| task.misses == 0 && task.jobs_failed == 0)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// At its full length, every job finished.
    Complete,
    /// It was cancelled: the results are of the part before.
    Interrupted,
    /// More requests waited than there is room for, because the workload asks for more than
    /// the device gives: the results are of the part before.
    Overloaded,
}

/// What became of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Its name.
    pub name: String,
    /// Jobs that were finished.
    pub jobs: u64,
    /// Jobs of which a request failed: they are in no other figure about jobs.
    pub jobs_failed: u64,
    /// Jobs that were released and, the run ending early, not finished.
    pub jobs_unfinished: u64,
    /// Jobs finished after their deadline, or not finished and past it.
    pub misses: u64,
    /// From the nominal release of a job to when the host saw its last request complete.
    pub response: Option<Summary>,
}

/// What all sources of a class got up to the last release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassOutcome {
    /// Requests that the device did.
    pub requests: u64,
    /// What they moved.
    pub bytes: Bytes,
    /// What they moved in a second; `None` when everything was released at the very start.
    pub throughput_bytes_per_s: Option<u64>,
}

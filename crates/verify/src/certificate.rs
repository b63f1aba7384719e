// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The certificate, as `tidegate check --certificate` writes it. The reader ignores unknown keys,
//! which only inform people.

use serde::Deserialize;

/// The version of the format that this crate checks.
pub const VERSION: u32 = 1;

/// A verdict and what it follows from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Certificate {
    /// The version of the format.
    pub format: u32,
    /// The workload file.
    pub workload: FileHash,
    /// The drive file or built-in drive; `None` if the workload file holds the drive.
    pub drive: Option<FileHash>,
    /// The policy, `dqf`, `dq-edf` or `gated-drain`.
    pub policy: String,
    /// z.
    pub batch: u64,
    /// beta.
    pub best_effort_fill: u64,
    /// The margin that the table contains, in parts per million.
    pub margin_ppm: u32,
    /// The host's time; `None` if the workload states none.
    #[serde(default)]
    pub host: Option<HostTime>,
    /// b(1) to b(z), with the margin and with what the host adds to a batch; not used for
    /// `gated-drain`.
    pub batch_ns_max: Vec<u64>,
    /// The tasks with their stated bounds.
    pub tasks: Vec<CertifiedTask>,
    /// The busy-interval bound, if it is used.
    pub busy_interval: Option<BusyInterval>,
    /// The steps of the backlog bound, one for each number of requests of a job; empty if it is not
    /// used.
    pub backlog: Vec<BacklogStep>,
    /// The costs of requests, if a bound rests on them.
    pub costs: Option<Costs>,
    /// The drain times, for `gated-drain`.
    pub drain: Option<Drain>,
}

/// A file, by its content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FileHash {
    /// Its name when the verdict was made.
    pub name: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The host's time, by where it enters the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HostTime {
    /// J: until the policy sees a job.
    pub release_ns: u64,
    /// h: the host's time that each batch time contains.
    pub batch_ns: u64,
    /// c: until the client has the answer.
    pub reply_ns: u64,
}

/// A task as the policy sees it, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CertifiedTask {
    /// The name.
    pub name: String,
    /// p.
    pub period_ns: u64,
    /// d; for a task with m buffers at most m periods.
    pub deadline_ns: u64,
    /// e.
    pub requests: u64,
    /// The bound on which the verdict rests.
    pub response_ns_max: u64,
    /// R of Theorems 1 to 3, which hold for all tasks together; `None` if they give none.
    pub tight_ns: Option<u64>,
    /// c: the most that one request adds to a batch, if a bound rests on costs.
    pub cost_ns: Option<u64>,
    /// The contract before host and jitter; `None` without both.
    #[serde(default)]
    pub client: Option<Client>,
}

/// A task's contract with its client, who waits for jitter and host too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Client {
    /// p.
    pub period_ns: u64,
    /// d; for a task with m buffers at most m periods.
    pub deadline_ns: u64,
    /// The task's own jitter: from a job's arrival until the way of the host begins.
    #[serde(default)]
    pub jitter_ns: u64,
    /// The bound at the client.
    pub response_ns_max: u64,
}

/// What a batch costs in addition to the requests of the tasks, with the margin.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Costs {
    /// A: once for each batch; with what the host adds to a batch.
    pub positioning_ns: u64,
    /// The most that one best-effort request adds to a batch.
    pub best_effort_ns: u64,
}

/// The drain times, with the margin, and whether there is best effort.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Drain {
    /// drain(1) to drain(K), with what the host adds to a drain: the drive never gets more than K
    /// requests.
    pub ns_max: Vec<u64>,
    /// Whether best effort is sent too.
    pub has_best_effort: bool,
}

/// A window of full batches that closes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BusyInterval {
    /// x: the window holds at most x batches.
    pub batches: u64,
    /// The requests that the tasks release in x b(z), at most x z.
    pub released: u64,
}

/// The longest wait behind a batch in flight.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BacklogStep {
    /// e: the requests of the job.
    pub requests: u64,
    /// The sizes that the batch in flight can have.
    pub carry_ins: Vec<u64>,
    /// The size with the longest wait.
    pub in_flight: u64,
    /// The batches after it, up to the job's last one.
    pub batches: u64,
    /// The size of the last batch.
    pub last: u64,
    /// The sum of the times of all these batches.
    pub response_ns: u64,
}

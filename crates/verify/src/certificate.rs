// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The certificate in the format of `tidegate check --certificate`. Keys that this crate does not
//! know are ignored, because they only inform people.

use serde::Deserialize;

/// The version of the format that this crate checks.
pub const VERSION: u32 = 1;

/// A verdict and the numbers from which it follows.
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
    /// z: the largest number of requests in a batch.
    pub batch: u64,
    /// beta: the number of requests up to which best effort fills a batch.
    pub best_effort_fill: u64,
    /// The margin that the table contains, in parts per million.
    pub margin_ppm: u32,
    /// The host's time; `None` if the workload states none.
    #[serde(default)]
    pub host: Option<HostTime>,
    /// The longest batch times b(1) to b(z), including the margin and the host's time per batch;
    /// not used for `gated-drain`.
    pub batch_ns_max: Vec<u64>,
    /// The tasks with their stated bounds.
    pub tasks: Vec<CertifiedTask>,
    /// The busy-interval bound, if it is used.
    pub busy_interval: Option<BusyInterval>,
    /// The steps of the backlog bound, one for each number of requests of a job; empty if the bound
    /// is not used.
    pub backlog: Vec<BacklogStep>,
    /// The costs of requests, if a bound uses them.
    pub costs: Option<Costs>,
    /// The drain times, for `gated-drain`.
    pub drain: Option<Drain>,
}

/// A file, identified by its content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FileHash {
    /// The file's name when the verdict was made.
    pub name: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The longest times of the host, by the place at which they enter the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HostTime {
    /// J: the longest time from when a client has a job until the policy sees it.
    pub release_ns: u64,
    /// h: the time of the host that each batch time includes.
    pub batch_ns: u64,
    /// c: the longest time from when the policy sees a job's completion until the client has the
    /// reply.
    pub reply_ns: u64,
}

/// A task as the policy sees it, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CertifiedTask {
    /// The name.
    pub name: String,
    /// p: the period.
    pub period_ns: u64,
    /// d: the relative deadline; for a task with m buffers, at most m periods.
    pub deadline_ns: u64,
    /// e: the number of requests of a job.
    pub requests: u64,
    /// The bound that the verdict uses.
    pub response_ns_max: u64,
    /// R of Theorems 1 to 3, which bound all tasks jointly; `None` if these theorems give no bound.
    pub tight_ns: Option<u64>,
    /// c: the longest time that one request adds to a batch, if a bound uses costs.
    pub cost_ns: Option<u64>,
    /// The contract with the client, before jitter and the host's time are subtracted; `None` if
    /// the workload states neither.
    #[serde(default)]
    pub client: Option<Client>,
}

/// A task's contract with its client, which also waits for the task's jitter and for the host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Client {
    /// p: the period.
    pub period_ns: u64,
    /// d: the relative deadline; for a task with m buffers, at most m periods.
    pub deadline_ns: u64,
    /// The task's own jitter: the longest time from a job's arrival until the host's J begins.
    #[serde(default)]
    pub jitter_ns: u64,
    /// The bound of the response time at the client.
    pub response_ns_max: u64,
}

/// The costs other than those of tasks, including the margin.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Costs {
    /// A: the fixed cost of each batch, including the host's time per batch.
    pub positioning_ns: u64,
    /// The longest time that one best-effort request adds to a batch.
    pub best_effort_ns: u64,
}

/// The drain times, including the margin, and whether there is best effort.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Drain {
    /// drain(1) to drain(K), including the host's time per drain; the drive never holds more than K
    /// requests.
    pub ns_max: Vec<u64>,
    /// Whether there is best effort.
    pub has_best_effort: bool,
}

/// A window of full batches that is long enough to serve all requests that are released in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BusyInterval {
    /// x: the maximum number of batches in the window.
    pub batches: u64,
    /// The number of requests that the tasks release in x b(z), at most x z.
    pub released: u64,
}

/// The longest response of a job that waits behind a batch in flight.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BacklogStep {
    /// e: the number of requests of the job.
    pub requests: u64,
    /// The possible sizes of the batch in flight.
    pub carry_ins: Vec<u64>,
    /// The size of the batch in flight that gives the longest response.
    pub in_flight: u64,
    /// The number of batches after the batch in flight, up to the job's last one.
    pub batches: u64,
    /// The size of the last batch.
    pub last: u64,
    /// The sum of the times of all these batches.
    pub response_ns: u64,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The lines of the control socket as types: the service writes them and its clients read them, so
//! a field cannot be renamed on one side only. A field's name ends in its unit, then a qualifier.
//!
//! A client reads the replies of older and newer services: it ignores fields that it does not know,
//! and every field that was added to a reply later has a default. Fields are never removed.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_model::{Grade, Premises};

tidegate_model::names! {
    /// The queries and commands, in the order in which messages list them.
    pub enum Verb {
        /// Asks for the exports and their bounds: [`Status`].
        Status => "status",
        /// Asks for the statistics so far: [`Statistics`].
        Statistics => "statistics",
        /// Asks for the distributions of the response times: [`Distributions`].
        Distributions => "distributions",
        /// Reports that an export's client missed a deadline: [`Heard`].
        Missed => "missed",
        /// Reports the end of an export's stream: [`Heard`].
        Ended => "ended",
        /// Asks whether an export would be admitted: [`AdmittedExport`].
        Check => "check",
        /// Admits an export: [`AdmittedExport`].
        Admit => "admit",
        /// Removes an export: [`RemovedExport`].
        Remove => "remove",
        /// Stops the service: [`Noted`].
        Stop => "stop",
    }
}

/// How a request identifies the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportPart {
    /// The request names no export: it concerns all of them.
    Absent,
    /// The export's name.
    Name,
    /// A new export, with the keys of a serve file.
    New,
}

impl Verb {
    /// Returns how a request with this verb identifies its export.
    pub const fn export(self) -> ExportPart {
        match self {
            Self::Status | Self::Statistics | Self::Distributions | Self::Stop => {
                ExportPart::Absent
            }
            Self::Missed | Self::Ended | Self::Remove => ExportPart::Name,
            Self::Check | Self::Admit => ExportPart::New,
        }
    }

    /// Returns whether the service can refuse a valid request with this verb.
    pub const fn is_about_change(self) -> bool {
        match self {
            Self::Check | Self::Admit | Self::Remove => true,
            Self::Status
            | Self::Statistics
            | Self::Distributions
            | Self::Missed
            | Self::Ended
            | Self::Stop => false,
        }
    }
}

/// A request: its verb, and the export concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The verb, for example `status`.
    #[serde(rename = "do")]
    pub verb: String,
    /// The export's name; for a check or an admission, the whole export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export: Option<Value>,
}

/// Reads a reply of the service.
///
/// # Errors
/// If the line is not a reply, or not the expected one.
pub fn read<T: DeserializeOwned>(line: &str) -> Result<Result<T, Failed>, serde_json::Error> {
    let Outcome { ok } = serde_json::from_str(line)?;
    Ok(if ok { Ok(serde_json::from_str(line)?) } else { Err(serde_json::from_str(line)?) })
}

/// Returns whether a line is a reply of a service of any version.
pub fn is_reply(line: &str) -> bool {
    serde_json::from_str::<Outcome>(line).is_ok()
}

#[derive(Deserialize)]
struct Outcome {
    ok: bool,
}

/// A successful reply: `"ok":true`, then its fields.
#[derive(Serialize)]
pub(super) struct Done<T> {
    ok: bool,
    #[serde(flatten)]
    reply: T,
}

impl<T> Done<T> {
    pub(super) fn new(reply: T) -> Self {
        Self { ok: true, reply }
    }
}

/// The reply to a request that failed: the error, and the user's next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Always `false`.
    pub ok: bool,
    /// The error message.
    pub error: String,
    /// The user's next step; empty if there is none.
    pub help: String,
    /// Whether the request was valid and the service refused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_refused: bool,
    /// Changes that would get the export admitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_fit: Vec<String>,
}

/// A reply without fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {}

/// The reply to a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// Whether notices steer a regulator of this service.
    pub is_heard: bool,
}

/// The exports, and whether their bounds still hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The service's version.
    pub version: String,
    /// The policy's name.
    pub policy: String,
    /// Whether notices steer a regulator of this service.
    pub hears_notices: bool,
    /// The time since the service started.
    pub uptime_ns: u64,
    /// The real-time settings that the kernel granted.
    pub real_time: RealTimeStatus,
    /// Whether any bound does not hold now: a response exceeded it, or the drive exceeded its
    /// table, and the guarantee has not been restored yet.
    pub is_degraded: bool,
    /// The number of times that the guarantee was degraded.
    #[serde(default)]
    pub degradations: u64,
    /// The time since the guarantee last changed, or since the service started.
    #[serde(default)]
    pub unchanged_ns: u64,
    /// The grade of the bounds; `None` if nothing is proved.
    #[serde(default)]
    pub grade: Option<Grade>,
    /// The premises of the bounds.
    #[serde(default)]
    pub premises: Premises,
    /// All exports.
    pub exports: Vec<ExportStatus>,
}

/// The state of a service's guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// No export has a contract.
    NotRequested,
    /// Every contract is proved and its bound holds.
    Stands {
        /// The number of requests with a contract that the drive failed.
        failed: u64,
    },
    /// Some bound does not hold now.
    Degraded,
    /// Some contract is not proved.
    NotProved,
}

impl Status {
    /// Returns the state of the guarantee.
    pub fn guarantee(&self) -> Guarantee {
        let is_promised = |export: &&ExportStatus| export.contract.is_some() && !export.is_soft;
        let promised = || self.exports.iter().filter(is_promised);
        let stands = |export: &ExportStatus| export.bound_ns.is_some() && !export.is_degraded;
        if promised().next().is_none() {
            Guarantee::NotRequested
        } else if promised().all(stands) {
            Guarantee::Stands { failed: promised().map(|export| export.failed).sum() }
        } else if self.is_degraded {
            Guarantee::Degraded
        } else {
            Guarantee::NotProved
        }
    }

    /// Returns whether every contract is proved and its bound still holds, and no request with a
    /// contract failed.
    pub fn is_guaranteed(&self) -> bool {
        match self.guarantee() {
            Guarantee::NotRequested | Guarantee::Stands { failed: 0 } => true,
            Guarantee::Stands { .. } | Guarantee::Degraded | Guarantee::NotProved => false,
        }
    }
}

/// The real-time scheduling of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealTimeStatus {
    /// Whether all requested settings were granted.
    pub is_granted: bool,
    /// A sentence about these settings.
    pub text: String,
}

/// An export's range, contract and bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStatus {
    /// The export's name.
    pub name: String,
    /// The start of the export's range in the store.
    pub offset_bytes: u64,
    /// The export's size.
    pub size_bytes: u64,
    /// Whether the export refuses writes.
    pub is_read_only: bool,
    /// The export's contract; `None` for best effort and for streams without figures.
    pub contract: Option<ContractStatus>,
    /// Whether the export is soft real time: its notices count, and its deadlines need no proof.
    #[serde(default)]
    pub is_soft: bool,
    /// The export's proved bound on the response time; `None` if nothing is proved.
    pub bound_ns: Option<u64>,
    /// The export's weight among best effort.
    pub weight: u32,
    /// The limit of the export's best-effort throughput, in bytes per second; `None` if unlimited.
    pub limit_bytes_per_s: Option<u64>,
    /// Whether the export's bound does not hold now.
    pub is_degraded: bool,
    /// The number of requests that the drive failed.
    pub failed: u64,
}

/// The terms of a contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractStatus {
    /// The number of requests per period.
    pub requests: u32,
    /// The period.
    pub period_ns: u64,
    /// The relative deadline of each request.
    pub deadline_ns: u64,
    /// The size of the largest request.
    pub size_bytes_max: u64,
    /// `read` or `write`; `None` if the contract covers both.
    pub op: Option<String>,
    /// How requests beyond the contract are treated: `wait` or `best-effort`.
    pub beyond: String,
}

/// The statistics so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// The time since the service started.
    pub uptime_ns: u64,
    /// Whether any bound does not hold now.
    pub is_degraded: bool,
    /// The number of times that the guarantee was degraded.
    #[serde(default)]
    pub degradations: u64,
    /// All exports.
    pub exports: Vec<ExportFigures>,
    /// The drive's statistics.
    pub drive: DriveFigures,
}

/// The statistics so far, the distributions of the exports' response times, and the state of the
/// service, all taken at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distributions {
    /// The statistics.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// The exports, and whether their bounds hold.
    pub status: Status,
    /// The distributions of all exports, in the order of [`Self::statistics`].
    pub distributions: Vec<ExportDistribution>,
}

/// The response times of one export, for the same requests as in [`ExportFigures`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportDistribution {
    /// The export's name.
    pub name: String,
    /// Pairs of a time t and a number n, in rising order: n responses took at most t and longer
    /// than the previous pair's time.
    pub response_ns_steps: Vec<(u64, u64)>,
}

/// An export's statistics. Response times cover the requests to which the contract's bound applies;
/// for best effort, all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportFigures {
    /// The export's name.
    pub name: String,
    /// The number of completed requests.
    pub requests: u64,
    /// The number of completed requests that were served as best effort.
    pub requests_best_effort: u64,
    /// The number of requests that missed their deadline.
    pub misses: u64,
    /// The number of requests that exceeded their bound.
    pub exceeded: u64,
    /// The largest excess over the bound.
    #[serde(default)]
    pub excess_ns_max: u64,
    /// The number of requests that exceeded their bound by more than the lateness of drive and
    /// host.
    pub unexplained: u64,
    /// The number of requests beyond the contract.
    pub beyond: u64,
    /// The number of requests that the drive failed.
    pub failed: u64,
    /// The number of requests that are still outstanding.
    pub outstanding: u64,
    /// The number of further requests that the contract allows now.
    pub tokens: u32,
    /// The largest number of requests that the contract allows at the same time; 0 without a
    /// contract.
    pub tokens_max: u32,
    /// The number of bytes read and written.
    pub transferred_bytes: u64,
    /// The number of flushes and durable writes.
    pub flushes: u64,
    /// The shortest response time.
    pub response_ns_min: Option<u64>,
    /// The mean response time.
    pub response_ns_mean: Option<u64>,
    /// The median response time.
    pub response_ns_p50: Option<u64>,
    /// The 99 % quantile of the response times.
    pub response_ns_p99: Option<u64>,
    /// The 99.9 % quantile of the response times.
    pub response_ns_p999: Option<u64>,
    /// The longest response time.
    pub response_ns_max: Option<u64>,
    /// The longest time from the arrival of an in-contract request until its reply was at the
    /// client's socket, without the time during which that socket had no room for the reply.
    #[serde(default)]
    pub socket_ns_max: u64,
    /// The total time during which clients' sockets had no room for their replies.
    #[serde(default)]
    pub client_full_ns: u64,
    /// The proved bound on the response time.
    pub bound_ns: Option<u64>,
    /// The contract's relative deadline.
    pub deadline_ns: Option<u64>,
    /// Whether the export's bound does not hold now.
    pub is_degraded: bool,
}

/// The drive's statistics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveFigures {
    /// The number of requests in flight.
    pub in_flight: u64,
    /// The number of batches compared with the drive's table.
    pub batches: u64,
    /// The median batch time.
    pub batch_ns_p50: Option<u64>,
    /// The longest batch time.
    pub batch_ns_max: Option<u64>,
    /// The number of batches that took longer than the table allows.
    pub overruns: u64,
    /// The number of these overruns that the proof tolerates.
    #[serde(default)]
    pub overruns_tolerated: u64,
    /// The sum of all overruns.
    pub overrun_ns_sum: u64,
    /// The largest overrun.
    pub overrun_ns_max: u64,
    /// The number of times that the drive completed nothing for seconds.
    pub stalls: u64,
}

/// An export that was admitted, or that would be, with the resulting bounds of all exports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmittedExport {
    /// The export's name.
    pub export: String,
    /// The start of the export's range in the store.
    pub offset_bytes: u64,
    /// The export's size.
    pub size_bytes: u64,
    /// The policy's name.
    pub policy: String,
    /// The bounds of all exports.
    pub bounds: Vec<ExportBound>,
    /// The grade of the bounds; `None` if nothing is proved.
    #[serde(default)]
    pub grade: Option<Grade>,
    /// The premises of the bounds.
    #[serde(default)]
    pub premises: Premises,
    /// When the bounds take effect, and how long they last.
    pub note: String,
}

/// An export that was removed, its statistics, and the other exports' bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedExport {
    /// The export's name.
    pub export: String,
    /// Whether the export's range of the store and its share of the drive are free again.
    pub is_free: bool,
    /// The number of completed requests.
    pub requests: u64,
    /// The number of requests that missed their deadline.
    pub misses: u64,
    /// The longest response time.
    pub response_ns_max: Option<u64>,
    /// The number of requests that were not completed.
    pub unanswered: u64,
    /// The policy's name.
    pub policy: String,
    /// The bounds of the other exports.
    pub bounds: Vec<ExportBound>,
    /// How long the change lasts.
    pub note: String,
}

/// One export's bound and deadline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportBound {
    /// The export's name.
    pub name: String,
    /// The export's proved bound on the response time; `None` if nothing is proved.
    pub bound_ns: Option<u64>,
    /// The contract's relative deadline; `None` without a contract.
    pub deadline_ns: Option<u64>,
}

#[cfg(test)]
mod tests;

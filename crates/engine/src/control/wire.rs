// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The lines of the control socket as types: the service writes them and its clients read them,
//! so a field cannot be renamed on one side only. Names end in their unit, a qualifier behind it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request: what to do, and about which export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// One of the verbs, as `status`.
    #[serde(rename = "do")]
    pub verb: String,
    /// A name; the whole of an export that is checked or admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export: Option<Value>,
}

/// Reads a reply of the service.
///
/// # Errors
/// When the line is no reply, or not the one that is expected.
pub fn read<T: DeserializeOwned>(line: &str) -> Result<Result<T, Failed>, serde_json::Error> {
    let Outcome { ok } = serde_json::from_str(line)?;
    Ok(if ok { Ok(serde_json::from_str(line)?) } else { Err(serde_json::from_str(line)?) })
}

/// Whether a line is a reply of a service, of whatever version.
pub fn is_reply(line: &str) -> bool {
    serde_json::from_str::<Outcome>(line).is_ok()
}

#[derive(Deserialize)]
struct Outcome {
    ok: bool,
}

/// A reply that says yes: `"ok":true`, then its fields.
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

/// Why something is not done, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// False.
    pub ok: bool,
    /// What is wrong.
    pub error: String,
    /// What to do about it; empty where nothing helps.
    pub help: String,
    /// Whether the request was understood, and the answer is no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_refused: bool,
    /// What would be admitted instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_fit: Vec<String>,
}

/// A reply without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {}

/// The reply to a notice of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// Whether a regulator of this service is steered by notices.
    pub is_heard: bool,
}

/// What is offered, and whether what was proved still stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The version of the service.
    pub version: String,
    /// The name of its policy.
    pub policy: String,
    /// Whether a regulator is steered by notices.
    pub hears_notices: bool,
    /// How long the service has run.
    pub uptime_ns: u64,
    /// What the kernel granted it.
    pub real_time: RealTimeStatus,
    /// Whether a bound was exceeded, or the drive broke its table.
    pub is_degraded: bool,
    /// Every export.
    pub exports: Vec<ExportStatus>,
}

/// The real-time scheduling of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealTimeStatus {
    /// Whether everything that was asked for was granted.
    pub is_granted: bool,
    /// In a sentence.
    pub text: String,
}

/// What was agreed for one export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStatus {
    /// Its name.
    pub name: String,
    /// Where it begins on the store.
    pub offset_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// Whether it refuses writes.
    pub is_read_only: bool,
    /// Its contract; none for best effort.
    pub contract: Option<ContractStatus>,
    /// Its proven response time; none where nothing is proven.
    pub bound_ns: Option<u64>,
    /// Its share of best effort.
    pub weight: u32,
    /// The most that it may move as best effort.
    pub limit_bytes_per_s: Option<u64>,
    /// Whether its guarantee no longer stands.
    pub is_degraded: bool,
    /// Requests that the drive did not carry out.
    pub failed: u64,
}

/// The terms of a contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractStatus {
    /// Requests in each period.
    pub requests: u32,
    /// The period.
    pub period_ns: u64,
    /// The deadline of each request.
    pub deadline_ns: u64,
    /// The size of the largest request.
    pub size_bytes_max: u64,
    /// `read` or `write`; none where both are agreed.
    pub op: Option<String>,
    /// What becomes of requests beyond the contract: `wait` or `best-effort`.
    pub beyond: String,
}

/// What was seen so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// How long the service had run.
    pub uptime_ns: u64,
    /// Whether a bound was exceeded, or the drive broke its table.
    pub is_degraded: bool,
    /// Every export.
    pub exports: Vec<ExportFigures>,
    /// The drive.
    pub drive: DriveFigures,
}

/// What was seen of one export. Responses are those that the contract's bound speaks of; of best
/// effort, all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportFigures {
    /// Its name.
    pub name: String,
    /// Requests that were answered.
    pub requests: u64,
    /// Those of them that were served as best effort.
    pub requests_best_effort: u64,
    /// Those that missed their deadline.
    pub misses: u64,
    /// Those that exceeded their bound.
    pub exceeded: u64,
    /// Those that did although the drive kept its table.
    pub unexplained: u64,
    /// Those beyond the contract.
    pub beyond: u64,
    /// Those that the drive did not carry out.
    pub failed: u64,
    /// Those that are not answered yet.
    pub outstanding: u64,
    /// How many more may come within the contract now.
    pub tokens: u32,
    /// How many may come at once at most; 0 without a contract.
    pub tokens_max: u32,
    /// Bytes read and written.
    pub transferred_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// The shortest response.
    pub response_ns_min: Option<u64>,
    /// The mean of all responses.
    pub response_ns_mean: Option<u64>,
    /// Their median.
    pub response_ns_p50: Option<u64>,
    /// Their quantile of 99 %.
    pub response_ns_p99: Option<u64>,
    /// Their quantile of 99.9 %.
    pub response_ns_p999: Option<u64>,
    /// The longest response.
    pub response_ns_max: Option<u64>,
    /// The proven response time.
    pub bound_ns: Option<u64>,
    /// The deadline of the contract.
    pub deadline_ns: Option<u64>,
    /// Whether its guarantee no longer stands.
    pub is_degraded: bool,
}

/// What was seen of the drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveFigures {
    /// Requests on the drive.
    pub in_flight: u64,
    /// Batches that can be compared with its table.
    pub batches: u64,
    /// Their median time.
    pub batch_ns_p50: Option<u64>,
    /// The longest.
    pub batch_ns_max: Option<u64>,
    /// Those that took longer than the table says.
    pub overruns: u64,
    /// By how much all of them did.
    pub overrun_ns_sum: u64,
    /// By how much the worst did.
    pub overrun_ns_max: u64,
    /// How often nothing came back for seconds.
    pub stalls: u64,
}

/// An export that is admitted, or would be, and what every export is promised then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmittedExport {
    /// Its name.
    pub export: String,
    /// Where it begins on the store.
    pub offset_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// The policy's name.
    pub policy: String,
    /// What each export is promised.
    pub bounds: Vec<ExportBound>,
    /// How long that holds.
    pub note: String,
}

/// An export that was removed, what it got, and what every other export is promised then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedExport {
    /// Its name.
    pub export: String,
    /// Whether its place on the store and its share of the drive can be used already.
    pub is_free: bool,
    /// Requests that were answered.
    pub requests: u64,
    /// Those that missed their deadline.
    pub misses: u64,
    /// The longest response.
    pub response_ns_max: Option<u64>,
    /// Requests that were not answered.
    pub unanswered: u64,
    /// The policy's name.
    pub policy: String,
    /// What each other export is promised.
    pub bounds: Vec<ExportBound>,
    /// How long that holds.
    pub note: String,
}

/// What one export is promised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportBound {
    /// Its name.
    pub name: String,
    /// Its proven response time.
    pub bound_ns: Option<u64>,
    /// The deadline of its contract.
    pub deadline_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a field that one side does not know is a fault, and never a zero.
    #[test]
    fn a_reply_without_an_expected_field_is_refused() {
        let heard = "{\"ok\":true,\"is_heard\":true,\"more\":1}";
        assert_eq!(read(heard).unwrap(), Ok(Heard { is_heard: true }));
        let renamed = "{\"ok\":true,\"was_heard\":true}";
        assert!(read::<Heard>(renamed).is_err() && is_reply(renamed));
        assert!(!is_reply("HTTP/1.1 400 Bad Request"));
    }

    #[test]
    fn a_reply_says_first_whether_it_is_one_and_a_refusal_is_read_as_it_was_written() {
        let written = serde_json::to_string(&Done::new(Heard { is_heard: false })).unwrap();
        assert_eq!(written, "{\"ok\":true,\"is_heard\":false}");
        let refused = Failed {
            ok: false,
            error: "no".to_owned(),
            help: String::new(),
            is_refused: true,
            would_fit: vec!["half".to_owned()],
        };
        let written = serde_json::to_string(&refused).unwrap();
        assert_eq!(read::<Heard>(&written).unwrap(), Err(refused));
        let plain = "{\"ok\":false,\"error\":\"what?\",\"help\":\"write it so\"}";
        assert!(!read::<Heard>(plain).unwrap().unwrap_err().is_refused);
    }
}

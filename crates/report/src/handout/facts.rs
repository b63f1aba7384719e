// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts of a result's report that the page shows, as types.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tidegate_model::{Premise, Premises};

/// The facts of a report; a watch or a service has more facts in `seen`.
#[derive(Debug, Deserialize)]
pub(super) struct Facts {
    pub(super) answer: String,
    #[serde(default, deserialize_with = "text")]
    pub(super) drive: Option<String>,
    pub(super) device: Option<String>,
    pub(super) model: Option<String>,
    pub(super) policy: Option<String>,
    #[serde(default, deserialize_with = "number")]
    pub(super) batch: Option<u64>,
    pub(super) seed: Option<u64>,
    #[serde(default)]
    pub(super) tasks: Vec<BoundFacts>,
    #[serde(default)]
    pub(super) policies: Vec<PolicyFacts>,
    pub(super) limited_by: Option<String>,
    #[serde(default)]
    pub(super) would_fit: Vec<String>,
    pub(super) to_do: Option<String>,
    #[serde(default)]
    premises: Premises,
    /// The warnings of a measurement.
    #[serde(default)]
    pub(super) warnings: Vec<WarningFacts>,
    /// The origin; `None` for a measurement, for which the drive file states it.
    pub(super) origin: Option<OriginFacts>,
}

/// A warning of `profile`.
#[derive(Debug, Deserialize)]
pub(super) struct WarningFacts {
    pub(super) text: String,
}

/// The proof for one task in a result of `check`.
#[derive(Debug, Deserialize)]
pub(super) struct BoundFacts {
    pub(super) name: String,
    pub(super) period_ns: Option<u64>,
    pub(super) deadline_ns: Option<u64>,
    pub(super) response_ns_max: Option<u64>,
    pub(super) bound_used: Option<String>,
    pub(super) meets_deadline: Option<bool>,
}

/// The run of one policy in a result of `sim` or `run`.
#[derive(Debug, Deserialize)]
pub(super) struct PolicyFacts {
    pub(super) policy: String,
    end: String,
    pub(super) answer: Option<String>,
    #[serde(default)]
    pub(super) tasks: Vec<TaskFacts>,
    pub(super) real_time: Option<VolumeFacts>,
    pub(super) best_effort: Option<VolumeFacts>,
    #[serde(default)]
    premises: Premises,
}

/// The results of one task under a policy.
#[derive(Debug, Deserialize)]
pub(super) struct TaskFacts {
    pub(super) name: String,
    pub(super) jobs: Option<u64>,
    pub(super) misses: Option<u64>,
    pub(super) response_ns_p50: Option<u64>,
    pub(super) response_ns_p99: Option<u64>,
    pub(super) response_ns_p999: Option<u64>,
    pub(super) response_ns_max: Option<u64>,
    pub(super) bound_ns: Option<u64>,
}

/// The throughput of a source.
#[derive(Debug, Deserialize)]
pub(super) struct VolumeFacts {
    pub(super) throughput_bytes_per_s: Option<u64>,
}

/// The version of the program, and the files that it read.
#[derive(Debug, Deserialize)]
pub(super) struct OriginFacts {
    pub(super) version: String,
    pub(super) commit: String,
    pub(super) workload: FileFacts,
    pub(super) drive: Option<FileFacts>,
}

/// A file that the program read.
#[derive(Debug, Deserialize)]
pub(super) struct FileFacts {
    name: String,
    sha256: String,
    modified: Option<String>,
}

/// Reads a number; `None` for anything else, because in a measurement `batch` contains tables.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64())
}

/// Reads a text; `None` for anything else, because in a service's statistics `drive` is an object.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().map(str::to_owned))
}

impl Facts {
    pub(super) fn of(report: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(report)
    }

    /// Returns the premises of the report and of every policy, without duplicates.
    pub(super) fn premises(&self) -> Vec<String> {
        let of_policies = self.policies.iter().map(|policy| &policy.premises);
        let all = of_policies.fold(self.premises.clone(), |all, more| all.and(more));
        let line = |it: &Premise| format!("{} ({}): {}", it.subject, it.weight(), it.text);
        all.iter().map(line).collect()
    }
}

impl PolicyFacts {
    /// Returns whether the policy ran before an interruption.
    pub(super) fn is_run(&self) -> bool {
        self.end != "not_run"
    }
}

impl FileFacts {
    /// Describes the file on one line.
    pub(super) fn line(&self) -> String {
        let modified = self.modified.as_ref().map(|at| format!(", modified {at}"));
        format!("{}{}, SHA-256 {}", self.name, modified.unwrap_or_default(), self.sha256)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts of a result's report that the page shows, by type.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tidegate_model::{Premise, Premises};

/// The facts of a report; those of `watch` and of a service are in `seen`, too.
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
    /// `None` for a measurement, whose origin the drive file states.
    pub(super) origin: Option<OriginFacts>,
}

/// A warning of `profile`.
#[derive(Debug, Deserialize)]
pub(super) struct WarningFacts {
    pub(super) text: String,
}

/// One task of `check`.
#[derive(Debug, Deserialize)]
pub(super) struct BoundFacts {
    pub(super) name: String,
    pub(super) period_ns: Option<u64>,
    pub(super) deadline_ns: Option<u64>,
    pub(super) response_ns_max: Option<u64>,
    pub(super) bound_used: Option<String>,
    pub(super) meets_deadline: Option<bool>,
}

/// One policy of `sim` or `run`.
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

/// One task under a policy.
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

/// A throughput.
#[derive(Debug, Deserialize)]
pub(super) struct VolumeFacts {
    pub(super) throughput_bytes_per_s: Option<u64>,
}

/// The tool and the files.
#[derive(Debug, Deserialize)]
pub(super) struct OriginFacts {
    pub(super) version: String,
    pub(super) commit: String,
    pub(super) workload: FileFacts,
    pub(super) drive: Option<FileFacts>,
}

/// A file.
#[derive(Debug, Deserialize)]
pub(super) struct FileFacts {
    name: String,
    sha256: String,
    modified: Option<String>,
}

/// Reads a number; `None` for anything else, because in a measurement `batch` holds tables.
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

    /// Returns the premises of the report and of every policy, each once.
    pub(super) fn premises(&self) -> Vec<String> {
        let of_policies = self.policies.iter().map(|policy| &policy.premises);
        let all = of_policies.fold(self.premises.clone(), |all, more| all.and(more));
        let line = |it: &Premise| format!("{} ({}): {}", it.subject, it.weight(), it.text);
        all.iter().map(line).collect()
    }
}

impl PolicyFacts {
    /// Returns whether it ran before an interruption.
    pub(super) fn is_run(&self) -> bool {
        self.end != "not_run"
    }
}

impl FileFacts {
    /// Returns the file on one line.
    pub(super) fn line(&self) -> String {
        let modified = self.modified.as_ref().map(|at| format!(", modified {at}"));
        format!("{}{}, SHA-256 {}", self.name, modified.unwrap_or_default(), self.sha256)
    }
}

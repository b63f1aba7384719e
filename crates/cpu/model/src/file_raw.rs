// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The CPU tables of a workload file as written, before they are checked.

use serde::Deserialize;
use toml::Spanned;

use super::interference::RawCpuInterference;
use tidegate_model::units::Duration;

/// The `[cpu]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpu {
    pub(super) scheduling: Option<Spanned<String>>,
    pub(super) priorities: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) switch: Duration,
    #[serde(default)]
    pub(super) timer_latency: Duration,
}

/// A `[[cpu_task]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpuTask {
    pub(super) name: Spanned<String>,
    pub(super) count: Option<Spanned<u32>>,
    pub(super) period: Spanned<Duration>,
    pub(super) execution: Spanned<Duration>,
    pub(super) deadline: Option<Spanned<Duration>>,
    pub(super) priority: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) offset: Duration,
    #[serde(default)]
    pub(super) jitter: Duration,
    #[serde(default)]
    pub(super) blocking: Duration,
    pub(super) arrivals: Option<Spanned<String>>,
}

/// A `[[cpu_server]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpuServer {
    pub(super) name: Spanned<String>,
    pub(super) kind: Spanned<String>,
    pub(super) budget: Spanned<Duration>,
    pub(super) period: Spanned<Duration>,
    pub(super) priority: Option<Spanned<u32>>,
    pub(super) replenishments: Option<Spanned<u32>>,
    pub(super) preemption_charge: Option<Spanned<Duration>>,
    pub(super) background: Option<Spanned<RawBackground>>,
    pub(super) queue: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) blocking: Duration,
}

/// The `background` of a server: `"never"` or a priority.
#[derive(Deserialize)]
#[serde(untagged, expecting = "\"never\", or a priority such as 1")]
pub(super) enum RawBackground {
    Word(String),
    Priority(u32),
}

/// A `[[cpu_work]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpuWork {
    pub(super) name: Spanned<String>,
    pub(super) server: Spanned<String>,
    pub(super) arrivals: Option<Spanned<String>>,
    pub(super) gap: Option<Spanned<Duration>>,
    pub(super) burst: Option<Spanned<u32>>,
    pub(super) at: Option<Spanned<Vec<Duration>>>,
    pub(super) execution: Spanned<Duration>,
    pub(super) distribution: Option<Spanned<String>>,
    pub(super) deadline: Option<Spanned<Duration>>,
    #[serde(default)]
    pub(super) offset: Duration,
}

/// The processor part of a workload file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpuPart {
    pub(crate) cpu: Option<Spanned<RawCpu>>,
    #[serde(default, rename = "cpu_task")]
    pub(crate) tasks: Vec<RawCpuTask>,
    #[serde(default, rename = "cpu_server")]
    pub(crate) servers: Vec<RawCpuServer>,
    #[serde(default, rename = "cpu_work")]
    pub(crate) work: Vec<RawCpuWork>,
    #[serde(default, rename = "cpu_interference")]
    pub(crate) interference: Vec<RawCpuInterference>,
}

impl RawCpuPart {
    /// Returns whether the file has no processor part.
    pub(crate) fn is_empty(&self) -> bool {
        self.cpu.is_none()
            && self.tasks.is_empty()
            && self.servers.is_empty()
            && self.work.is_empty()
            && self.interference.is_empty()
    }
}

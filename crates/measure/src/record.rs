// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes the device, the host and the options of a measurement, for its drive file.

use std::time::SystemTime;

use tidegate_device::{DeviceFacts, RingSetup, WriteCache};
use tidegate_model::Duration;
use tidegate_model::drive_file::Identity;
use tidegate_platform::realtime::{RealTime, Throttling};

use crate::experiment::Experiment;
use crate::kind::{Kind, distinct};
use crate::lateness;
use crate::params::ProfileParams;
use crate::run_record::{RunRecord, Runs};

/// The state of the host when a measurement begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostRecord {
    /// The real-time scheduling that was granted; `None` if it was not requested.
    pub(crate) real_time: Option<RealTime>,
    /// The features with which the ring was set up.
    pub(crate) setup: RingSetup,
    /// The greatest lateness of a wake-up.
    pub(crate) lateness: Duration,
    /// The part of each period that the kernel leaves to real-time threads, and the period.
    pub(crate) throttling: Option<Throttling>,
}

/// Returns the identity of the device that these runs measured, and how it was measured.
pub(crate) fn identity(made: &[Experiment], facts: &DeviceFacts, runs: &Runs) -> Identity {
    Identity {
        when: runs.when(),
        how: Some(how(made, runs)),
        host: runs.host(),
        ..facts.identity()
    }
}

/// Returns the record of a run on a device with these options.
pub(crate) fn run(
    options: String,
    facts: &DeviceFacts,
    measured_at: SystemTime,
    host: &HostRecord,
) -> RunRecord {
    RunRecord {
        when: Some(instant(measured_at)),
        host: device_lines(facts).into_iter().chain(run_lines(host)).collect(),
        is_real_time: Some(host.real_time.is_some_and(|granted| granted.is_complete())),
        ..RunRecord::of_options(options)
    }
}

/// Returns a date and time in UTC.
pub(crate) fn instant(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// Returns the options that repeat the measurement with the experiments that were run.
pub(crate) fn options(params: &ProfileParams, made: &[Experiment]) -> String {
    let ProfileParams { kinds, depth, samples, seed, .. } = params;
    let (ops, sizes) = (list(kinds, |kind| kind.op.name()), list(kinds, |kind| kind.size));
    let names: Vec<_> = made.iter().map(|it| it.name()).collect();
    format!(
        "tidegate profile --only {} --op {ops} --size {sizes} --depth {depth} --samples {samples} \
         --seed {seed}",
        names.join(","),
    )
}

/// Returns the options of the runs, and the definition of a time for each experiment.
pub(crate) fn how(made: &[Experiment], runs: &Runs) -> String {
    let mut times: Vec<_> = made.iter().map(|it| it.facts().time).collect();
    times.dedup();
    format!("{}{}", runs.options(), times.join("; "))
}

/// Lists each distinct value of the kinds once, separated by commas.
fn list<T: PartialEq + ToString>(kinds: &[Kind], of: impl Fn(&Kind) -> T) -> String {
    distinct(kinds.iter().map(of)).iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the facts that the kernel reports about the device, one line each.
fn device_lines(facts: &DeviceFacts) -> Vec<String> {
    let media = |rotational| if rotational { Identity::ROTATES } else { "not rotational" };
    [
        Some(format!("kernel {}", facts.kernel)),
        facts.scheduler.as_ref().map(|name| format!("scheduler {name}")),
        facts.request_size_max.map(|size| format!("the kernel splits requests above {size}")),
        facts.requests_max.map(|count| format!("the kernel queues {count} requests")),
        facts.queue_depth.map(|count| format!("the device accepts {count} requests")),
        facts.write_cache.map(WriteCache::name).map(|cache| format!("write cache: {cache}")),
        facts.rotational.map(media).map(str::to_owned),
        facts.logical_block_size.map(|size| format!("logical blocks of {size}")),
        facts.physical_block_size.map(|size| format!("physical blocks of {size}")),
        (!facts.layers.is_empty()).then(|| format!("built on {}", facts.layers.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Describes the state of the host for a run, one line each.
fn run_lines(host: &HostRecord) -> Vec<String> {
    let real_time = host.real_time.map_or_else(
        || "real-time scheduling was not asked for".to_owned(),
        |granted| granted.to_string(),
    );
    let buffers = if host.setup.fixed_buffers { "registered" } else { "not registered" };
    let lateness = format!(
        "latest wake-up of the host {} in {} waits without the device; contained in every time",
        host.lateness,
        lateness::WAITS
    );
    let always = [real_time, format!("buffers {buffers}"), lateness];
    always.into_iter().chain(host.throttling.map(|it| it.to_string())).collect()
}

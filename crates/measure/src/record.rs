// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes what was measured, and on what, into a drive file.

use std::time::SystemTime;

use device::load::Completed;
use device::realtime::RealTime;
use device::steal::ProcessorTime;
use device::{DeviceFacts, RingSetup, WriteCache};
use model::drive_file::{Identity, MeasuredTable};
use model::{BatchTable, Duration};

use crate::confidence;
use crate::lateness;
use crate::order_statistics::Summary;
use crate::profile::{ProfileError, ProfileParams};
use crate::rounds::Measured;

/// What the host did during a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostRecord {
    /// What was granted, if it was asked for.
    pub(crate) real_time: Option<RealTime>,
    /// How the ring was set up.
    pub(crate) setup: RingSetup,
    /// The latest wake-up.
    pub(crate) lateness: Duration,
    /// Stolen and total time.
    pub(crate) processor: Option<ProcessorTime>,
    /// What the device completed for others.
    pub(crate) other_load: Option<Completed>,
}

/// The table of what was measured, and the least number of samples in it. It ends before
/// the first batch without a sample.
pub(crate) fn table(
    params: &ProfileParams,
    measured: Measured,
) -> Result<(MeasuredTable, u32), ProfileError> {
    let summaries = summaries(measured.times)?;
    let highest: Vec<_> = summaries.iter().map(|summary| summary.highest).collect();
    let samples = summaries.iter().map(|summary| summary.count).min().unwrap_or(0);
    let level = |index: usize| summaries.iter().map(|it| it.quantiles[index].ns()).collect();
    let table = MeasuredTable {
        op: Some(params.op),
        size: Some(params.size),
        ns_max: highest.iter().map(|time| time.ns()).collect(),
        quantiles_ns: std::array::from_fn(level),
        samples: Some(u64::from(samples)),
        confidence: Some(confidence::statement(samples)),
        table: BatchTable::new(&highest).expect("every batch has a time above zero"),
    };
    Ok((table, samples))
}

/// One summary for each batch size up to the first without a sample.
fn summaries(times: Vec<Vec<Duration>>) -> Result<Vec<Summary>, ProfileError> {
    let summaries: Vec<_> =
        times.into_iter().map_while(|mut times| Summary::of(&mut times)).collect();
    if summaries.is_empty() { Err(ProfileError::NothingMeasured) } else { Ok(summaries) }
}

/// Which device was measured, and how.
pub(crate) fn identity(
    params: &ProfileParams,
    facts: &DeviceFacts,
    measured_at: SystemTime,
    host: &HostRecord,
) -> Identity {
    Identity {
        when: Some(instant(measured_at)),
        how: Some(how(params)),
        host: device_lines(facts).into_iter().chain(run_lines(host)).collect(),
        ..device_identity(facts)
    }
}

/// Which device a drive file is about: model, firmware and where, nothing of a measurement.
pub fn device_identity(facts: &DeviceFacts) -> Identity {
    Identity {
        model: facts.model.clone(),
        firmware: facts.firmware.clone(),
        place: place(facts),
        ..Identity::default()
    }
}

/// A date and time in UTC.
pub(crate) fn instant(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// The options that repeat the measurement, and what a time is.
pub(crate) fn how(params: &ProfileParams) -> String {
    let ProfileParams { op, size, depth, samples, seed, .. } = params;
    format!(
        "tidegate profile --op {} --size {size} --depth {depth} --samples {samples} --seed {seed}; \
         a time runs from just before one submission of the whole batch to its last completion",
        op.name()
    )
}

/// `sda`, or `a file on ext4 on sda`: no paths, drive files are shared.
fn place(facts: &DeviceFacts) -> Option<String> {
    match (&facts.file_system, &facts.device) {
        (Some(file_system), Some(device)) => Some(format!("a file on {file_system} on {device}")),
        (Some(file_system), None) => Some(format!("a file on {file_system}")),
        (None, device) => device.clone(),
    }
}

/// What the kernel told about the device.
fn device_lines(facts: &DeviceFacts) -> Vec<String> {
    let media = |rotational| if rotational { "rotational" } else { "not rotational" };
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

/// What the host did during the run.
fn run_lines(host: &HostRecord) -> Vec<String> {
    let real_time = host.real_time.map_or_else(
        || "real-time scheduling was not asked for".to_owned(),
        |granted| granted.to_string(),
    );
    let buffers = if host.setup.fixed_buffers { "registered" } else { "not registered" };
    [
        Some(real_time),
        Some(format!("buffers {buffers}")),
        Some(format!(
            "latest wake-up of the host {} in {} waits without the device; contained in every time",
            host.lateness,
            lateness::WAITS
        )),
        host.processor.map(|time| {
            format!("the hypervisor took {} of {} ticks", time.stolen_ticks, time.total_ticks)
        }),
        host.other_load.map(|load| {
            format!("other load: {} reads, {} writes completed", load.reads, load.writes)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

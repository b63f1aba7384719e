// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes what was measured, and on what, into a drive file.

use std::time::SystemTime;

use tidegate_device::{DeviceFacts, RingSetup, WriteCache};
use tidegate_model::drive_file::{Identity, MeasuredTable};
use tidegate_model::{BatchTable, Duration};
use tidegate_platform::realtime::RealTime;
use tidegate_platform::realtime::Throttling;

use crate::experiment::Experiment;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::lateness;
use crate::profile::ProfileParams;
use crate::run::skip;
use crate::run_record::{RunRecord, Runs};
use tidegate_stats::confidence;
use tidegate_stats::order_statistics::Summary;

/// What the host is like when a measurement begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostRecord {
    /// What was granted, if it was asked for.
    pub(crate) real_time: Option<RealTime>,
    /// How the ring was set up.
    pub(crate) setup: RingSetup,
    /// The latest wake-up.
    pub(crate) lateness: Duration,
    /// How much of each period the kernel leaves to real-time threads, and the period.
    pub(crate) throttling: Option<Throttling>,
}

/// The table of what was measured in so many ways for each number of requests, and the least
/// number of samples in it; none without a sample. It ends before the first number without a sample of each way.
///
/// Each figure is the greatest of those that the ways have, so that it holds for each of
/// them.
pub(crate) fn table(kind: Kind, ways: usize, cells: &[Vec<Sample>]) -> Option<MeasuredTable> {
    let times = |cell: &Vec<Sample>| -> Vec<_> { cell.iter().map(|sample| sample.took).collect() };
    let mut all: Vec<_> = cells.iter().map_while(|cell| Summary::of(&mut times(cell))).collect();
    all.truncate(all.len() / ways * ways);
    let entries: Vec<&[Summary]> = all.chunks(ways).collect();
    let samples = all.iter().map(|summary| summary.count).min()?;
    let greatest = |figure: &dyn Fn(&Summary) -> Duration| -> Vec<Duration> {
        let of_entry = |entry: &&[Summary]| entry.iter().map(figure).max();
        entries.iter().filter_map(of_entry).collect()
    };
    let ns = |list: Vec<Duration>| list.into_iter().map(Duration::ns).collect();
    let highest = greatest(&|summary| summary.highest);
    Some(MeasuredTable {
        op: Some(kind.op),
        size: Some(kind.size),
        table: BatchTable::new(&highest).expect("every batch has a time above zero"),
        ns_max: ns(highest),
        quantiles_ns: std::array::from_fn(|index| {
            ns(greatest(&|summary| summary.quantiles[index]))
        }),
        samples: Some(u64::from(samples)),
        depth: None,
        confidence: Some(confidence::statement(samples)),
    })
}

/// Which device was measured, and how, by these runs.
pub(crate) fn identity(params: &ProfileParams, facts: &DeviceFacts, runs: &Runs) -> Identity {
    Identity {
        when: runs.when(),
        how: Some(how(params, false, runs)),
        host: runs.host(),
        ..device_identity(facts)
    }
}

/// The record of a run on a device.
pub(crate) fn run(
    params: &ProfileParams,
    facts: &DeviceFacts,
    measured_at: SystemTime,
    host: &HostRecord,
) -> RunRecord {
    RunRecord {
        when: Some(instant(measured_at)),
        host: device_lines(facts).into_iter().chain(run_lines(host)).collect(),
        is_real_time: Some(host.real_time.is_some_and(|granted| granted.is_complete())),
        ..RunRecord::of_options(options(params, false))
    }
}

/// Which device a drive file is about: model, firmware and where, nothing of a measurement.
pub fn device_identity(facts: &DeviceFacts) -> Identity {
    Identity {
        model: facts.model.clone(),
        firmware: facts.firmware.clone(),
        serial_hash: facts.serial_hash.clone(),
        place: place(facts),
        ..Identity::default()
    }
}

/// A date and time in UTC.
pub(crate) fn instant(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// The options that repeat the measurement, with the experiments that are made.
pub(crate) fn options(params: &ProfileParams, has_tags: bool) -> String {
    let ProfileParams { kinds, depth, samples, seed, .. } = params;
    let (ops, sizes) = (list(kinds, |kind| kind.op.name()), list(kinds, |kind| kind.size));
    let names: Vec<_> = made(params, has_tags).map(Experiment::name).collect();
    format!(
        "tidegate profile --only {} --op {ops} --size {sizes} --depth {depth} --samples {samples} \
         --seed {seed}",
        names.join(","),
    )
}

/// The options of the runs, and what a time is.
pub(crate) fn how(params: &ProfileParams, has_tags: bool, runs: &Runs) -> String {
    let mut times: Vec<_> = made(params, has_tags).map(what_a_time_is).collect();
    times.dedup();
    format!("{}{}", runs.options(), times.join("; "))
}

/// The experiments that were asked for and can be made.
fn made(params: &ProfileParams, has_tags: bool) -> impl Iterator<Item = Experiment> {
    let chosen = Experiment::ALL.into_iter().filter(|it| params.experiments.contains(it));
    chosen.filter(move |it| skip(params, has_tags, *it).is_none())
}

/// Each once, with commas between.
fn list<T: PartialEq + ToString>(kinds: &[Kind], of: impl Fn(&Kind) -> T) -> String {
    let mut all: Vec<T> = Vec::new();
    for value in kinds.iter().map(of) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn what_a_time_is(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Batch => {
            "a time runs from just before one submission of the whole batch to its last completion"
        }
        Experiment::Drain => {
            "a drain runs from the last submission to the last completion, after random requests: \
             so many at once, or at the end of a flow of that depth or of the full depth; each \
             figure is the greatest of the three"
        }
        Experiment::Single => "single: one random request on an idle device",
        Experiment::Mixed => "a mixed batch is of several kinds and measured as a batch",
        Experiment::Throughput => {
            "throughput: stretches of a flow that keeps so many outstanding, their median"
        }
        Experiment::Rotation | Experiment::Overhead | Experiment::Zones | Experiment::SeekCurve => {
            "rotation, overhead, zones and seek-curve: one read at a time, from when it is back"
        }
        Experiment::Stripe => "stripe: reads of 4KiB, several at once",
        Experiment::DrainAdversary => {
            "drains after requests far apart raise the table where they are longer"
        }
        Experiment::Priority => {
            "a time of priority runs from one submission of all requests of priority to their \
             last completion, while random others keep the device full"
        }
        Experiment::Flush => {
            "a flush runs from its submission to an idle device to its completion, after one \
             write, as many as are outstanding at most, and as many as fill its cache, at random \
             and by turns at either end"
        }
        Experiment::Starvation => {
            "starved: one request in the highest fifth, all others in the lowest"
        }
    }
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

/// What the host is like for the run.
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

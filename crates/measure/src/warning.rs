// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Warnings for readers of a measured table. Each holds its figures.

use tidegate_device::load::Completed;
use tidegate_device::{Layer, Note, Splitting, Temperature};
use tidegate_model::{Bytes, Duration, count};
use tidegate_stats::confidence::{CONFIDENCE, FOUR_SIGMA_ABOVE, samples_needed};

use crate::experiment::Experiment;
use crate::geometry::{Apart, Doubt};
use crate::held_up::Disturbance;
use crate::kind::Kind;

pub(crate) mod host;
mod premise;

/// A limit on the meaning of a measured table. Its text states the observation, its meaning for the
/// table, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// There are too few samples for the usual confidence.
    #[error(
        "{} of each batch: {needed} are needed to see, with 99 % confidence, a time beyond 4 sigma on either side of a normal distribution (`--confidence 99%`), {} to see one above 4 sigma",
        count(samples, "sample"),
        samples_needed(CONFIDENCE, FOUR_SIGMA_ABOVE)
    )]
    FewSamples {
        /// The smallest number of samples of any cell.
        samples: u32,
        /// The number that the usual confidence needs.
        needed: u64,
    },
    /// Only a first look was requested.
    #[error(
        "measured with --quick: few samples, and no drains with requests far apart; measure again without it for a guarantee"
    )]
    Quick,
    /// An experiment was stopped.
    #[error(
        "stopped early: {samples} of {asked} samples of each {}{}",
        experiment.name(),
        cut(*experiment, *entries)
    )]
    Cancelled {
        /// The experiment.
        experiment: Experiment,
        /// The smallest number of samples of any cell.
        samples: u32,
        /// The requested number of samples.
        asked: u32,
        /// The part of the table that has samples; `None` if the experiment has no table.
        entries: Option<Entries>,
    },
    /// Experiments were stopped before their first sample.
    #[error("stopped before the first sample of {}", names(experiments))]
    NotBegun {
        /// The experiments.
        experiments: Vec<Experiment>,
    },
    /// An experiment was not run.
    #[error("{} was not measured: {skip}", experiment.name())]
    Skipped {
        /// The experiment.
        experiment: Experiment,
        /// The reason.
        skip: Skip,
    },
    /// A request was not served while others were.
    #[error(
        "a request was not served for {waited} while others were: the device does not bound the wait, so no starvation is recorded"
    )]
    Endless {
        /// The time that the experiment waited for it.
        waited: Duration,
    },
    /// Flushes did not stop getting longer, so the cache may never have been full.
    #[error(
        "flushes still take longer after {writes} {kind} than after fewer: the cache was never seen full, so no longest flush is recorded"
    )]
    FlushGrows {
        /// The kind of writes.
        kind: Kind,
        /// The largest number of writes before a flush.
        writes: u32,
    },
    /// Samples could not be written to the journal.
    #[error(
        "samples could not be kept ({0}): everything measured from then on is missing from the journal, and a resumed measurement repeats it"
    )]
    JournalFailed(String),
    /// The journal has rounds that were not requested.
    #[error(
        "the journal also has rounds of {}, which were not asked for now: they are kept there, and this run puts nothing of them into the drive file; name their --only, --op and --size to have it",
        of.join("; ")
    )]
    RoundsLeft {
        /// The experiments of these rounds, with their kinds of requests.
        of: Vec<String>,
    },
    /// The host lengthened longest times.
    #[error(
        "the host made longest times longer in {}{of}: {} of {} samples were held up by more than 1 %, and without them a longest time would be up to {} shorter; an otherwise idle host measures the device alone",
        counted(*measurements),
        disturbance.disturbed,
        disturbance.samples,
        disturbance.excess_max
    )]
    HeldUp {
        /// The number of affected measurements.
        measurements: usize,
        /// The measurement with the largest effect.
        of: String,
        /// The disturbance of that measurement.
        disturbance: Disturbance,
    },
    /// The device was different at the end of the measurement.
    #[error(
        "the device changed during the measurement in {}{of}: {shift} from the first third of its samples to the last; the times are a mixture, and later ones may be longer than all of them",
        counted(*measurements)
    )]
    Drifted {
        /// The number of affected measurements.
        measurements: usize,
        /// The entry with the largest change.
        of: String,
        /// The change, in words.
        shift: String,
    },
    /// The device is not a rotating disk.
    #[error("no rotation: {0}")]
    NoRotation(String),
    /// A property of the device could not be determined.
    #[error("{} found nothing: {why}", experiment.name())]
    NotSeen {
        /// The experiment.
        experiment: Experiment,
        /// The reason.
        why: String,
    },
    /// The disk that is made from the results does not take the measured times.
    #[error(
        "the disk that was found does not take the measured times: {apart}. So [mechanics] is missing, and [fit.mechanics] has what was found"
    )]
    MechanicsApart {
        /// The batch with the largest difference.
        apart: Apart,
    },
    /// The measurements do not determine a disk.
    #[error("the geometry is ambiguous, so [mechanics] is missing: {0}")]
    MechanicsAmbiguous(Doubt),
    /// The costs of requests could not be computed. Holds the reason.
    #[error("the costs of different requests are unknown, so [cost] is missing: {0}")]
    NoCosts(String),
    /// Successive samples depend on each other, so they carry less information than independent
    /// ones.
    #[error(
        "samples are not independent in {}{of}: its {samples} samples carry the information of about {effective}; the stated confidence is too high, and a larger `--samples` helps",
        counted(*measurements)
    )]
    Dependent {
        /// The number of affected measurements.
        measurements: usize,
        /// The entry with the strongest dependence.
        of: String,
        /// The number of samples.
        samples: u64,
        /// The number of independent samples that carry the same information.
        effective: u64,
    },
    /// The drive ignores the priority of requests.
    #[error(
        "the drive ignores the priority tag: the times are those of any requests in a full queue"
    )]
    PriorityIgnored,
    /// The kernel splits every request of this size.
    #[error(
        "the kernel splits each request of {size} into {} of at most {}: the device sees more requests than the table counts; measure with `--size {}`",
        splitting.pieces,
        splitting.size_max,
        splitting.size_max
    )]
    Split {
        /// The size of a request.
        size: Bytes,
        /// The number of pieces and their maximum size.
        splitting: Splitting,
    },
    /// The kernel's I/O scheduler is active for the device.
    #[error(
        "the kernel's scheduler {name} reorders and merges requests before {device} sees them: `echo none > /sys/block/{device}/queue/scheduler` leaves them to the device"
    )]
    Scheduler {
        /// The scheduler's name.
        name: String,
        /// The device's name.
        device: String,
    },
    /// The kernel holds requests back from the device.
    #[error(
        "batches of up to {depth} were sent, but only {accepted} requests reach the device at once: the kernel holds the rest back; measure with `--depth {accepted}`"
    )]
    DepthHidden {
        /// The largest batch measured.
        depth: u32,
        /// The number of requests that reach the device at the same time.
        accepted: u32,
    },
    /// Writes complete before they are on the medium.
    #[error(
        "the device has a volatile write cache: writes were complete before they were on the medium, and a full cache may take longer than any time measured"
    )]
    WriteCache,
    /// Only a part of the device, a file, was measured.
    #[error(
        "measured within a file of {size}: the table holds for that file{}",
        if *rotational { FARTHER } else { "" }
    )]
    FileOnly {
        /// The size of the file.
        size: Bytes,
        /// Whether the device rotates, so that its heads must move farther to reach the rest.
        rotational: bool,
    },
    /// A hypervisor provides the disk.
    #[error(
        "a hypervisor provides {device}: its host may answer from its own memory, and other machines share the hardware; no table measured here bounds what they do"
    )]
    VirtualDisk {
        /// The device's name.
        device: String,
    },
    /// The hypervisor took processor time.
    #[error(
        "the hypervisor took {ticks} ticks ({ppm} ppm of all processor time) during the run: some times are longer than the device's"
    )]
    Stolen {
        /// The ticks that were taken during the run.
        ticks: u64,
        /// The share of these in all processor time, in parts per million.
        ppm: u64,
    },
    /// The device also served other programs. Holds the numbers of requests that it completed for
    /// them.
    #[error(
        "the device also served other programs, {} reads and {} writes: they are in the times",
        .0.reads,
        .0.writes
    )]
    OtherLoad(Completed),
    /// A layer between the profiler and the medium has rules of its own.
    #[error("{0}")]
    Layered(Layer),
    /// The device is or was too warm. Holds its temperature.
    #[error("the device is at {0}: it throttles itself; cool it and measure again")]
    TooWarm(Temperature),
    /// The measurement ran without real-time scheduling.
    #[error(
        "measured without real-time scheduling and locked memory: times contain the host's delays"
    )]
    NotRealTime,
    /// A note from opening the target.
    #[error("{0}")]
    Target(Note),
}

/// The end of the warning for a file on a rotating disk.
const FARTHER: &str = "; across the whole device heads move further and requests take longer";

/// The number of entries that a table has, and the number that it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entries {
    /// The number of entries that have a sample.
    pub entries: u32,
    /// The number of entries that were requested.
    pub asked: u32,
}

/// The reason why an experiment was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Skip {
    /// Requests to a real device cannot carry the drive's own priority.
    #[error("no request carries the drive's own priority to a real device")]
    NoTags,
    /// The depth is 1, so no request can overtake another.
    #[error("with a depth of 1 nothing overtakes a request")]
    Alone,
    /// There is only one kind of request, so there is nothing to mix.
    #[error("one operation and one size leave nothing to mix: ask for several")]
    OneKind,
    /// The medium rotates, so the device is not made of chips.
    #[error("the medium turns")]
    Turns,
    /// No tracks were found, between which seeks could be measured.
    #[error("the positions of tracks are unknown")]
    NoZones,
    /// The mechanics of the disk are unknown.
    #[error(
        "no mechanics predict service times; they come from `rotation,overhead,zones,seek-curve`"
    )]
    NoMechanics,
    /// The experiment would destroy the data on the target.
    #[error("it writes, and that is not allowed (`--allow-writes`)")]
    MayNotWrite,
}

/// Returns `3 measurements, most in `, or nothing if there is only one.
fn counted(measurements: usize) -> String {
    if measurements == 1 { String::new() } else { format!("{measurements} measurements, most in ") }
}

/// Returns `; the table ends at b(3) instead of b(8)`; an empty text for a complete table.
fn cut(experiment: Experiment, entries: Option<Entries>) -> String {
    let symbol = experiment.symbol();
    let cut = entries.filter(|it| it.entries < it.asked).map(|Entries { entries, asked }| {
        format!("; the table ends at {symbol}({entries}) instead of {symbol}({asked})")
    });
    cut.unwrap_or_default()
}

fn names(experiments: &[Experiment]) -> String {
    experiments.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

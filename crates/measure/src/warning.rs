// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Warnings to readers of a measured table, each with its figure.

use tidegate_device::load::Completed;
use tidegate_device::{Layer, Note, Splitting, Temperature};
use tidegate_model::{Bytes, Duration};

use crate::experiment::Experiment;
use crate::held_up::Disturbance;
use crate::kind::Kind;

pub(crate) mod host;
mod kind;
mod text;

/// Something that limits what a measured table means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// There are too few samples for the usual confidence.
    FewSamples {
        /// The smallest number of samples of any cell.
        samples: u32,
        /// The number that the source requires.
        needed: u64,
    },
    /// An experiment was stopped.
    Cancelled {
        /// The experiment.
        experiment: Experiment,
        /// The smallest number of samples of any cell.
        samples: u32,
        /// The requested number.
        asked: u32,
        /// How much of the table there is; `None` if it has no table.
        entries: Option<Entries>,
    },
    /// Experiments were stopped before their first sample.
    NotBegun {
        /// The experiments.
        experiments: Vec<Experiment>,
    },
    /// An experiment was not run.
    Skipped {
        /// The experiment.
        experiment: Experiment,
        /// Why.
        skip: Skip,
    },
    /// A request starved while others were served.
    Endless {
        /// How long the experiment waited for it.
        waited: Duration,
    },
    /// The cache was never seen full.
    FlushGrows {
        /// What was written.
        kind: Kind,
        /// How many writes at most.
        writes: u32,
    },
    /// Samples are not in the journal.
    JournalFailed(String),
    /// The journal has rounds that were not requested.
    RoundsLeft {
        /// Their experiments, with the kinds of requests.
        of: Vec<String>,
    },
    /// The host lengthened longest times.
    HeldUp {
        /// The number of measurements that it affects.
        measurements: usize,
        /// The measurement with the largest effect.
        of: String,
        /// The disturbance there.
        disturbance: Disturbance,
    },
    /// The device was not the same at the end.
    Drifted {
        /// The number of measurements that it affects.
        measurements: usize,
        /// The entry with the largest change.
        of: String,
        /// That change, in words.
        shift: String,
    },
    /// The device is not a rotating disk.
    NoRotation(String),
    /// A property of the device could not be determined.
    NotSeen {
        /// The experiment.
        experiment: Experiment,
        /// Why.
        why: String,
    },
    /// No costs were found.
    NoCosts(String),
    /// Successive samples depend on each other: there are fewer independent ones than it seems.
    Dependent {
        /// The number of measurements that it affects.
        measurements: usize,
        /// The entry with the strongest dependence.
        of: String,
        /// How many samples it has.
        samples: u64,
        /// How many independent samples carry the same information.
        effective: u64,
    },
    /// The drive ignores the priority of requests.
    PriorityIgnored,
    /// The kernel splits every request.
    Split {
        /// The size of a request.
        size: Bytes,
        /// The number of pieces and their size.
        splitting: Splitting,
    },
    /// The kernel has a scheduler between us and the device.
    Scheduler {
        /// Its name.
        name: String,
        /// The device.
        device: String,
    },
    /// The kernel holds requests back from the device.
    DepthHidden {
        /// The largest batch measured.
        depth: u32,
        /// How many requests reach the device at once.
        accepted: u32,
    },
    /// Writes are complete before they are on the medium.
    WriteCache,
    /// Only a part of the device was measured.
    FileOnly {
        /// The size of the file.
        size: Bytes,
        /// Whether the device has to move a head to reach the rest.
        rotational: bool,
    },
    /// A hypervisor provides the disk.
    VirtualDisk {
        /// The device.
        device: String,
    },
    /// The hypervisor took time.
    Stolen {
        /// Ticks taken during the run.
        ticks: u64,
        /// Their share in parts per million.
        ppm: u64,
    },
    /// The device served others as well: the requests it completed for them.
    OtherLoad(Completed),
    /// A layer between us and the medium has rules of its own.
    Layered(Layer),
    /// The device is or was too warm.
    TooWarm(Temperature),
    /// The measurement ran without real-time scheduling.
    NotRealTime,
    /// A note from opening the target.
    Target(Note),
}

/// How complete a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entries {
    /// How many entries have a sample.
    pub entries: u32,
    /// How many were requested.
    pub asked: u32,
}

/// Why an experiment was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skip {
    /// Requests to a real device do not carry their priority.
    NoTags,
    /// The device takes one request at a time.
    Alone,
    /// There is one kind of request: nothing to mix.
    OneKind,
    /// The medium turns: it has no chips.
    Turns,
    /// Seeks go between tracks, and no tracks were found.
    NoZones,
    /// It would destroy the data on the target.
    MayNotWrite,
}

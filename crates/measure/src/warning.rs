// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a reader of a measured table has to know: each is said once, with its figure.

use tidegate_device::load::Completed;
use tidegate_device::{Layer, Note, Splitting, Temperature};
use tidegate_model::{Bytes, Duration};

use crate::experiment::Experiment;
use crate::held_up::Disturbance;
use crate::kind::Kind;

pub(crate) mod host;
mod kind;
mod text;

/// Something that limits what a measured table says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Too few samples for the usual confidence.
    FewSamples {
        /// The least number taken of any batch size.
        samples: u32,
        /// The number that the source asks for.
        needed: u64,
    },
    /// An experiment was stopped.
    Cancelled {
        /// Which.
        experiment: Experiment,
        /// The least number taken of any entry.
        samples: u32,
        /// The number that was asked for.
        asked: u32,
        /// Of a table.
        entries: Option<Entries>,
    },
    /// Experiments were stopped before their first sample.
    NotBegun {
        /// Which.
        experiments: Vec<Experiment>,
    },
    /// An experiment was not made.
    Skipped {
        /// Which.
        experiment: Experiment,
        /// Why.
        skip: Skip,
    },
    /// A request was not served for as long as others were.
    Endless {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The cache was not seen full.
    FlushGrows {
        /// What was written.
        kind: Kind,
        /// How many writes at most.
        writes: u32,
    },
    /// Samples are not in the journal.
    JournalFailed(String),
    /// The journal has rounds that were not asked for.
    RoundsLeft {
        /// Of which experiments with which requests.
        of: Vec<String>,
    },
    /// The host had a part in what was measured.
    HeldUp {
        /// In how many of the measurements.
        measurements: usize,
        /// In which of them most.
        of: String,
        /// How much there.
        disturbance: Disturbance,
    },
    /// The device was not the same at the end.
    Drifted {
        /// In how many of the measurements.
        measurements: usize,
        /// In which entry most.
        of: String,
        /// How, there.
        shift: String,
    },
    /// The device is no disk that turns.
    NoRotation(String),
    /// Something of the device could not be seen.
    NotSeen {
        /// By which experiment.
        experiment: Experiment,
        /// Why.
        why: String,
    },
    /// No costs were found.
    NoCosts(String),
    /// A sample tells much of the next: there are fewer than it seems.
    Dependent {
        /// In how many of the measurements.
        measurements: usize,
        /// In which entry most.
        of: String,
        /// How many samples it has.
        samples: u64,
        /// How many independent ones they are worth.
        effective: u64,
    },
    /// The drive gives no meaning to the tag of priority.
    PriorityIgnored,
    /// The kernel splits every request.
    Split {
        /// The size of a request.
        size: Bytes,
        /// Into how many, and at what size.
        splitting: Splitting,
    },
    /// The kernel has a scheduler between us and the device.
    Scheduler {
        /// Its name.
        name: String,
        /// The device.
        device: String,
    },
    /// The kernel holds requests back.
    DepthHidden {
        /// The largest batch measured.
        depth: u32,
        /// What reaches the device at once.
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
    /// The device served others as well.
    OtherLoad(Completed),
    /// Something between us and the medium has rules of its own.
    Layered(Layer),
    /// The device is or was warmer than it likes.
    TooWarm(Temperature),
    /// The host was free to be late.
    NotRealTime,
    /// What opening the target had to say.
    Target(Note),
}

/// The entries of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entries {
    /// Those that have a sample.
    pub entries: u32,
    /// Those that were asked for.
    pub asked: u32,
}

/// Why an experiment was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skip {
    /// Nothing that we send tells the device which request has priority.
    NoTags,
    /// The device takes one request at a time.
    Alone,
    /// There is nothing to mix.
    OneKind,
    /// The medium turns: it has no chips.
    Turns,
    /// Seeks are between tracks, and these were not seen.
    NoZones,
    /// It would lose what is on the target.
    MayNotWrite,
}

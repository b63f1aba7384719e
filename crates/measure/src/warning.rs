// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a reader of a measured table has to know: each is said once, with its figure.

use std::fmt;

use device::load::Completed;
use device::{DeviceFacts, Layer, Note, Splitting, Temperature, WriteCache};
use model::{Bytes, Duration};

use crate::experiment::Experiment;
use crate::held_up::Disturbance;

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
    /// An experiment was stopped before its first sample.
    NotBegun {
        /// Which.
        experiment: Experiment,
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
    /// Samples are not in the journal.
    JournalFailed(String),
    /// The host had a part in what was measured.
    HeldUp {
        /// In what.
        of: String,
        /// How much.
        disturbance: Disturbance,
    },
    /// The device was not the same at the end.
    Drifted {
        /// In what.
        of: String,
        /// How.
        drift: String,
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
        /// In what.
        of: String,
        /// How much.
        said: String,
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
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTags => "no request carries the drive's own priority to a real device",
            Self::OneKind => "one operation and one size leave nothing to mix: ask for several",
            Self::Turns => "the medium turns",
            Self::NoZones => "where tracks are is not known",
            Self::Alone => "with a depth of 1 nothing overtakes a request",
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewSamples { samples, needed } => write!(
                f,
                "{samples} samples of each batch: {needed} are needed to see, with 99 % confidence, a time above 4 sigma of a normal distribution (`--confidence 99%`)"
            ),
            Self::Cancelled { experiment, samples, asked, entries } => {
                let (name, symbol) = (experiment.name(), experiment.symbol());
                write!(f, "stopped early: {samples} of {asked} samples of each {name}")?;
                match entries {
                    Some(Entries { entries, asked }) if entries < asked => write!(
                        f,
                        "; the table ends at {symbol}({entries}) instead of {symbol}({asked})"
                    ),
                    _ => Ok(()),
                }
            }
            Self::NotBegun { experiment } => {
                write!(f, "stopped before the first sample of {}", experiment.name())
            }
            Self::Skipped { experiment, skip } => {
                write!(f, "{} was not measured: {skip}", experiment.name())
            }
            Self::Endless { waited } => write!(
                f,
                "a request was not served for {waited} while others were: the device bounds no wait, and no starvation is written"
            ),
            Self::Layered(layer) => layer.fmt(f),
            Self::TooWarm(temperature) => write!(
                f,
                "the device is at {temperature}: it makes itself slow; cool it and measure again"
            ),
            Self::JournalFailed(error) => write!(
                f,
                "samples could not be kept ({error}): the measurement cannot be resumed from here"
            ),
            Self::HeldUp { of, disturbance } => write!(f, "{of}: {disturbance}"),
            Self::Drifted { of, drift } => write!(f, "{of}: {drift}"),
            Self::Dependent { of, said } => write!(f, "{of}: {said}"),
            Self::NoRotation(why) => write!(f, "no rotation: {why}"),
            Self::NotSeen { experiment, why } => {
                write!(f, "{} found nothing: {why}", experiment.name())
            }
            Self::NoCosts(error) => {
                write!(
                    f,
                    "batches are not told apart by their requests, [cost] is missing: {error}"
                )
            }
            Self::PriorityIgnored => write!(
                f,
                "the drive gives no meaning to the tag of priority: the times are those of any requests in a full queue"
            ),
            Self::Split { size, splitting } => write!(
                f,
                "the kernel splits each request of {size} into {} of at most {}: the device sees more requests than the table counts; measure with `--size {}`",
                splitting.pieces, splitting.size_max, splitting.size_max
            ),
            Self::Scheduler { name, device } => write!(
                f,
                "the kernel's scheduler {name} reorders and merges requests before {device} sees them: `echo none > /sys/block/{device}/queue/scheduler` leaves them to the device"
            ),
            Self::DepthHidden { depth, accepted } => write!(
                f,
                "batches of up to {depth} were given, {accepted} requests reach the device at once: the kernel holds the rest back; measure with `--depth {accepted}`"
            ),
            Self::WriteCache => write!(
                f,
                "the device has a volatile write cache: writes were complete before they were on the medium, and a full cache may take longer than any time measured"
            ),
            Self::FileOnly { size, rotational: false } => {
                write!(f, "measured within a file of {size}: the table holds for that file")
            }
            Self::FileOnly { size, rotational: true } => write!(
                f,
                "measured within a file of {size}: the table holds for that file; across the whole device heads move further and requests take longer"
            ),
            Self::VirtualDisk { device } => write!(
                f,
                "a hypervisor provides {device}: its host may answer from its own memory, and other machines share the hardware; no table measured here bounds what they do"
            ),
            Self::Stolen { ticks, ppm } => write!(
                f,
                "the hypervisor took {ticks} ticks ({ppm} ppm of all processor time) during the run: some times are longer than the device's"
            ),
            Self::OtherLoad(Completed { reads, writes }) => write!(
                f,
                "the device also completed {reads} reads and {writes} writes that were not ours: they are in the times"
            ),
            Self::NotRealTime => write!(
                f,
                "measured without real-time scheduling and locked memory: times contain the host's delays"
            ),
            Self::Target(note) => note.fmt(f),
        }
    }
}

/// What is to be said before the first request is sent.
pub(crate) fn about_host(
    facts: &DeviceFacts,
    writes: bool,
    size: Bytes,
    depth: u32,
) -> Vec<Warning> {
    let split = facts.splits(size).map(|splitting| Warning::Split { size, splitting });
    let has_cache = facts.write_cache == Some(WriteCache::WriteBack) && writes;
    let cache = has_cache.then_some(Warning::WriteCache);
    [virtual_disk(facts), split, scheduler(facts), hidden_depth(facts, depth), cache]
        .into_iter()
        .flatten()
        .chain(facts.natures.iter().cloned().map(Warning::Layered))
        .collect()
}

fn virtual_disk(facts: &DeviceFacts) -> Option<Warning> {
    let device = facts.device.clone().filter(|_| facts.is_virtual())?;
    Some(Warning::VirtualDisk { device })
}

fn scheduler(facts: &DeviceFacts) -> Option<Warning> {
    let name = facts.scheduler.clone().filter(|name| name != "none")?;
    Some(Warning::Scheduler { name, device: facts.device.clone()? })
}

fn hidden_depth(facts: &DeviceFacts, depth: u32) -> Option<Warning> {
    let accepted = accepted(facts)?;
    (accepted < depth).then_some(Warning::DepthHidden { depth, accepted })
}

/// How many requests reach the device at once, as far as the kernel tells.
pub(crate) fn accepted(facts: &DeviceFacts) -> Option<u32> {
    [facts.queue_depth, facts.requests_max].into_iter().flatten().filter(|&count| count > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_device_gives_no_warning() {
        let facts = DeviceFacts {
            device: Some("sda".to_owned()),
            scheduler: Some("none".to_owned()),
            request_size_max: Some(Bytes::from_kib(1280)),
            requests_max: Some(64),
            queue_depth: Some(32),
            write_cache: Some(WriteCache::WriteBack),
            ..DeviceFacts::default()
        };
        assert_eq!(about_host(&facts, false, Bytes::from_kib(128), 32), []);
    }

    #[test]
    fn whatever_the_kernel_does_to_requests_is_said() {
        let facts = DeviceFacts {
            device: Some("sda".to_owned()),
            driver: Some("virtio_scsi".to_owned()),
            scheduler: Some("bfq".to_owned()),
            request_size_max: Some(Bytes::from_kib(64)),
            queue_depth: Some(1),
            write_cache: Some(WriteCache::WriteBack),
            ..DeviceFacts::default()
        };
        let warnings = about_host(&facts, true, Bytes::from_kib(128), 32);
        let texts: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        let expected = [
            "hypervisor provides sda",
            "into 2 of at most 64KiB",
            "/sys/block/sda/queue/scheduler",
            "--depth 1",
            "volatile write cache",
        ];
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, expected) in texts.iter().zip(expected) {
            assert!(text.contains(expected), "{text}");
        }
    }
}

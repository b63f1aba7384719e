// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Warnings in words: what was observed, what that means for the table, and what to do.

use std::fmt;

use tidegate_device::load::Completed;

use super::{Entries, Skip, Warning};
use tidegate_stats::confidence::{CONFIDENCE, FOUR_SIGMA_ABOVE, samples_needed};

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTags => "no request carries the drive's own priority to a real device",
            Self::OneKind => "one operation and one size leave nothing to mix: ask for several",
            Self::Turns => "the medium turns",
            Self::NoZones => "the positions of tracks are unknown",
            Self::MayNotWrite => "it writes, and that is not allowed (`--allow-writes`)",
            Self::Alone => "with a depth of 1 nothing overtakes a request",
        })
    }
}

/// Returns `3 measurements, most in `, or nothing if there is only one.
fn counted(measurements: usize) -> String {
    if measurements == 1 { String::new() } else { format!("{measurements} measurements, most in ") }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewSamples { samples, needed } => write!(
                f,
                "{samples} samples of each batch: {needed} are needed to see, with 99 % confidence, a time beyond 4 sigma on either side of a normal distribution (`--confidence 99%`), {} to see one above 4 sigma",
                samples_needed(CONFIDENCE, FOUR_SIGMA_ABOVE)
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
            Self::NotBegun { experiments } => {
                let names: Vec<_> = experiments.iter().map(|it| it.name()).collect();
                write!(f, "stopped before the first sample of {}", names.join(", "))
            }
            Self::Skipped { experiment, skip } => {
                write!(f, "{} was not measured: {skip}", experiment.name())
            }
            Self::Endless { waited } => write!(
                f,
                "a request was not served for {waited} while others were: the device does not bound the wait, so no starvation is recorded"
            ),
            Self::FlushGrows { kind, writes } => write!(
                f,
                "flushes still take longer after {writes} {kind} than after fewer: the cache was never seen full, so no longest flush is recorded"
            ),
            Self::Layered(layer) => layer.fmt(f),
            Self::TooWarm(temperature) => write!(
                f,
                "the device is at {temperature}: it throttles itself; cool it and measure again"
            ),
            Self::JournalFailed(..) | Self::RoundsLeft { .. } => self.fmt_of_journal(f),
            Self::HeldUp { .. } | Self::Drifted { .. } | Self::Dependent { .. } => {
                self.fmt_of_samples(f)
            }
            Self::NoRotation(why) => write!(f, "no rotation: {why}"),
            Self::NotSeen { experiment, why } => {
                write!(f, "{} found nothing: {why}", experiment.name())
            }
            Self::NoCosts(error) => {
                write!(
                    f,
                    "the costs of different requests are unknown, so [cost] is missing: {error}"
                )
            }
            Self::PriorityIgnored => write!(
                f,
                "the drive ignores the priority tag: the times are those of any requests in a full queue"
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
                "batches of up to {depth} were sent, but only {accepted} requests reach the device at once: the kernel holds the rest back; measure with `--depth {accepted}`"
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

impl Warning {
    /// Writes which samples are in the journal and which are not.
    fn fmt_of_journal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JournalFailed(error) => write!(
                f,
                "samples could not be kept ({error}): everything measured from then on is missing from the journal, and a resumed measurement repeats it"
            ),
            Self::RoundsLeft { of } => write!(
                f,
                "the journal also has rounds of {}, which were not asked for now: they are kept there, and this run puts nothing of them into the drive file; name their --only, --op and --size to have it",
                of.join("; ")
            ),
            _ => Ok(()),
        }
    }

    /// Writes what the samples show.
    fn fmt_of_samples(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldUp { measurements, of, disturbance } => write!(
                f,
                "the host made longest times longer in {}{of}: {} of {} samples were held up by more than 1 %, and without them a longest time would be up to {} shorter; an otherwise idle host measures the device alone",
                counted(*measurements),
                disturbance.disturbed,
                disturbance.samples,
                disturbance.excess_max
            ),
            Self::Drifted { measurements, of, shift } => write!(
                f,
                "the device changed during the measurement in {}{of}: {shift} from the first third of its samples to the last; the times are a mixture, and later ones may be longer than all of them",
                counted(*measurements)
            ),
            Self::Dependent { measurements, of, samples, effective } => write!(
                f,
                "samples are not independent in {}{of}: its {samples} samples carry the information of about {effective}; the stated confidence is too high, and a larger `--samples` helps",
                counted(*measurements)
            ),
            _ => Ok(()),
        }
    }
}

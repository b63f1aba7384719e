// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of one request on an idle disk, from the disk's parts.
//!
//! ```text
//!   sent      heads free     on the track     first sector     last sector     completed
//!     | command   |  movement      |  rotation     |  transfer      | bus, completion |
//! ```
//! Each part is the longest that it can be, regardless of the requests before and of the request's
//! position. The sum is an upper bound, even if no single request has every part at its longest; a
//! test checks it against an adversary.
//!
//! # Why it is a bound
//! - *Command.* The heads start when the command is processed, but a read-ahead movement that has
//!   already begun is completed first.
//! - *Rotation and transfer.* After the heads have settled, a sector comes by within one turn. From
//!   the first sector to the last, the time of reading in order depends only on the layout: the
//!   spans of tracks, the movements between them, and the waits after these movements. A disk
//!   begins in the middle of a request only if it then ends sooner.
//! - *Bus.* When the last sector has passed the heads, only the sectors by which the bus lags
//!   remain to be transferred.
//! - *Faults.* A recalibration and every allowed retry.
//!
//! Source: own derivation, from the parts of `tidegate_drive::mechanical`.
//!
//! # Which requests are compared
//! As a request slides along the disk, the time between its first and its last sector changes
//! linearly, except where its beginning or its end passes the end of a track. So the longest time
//! occurs at a request that ends with the first sector of a track or begins with the last sector of
//! one. If the layout of each zone repeats, the requests around the zones' beginnings and around
//! the disk's end suffice; otherwise all tracks are examined.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use tidegate_model::mechanics::{
    Bus, Cache, Layout, Mechanics, MechanicsError, Overhead, ReadAhead, Sparing, TrackOrder,
    WriteBack, Zones,
};
use tidegate_model::{Bytes, Duration, Lba, Op};

use super::layout::Extent;
use super::mechanism::{Arm, Mechanism};
use super::rotation::Angle;

/// The longest time of one request, by its parts; see the module documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling {
    /// The time from the submission until the heads can set out.
    pub command: Duration,
    /// The longest seek or head switch, with settling.
    pub movement: Duration,
    /// The time of one turn of the platters.
    pub rotation: Duration,
    /// The time from the first sector's beginning to the last sector's end, including track
    /// changes.
    pub transfer: Duration,
    /// The time that the transfer to or from the host adds.
    pub bus: Duration,
    /// The time from the last byte to the completion.
    pub completion: Duration,
    /// The time of a recalibration and all retries.
    pub faults: Duration,
    /// The figures that bound a request within a batch.
    pub in_batch: InBatch,
}

/// The figures that bound a request within a batch. Its movement is separate, because it depends on
/// the other requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InBatch {
    /// All parts except the movement, including the sectors by which the bus lags at the end.
    pub but_movement: Duration,
    /// The shortest movement to charge: a shorter one ends no sooner, because the bus or the
    /// processing of the command takes this long.
    pub movement_min: Duration,
    /// The largest distance, in cylinders, between the first sector of a request and the heads when
    /// the drive chooses the next request. The heads have then passed the request and perhaps its
    /// read-ahead.
    pub stray: u32,
}

impl Ceiling {
    /// Returns the ceiling for requests of this operation and of at most `size`; `None` for writes
    /// that the disk's memory takes, because their time depends on earlier writes.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    ///
    /// # Complexity
    /// The time is linear in the zones and in the tracks of a cylinder, or of a range of cylinders
    /// that are read surface by surface. A layout by index, with slips, with defects or with spares
    /// by ranges does not repeat itself: then the time is linear in the tracks of the disk.
    pub fn of(mechanics: &Mechanics, op: Op, size: Bytes) -> Result<Option<Self>, MechanicsError> {
        mechanics.check()?;
        let disk = Disk::new(mechanics, size)?;
        Ok(match op {
            Op::Read => Some(disk.of_reads()),
            Op::Write if disk.cache.write_back == WriteBack::On => None,
            Op::Write => Some(disk.of_writes()),
        })
    }

    /// Returns the longest time of one request.
    pub fn total(&self) -> Duration {
        self.command
            + self.movement
            + self.rotation
            + self.transfer
            + self.bus
            + self.completion
            + self.faults
    }
}

/// Returns whether reads of at most `size` can begin in memory and some direct movement takes
/// longer than a detour through an earlier track of such a read.
///
/// # Errors
/// [`MechanicsError`] if the description is wrong.
///
/// # Complexity
/// As [`Ceiling::of`], plus one pass over the cylinders for each distance between consecutive
/// tracks.
pub(super) fn has_shortcuts(mechanics: &Mechanics, size: Bytes) -> Result<bool, MechanicsError> {
    let disk = Disk::new(mechanics, size)?;
    Ok(disk.cache.read && disk.mechanism.has_shortcut(disk.steps()))
}

/// A disk, and the size of the requests.
struct Disk<'a> {
    mechanics: &'a Mechanics,
    mechanism: Mechanism,
    cache: Cache,
    sectors: u64,
}

/// The longest passage from a request's first sector to its last.
#[derive(Debug, Clone, Copy, Default)]
struct Passage {
    time: Duration,
    /// The longest movement from one track to the next.
    step: Duration,
}

impl<'a> Disk<'a> {
    fn new(mechanics: &'a Mechanics, size: Bytes) -> Result<Self, MechanicsError> {
        let mechanism = Mechanism::new(mechanics)?;
        let sectors = size.sectors_ceil().clamp(1, mechanism.layout.sectors());
        let cache = mechanics.cache.clone().unwrap_or_default();
        Ok(Self { mechanics, mechanism, cache, sectors })
    }

    fn of_reads(&self) -> Ceiling {
        let Overhead { data_preparation_ns, read_completion_ns, .. } = self.mechanics.overhead;
        let overhead = &self.mechanics.overhead;
        let hit = overhead.read_hit_after_read_ns.max(overhead.read_hit_after_write_ns);
        let miss = overhead.read_miss_after_read_ns.max(overhead.read_miss_after_write_ns);
        let passage = self.passage(Op::Read);
        let movement = self.mechanism.movement_max(Op::Read);
        // A read that hardly moves the heads takes at least as long as the processing of a hit.
        let free = Duration::from_ns(miss).max(self.interrupted(passage));
        let command = free.max(or_zero(Duration::from_ns(hit), movement));
        let found = self.without_bus(command, movement, passage);
        let begin = Duration::from_ns(hit.max(miss) + data_preparation_ns);
        let all = begin + self.bus_time(self.sectors, Op::Read);
        let behind = self.behind_at_end();
        let bus = behind.max(or_zero(all, found.total()));
        let completion = Duration::from_ns(read_completion_ns);
        let standing = found.total() - movement + behind;
        let in_batch = InBatch {
            but_movement: standing + completion,
            movement_min: or_zero(all, standing).max(or_zero(Duration::from_ns(hit), free)),
            stray: self.cylinders_within(self.sectors + self.ahead()),
        };
        Ceiling { bus, completion, in_batch, ..found }
    }

    fn of_writes(&self) -> Ceiling {
        let overhead = &self.mechanics.overhead;
        let Overhead { data_preparation_ns, reconnect_ns, write_completion_ns, .. } = *overhead;
        let processed = overhead.write_miss_after_read_ns.max(overhead.write_miss_after_write_ns);
        let passage = self.passage(Op::Write);
        let command = Duration::from_ns(processed).max(self.interrupted(self.passage(Op::Read)));
        let least = Duration::from_ns(self.mechanics.write_seek_ns_min);
        let movement = self.mechanism.movement_max(Op::Write).max(least);
        let found = self.without_bus(command, movement, passage);
        // The heads wait until the data are there.
        let received = Duration::from_ns(processed + data_preparation_ns)
            + self.bus_time(self.sectors, Op::Write);
        let bus = or_zero(received, command + movement + found.faults);
        let completion = Duration::from_ns(reconnect_ns + write_completion_ns);
        let in_batch = InBatch {
            but_movement: found.total() - movement + completion,
            movement_min: or_zero(received, command + found.faults).max(least),
            stray: self.cylinders_within(self.sectors - 1),
        };
        Ceiling { bus, completion, in_batch, ..found }
    }

    /// Returns the largest number of sectors that the heads read ahead after a read.
    fn ahead(&self) -> u64 {
        match self.cache.read_ahead {
            _ if !self.cache.read => 0,
            ReadAhead::Off => 0,
            ReadAhead::Adaptive => 2 * self.most_per_track(),
            ReadAhead::Track | ReadAhead::Cylinder | ReadAhead::Segment => {
                u64::from(self.cache.read_ahead_sectors_max.unwrap_or(self.cache.segment_sectors))
            }
        }
    }

    /// Returns the largest number of cylinders between two sectors whose numbers differ by at most
    /// `sectors`.
    fn cylinders_within(&self, sectors: u64) -> u32 {
        let mut most = 0;
        for range in self.examined() {
            let mut near = VecDeque::<Extent>::new();
            for run in self.runs(range) {
                let first = run.start.get();
                let is_near = |before: &Extent| first < before.track_end.get() + sectors;
                while near.front().is_some_and(|before| !is_near(before)) {
                    near.pop_front();
                }
                let distances = near.iter().map(|before| before.cylinder.abs_diff(run.cylinder));
                most = distances.fold(most, u32::max);
                near.push_back(run);
            }
        }
        most
    }

    /// Returns the distances between consecutive tracks, in cylinders.
    fn steps(&self) -> BTreeSet<u32> {
        let mut steps = BTreeSet::new();
        for range in self.examined() {
            let cylinders = self.runs(range).map(|run| run.cylinder);
            let mut before = None;
            for cylinder in cylinders {
                steps.extend(before.map(|before: u32| before.abs_diff(cylinder)));
                before = Some(cylinder);
            }
        }
        steps
    }

    /// Returns the runs of consecutive sectors on one track, for all tracks of this range.
    fn runs(&self, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let run = move |next: u64| {
            (next < range.end).then(|| self.mechanism.layout.extent(Lba::new(next), u64::MAX))
        };
        std::iter::successors(run(range.start), move |before| run(before.track_end.get()))
    }

    fn most_per_track(&self) -> u64 {
        let zones = self.mechanism.layout.zones();
        zones.iter().map(|zone| u64::from(zone.sectors_per_track)).max().unwrap_or(1)
    }

    fn without_bus(&self, command: Duration, movement: Duration, passage: Passage) -> Ceiling {
        let rotation = self.mechanism.rotation.turn();
        let faults = self.mechanics.faults.as_ref().map_or(Duration::ZERO, |faults| {
            Duration::from_ns(faults.recalibration_ns) + rotation * u64::from(faults.retries_max)
        });
        let (bus, completion) = (Duration::ZERO, Duration::ZERO);
        let transfer = passage.time;
        let in_batch = InBatch::default();
        Ceiling { command, movement, rotation, transfer, bus, completion, faults, in_batch }
    }

    /// Returns the longest movement that a new command must await.
    fn interrupted(&self, reads: Passage) -> Duration {
        let is_moving = self.cache.read && self.cache.read_ahead != ReadAhead::Off;
        match is_moving {
            // After a hit the heads move to the segment's end, from wherever they are.
            true if self.cache.read_ahead_after_hits => self.mechanism.movement_max(Op::Read),
            true => reads.step,
            false => Duration::ZERO,
        }
    }

    /// Returns the longest time that the bus still needs when a read's last sector has passed the
    /// heads.
    fn behind_at_end(&self) -> Duration {
        let overhead = &self.mechanics.overhead;
        let delay = Duration::from_ns(overhead.reconnect_ns + overhead.data_preparation_ns);
        let all = self.bus_time(self.sectors, Op::Read);
        if self.mechanism.is_zero_latency {
            // The host gets the sectors in order, and the first ones can pass the heads last.
            return delay + all;
        }
        let share = u128::from(self.mechanics.bus.read_watermark_ppm);
        let watermark = u64::try_from(u128::from(self.sectors) * share / 1_000_000);
        let awaited = watermark.expect("a part of the request").max(1);
        let last = self.bus_time(1, Op::Read);
        let rest = self.bus_time(self.sectors - 1, Op::Read);
        let slow = last + or_zero(rest, self.medium_time_min(self.sectors - 1));
        let gated = delay + or_zero(all, self.medium_time_min(self.sectors - awaited));
        slow.max(gated)
    }

    /// Returns the time that the bus takes for `sectors` sectors, rounded up.
    fn bus_time(&self, sectors: u64, op: Op) -> Duration {
        let Bus { read_sector_ps, write_sector_ps, .. } = self.mechanics.bus;
        let sector_ps = match op {
            Op::Read => read_sector_ps,
            Op::Write => write_sector_ps,
        };
        let ps = u128::from(sectors) * u128::from(sector_ps);
        Duration::from_ns(u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    /// Returns the shortest time in which `sectors` sectors pass the heads, rounded down by up to
    /// two nanoseconds because the disk rounds each instant up.
    fn medium_time_min(&self, sectors: u64) -> Duration {
        let densest = u128::from(self.most_per_track());
        let units = u128::from(sectors) * u128::from(Angle::TURN.units()) / densest;
        let ns = units / u128::from(self.mechanics.rpm);
        Duration::from_ns(u64::try_from(ns).unwrap_or(0).saturating_sub(1))
    }

    /// Returns the longest passage of all requests.
    fn passage(&self, op: Op) -> Passage {
        let layout = &self.mechanism.layout;
        let last = layout.sectors() - self.sectors;
        let of_request = |start: u64| self.passage_from(start..start + self.sectors, op);
        let mut longest = Passage { time: of_request(0).time, ..Passage::default() };
        for range in self.examined() {
            let mut next = range.start;
            while next < range.end {
                next = layout.extent(Lba::new(next), u64::MAX).track_end.get();
                let at_end = (next + 1).saturating_sub(self.sectors).min(last);
                let at_start = (next - 1).min(last);
                // The read-ahead crosses tracks even where requests have one sector.
                let across = self.passage_from(next - 1..(next + 1).min(layout.sectors()), op);
                longest.step = longest.step.max(across.step);
                for start in [at_end, at_start] {
                    longest.time = longest.time.max(of_request(start).time);
                }
            }
        }
        longest
    }

    /// Returns the passage of a request for these sectors.
    fn passage_from(&self, sectors: Range<u64>, op: Op) -> Passage {
        let end = sectors.end;
        let extent = |next: u64| self.mechanism.layout.extent(Lba::new(next), end - next);
        let mut before = extent(sectors.start);
        let (mut units, mut pieces) = (u128::from(before.span.units()), 1);
        let mut step = Duration::ZERO;
        while before.start.get() + u64::from(before.sectors) < end {
            let next = extent(before.start.get() + u64::from(before.sectors));
            let moving = self.movement(&before, &next, op);
            units += self.crossing_units(&before, &next, moving) + u128::from(next.span.units());
            (before, pieces, step) = (next, pieces + 1, step.max(moving));
        }
        let ns = units.div_ceil(u128::from(self.mechanics.rpm));
        // The disk rounds the end of each piece up.
        Passage { time: Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX) + pieces), step }
    }

    fn movement(&self, from: &Extent, to: &Extent, op: Op) -> Duration {
        let arm = Arm { cylinder: from.cylinder, head: from.head };
        self.mechanism.reposition(arm, to.cylinder, to.head, op)
    }

    /// Returns the angle by which the platter turns between two pieces of a request.
    ///
    /// If a track begins just as the heads arrive, the rounding of angles in another cylinder can
    /// make the heads miss the beginning. So a whole turn is charged in this case.
    fn crossing_units(&self, from: &Extent, to: &Extent, moving: Duration) -> u128 {
        const ROUNDING: u64 = 2;
        let turn = Angle::TURN.units();
        let moving = u128::from(moving.ns()) * u128::from(self.mechanics.rpm);
        let moved = u64::try_from(moving % u128::from(turn)).expect("below one turn");
        let arrived = from.begin.plus(from.span).plus(Angle::from_units(moved));
        let wait = to.begin.after(arrived).units();
        let wait = if wait < ROUNDING && moving > 0 { wait + turn } else { wait };
        moving + u128::from(wait)
    }

    /// Returns the sectors whose tracks are examined.
    fn examined(&self) -> Vec<Range<u64>> {
        let sectors = self.mechanism.layout.sectors();
        let period = match &self.mechanics.layout {
            Layout::Zones(zones) => period(zones),
            Layout::Index(_) => None,
        };
        let Some(cylinders) = period else {
            return std::iter::once(0..sectors).collect();
        };
        let tracks = PERIODS_EXAMINED * cylinders * u64::from(self.mechanics.surfaces);
        let reach = self.sectors + self.ahead() + tracks * self.most_per_track();
        let around = |start: u64| start.saturating_sub(reach)..(start + reach).min(sectors);
        let starts = self.mechanism.layout.zones().into_iter().map(|zone| zone.start.get());
        starts.chain([sectors]).map(around).collect()
    }
}

/// The number of periods examined on either side of a zone's beginning. In a serpentine order, the
/// layout of a zone repeats after two periods.
const PERIODS_EXAMINED: u64 = 4;

/// Returns the number of cylinders after which the layout of each zone repeats (in a serpentine
/// order, after twice as many); `None` if it does not repeat.
fn period(zones: &Zones) -> Option<u64> {
    let cylinders = match zones.order {
        TrackOrder::Cylinder
        | TrackOrder::CylinderSerpentine
        | TrackOrder::CylinderSerpentineParity => 1,
        TrackOrder::SurfaceSerpentine => zones.range_cylinders?,
    };
    let is_whole = zones.zone.iter().all(|zone| zone.slips.is_empty() && zone.defects.is_empty());
    (is_whole && zones.sparing != Sparing::Range).then_some(cylinders.into())
}

/// Returns by how much `time` exceeds `other`, or 0.
fn or_zero(time: Duration, other: Duration) -> Duration {
    time.checked_sub(other).unwrap_or(Duration::ZERO)
}

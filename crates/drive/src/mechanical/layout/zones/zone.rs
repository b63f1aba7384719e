// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One zone: maps a sector's number to its slot, track and angle, and back.

use tidegate_model::Lba;

use super::order::{Order, TrackPlace};
use super::sparing::{DataSlots, Found};
use crate::mechanical::layout::angles::{TrackAngles, UNITS_PER_PPM};
use crate::mechanical::layout::home::Home;
use crate::mechanical::layout::position::{Position, ZoneFacts};
use crate::mechanical::layout::slips::Slips;

/// A zone of a layout.
///
/// # Invariants
/// - `skipped <= data`, and `data` is the number of data sectors in `slots`.
/// - A slot is `track * sectors_per_track + sector`, with tracks counted in `order`.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    /// The zone's first sector.
    pub(super) start: u64,
    pub(super) cylinder_first: u32,
    pub(super) cylinder_last: u32,
    pub(super) heads: u32,
    pub(super) sectors_per_track: u32,
    /// The number of usable sectors at the front that hold no data.
    pub(super) skipped: u64,
    /// The number of sectors that can hold data, including the skipped ones.
    pub(super) data: u64,
    pub(super) order: Order,
    pub(super) slots: DataSlots,
    pub(super) skew: Skew,
    pub(super) pushed: Option<Pushed>,
}

/// The angles at which tracks begin: an offset, plus an increment for each change of head or of
/// cylinder; all below one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skew {
    pub(super) millisectors: Figures,
    pub(super) ppm: Figures,
}

/// The offset of a skew and its increments for a change of track and of cylinder, in one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) offset: u64,
    pub(super) track: u64,
    pub(super) cylinder: u64,
}

impl Figures {
    fn at(self, place: TrackPlace) -> u64 {
        self.offset + self.track * place.head_changes + self.cylinder * place.cylinder_changes
    }
}

/// Slips that rotate the following tracks, each by one sector.
#[derive(Debug, Clone)]
pub(super) struct Pushed {
    /// The slips, by slot.
    pub(super) slips: Slips,
    /// Whether the tracks of a cylinder rotate together.
    pub(super) is_by_cylinder: bool,
}

impl Zone {
    /// Returns the sector after the zone's last sector.
    pub(super) fn end(&self) -> u64 {
        self.start + self.data - self.skipped
    }

    /// Returns the home of one of the zone's sectors.
    pub(super) fn home(&self, sector: u64) -> Home {
        let per_track = u64::from(self.sectors_per_track);
        let found = self.slots.locate(sector - self.start + self.skipped);
        let track = found.slot / per_track;
        let first = track * per_track;
        let [begin, end] = [first, first + per_track].map(|slot| {
            self.start + self.slots.data_before_near(slot, found).saturating_sub(self.skipped)
        });
        let place = self.order.place(track);
        Home {
            position: self.position(place, found.slot - first),
            angles: self.angles(place, self.pushed(track, place, Some(found))),
            begin,
            end,
            is_whole: self.slots.is_without_slips() || end - begin == per_track,
        }
    }

    /// Returns the sector at a position; `None` if the position is outside the zone or holds no
    /// data.
    pub(super) fn sector_at(&self, position: Position) -> Option<u64> {
        let is_in_zone = (self.cylinder_first..=self.cylinder_last).contains(&position.cylinder)
            && position.head < self.heads
            && position.sector < self.sectors_per_track;
        if !is_in_zone {
            return None;
        }
        let cylinder = u64::from(position.cylinder - self.cylinder_first);
        let track = self.order.track(cylinder, u64::from(position.head));
        let slot = track * u64::from(self.sectors_per_track) + u64::from(position.sector);
        let sector = self.sectors_before(slot);
        (self.sectors_before(slot + 1) > sector).then_some(sector)
    }

    /// Returns the position of a slot and the angles of its track.
    pub(super) fn place(&self, slot: u64) -> (Position, TrackAngles) {
        let per_track = u64::from(self.sectors_per_track);
        let track = slot / per_track;
        let place = self.order.place(track);
        let angles = self.angles(place, self.pushed(track, place, None));
        (self.position(place, slot % per_track), angles)
    }

    /// Returns the first sector at or after a slot.
    pub(super) fn sectors_before(&self, slot: u64) -> u64 {
        self.start + self.slots.data_before(slot).saturating_sub(self.skipped)
    }

    /// Returns the zone's facts on a disk of `sectors` sectors.
    pub(super) fn facts(&self, sectors: u64) -> ZoneFacts {
        ZoneFacts {
            cylinder_first: self.cylinder_first,
            cylinder_last: self.cylinder_last,
            sectors_per_track: self.sectors_per_track,
            start: Lba::new(self.start),
            sectors: self.end().min(sectors).saturating_sub(self.start),
        }
    }

    fn position(&self, place: TrackPlace, sector: u64) -> Position {
        let cylinder = u32::try_from(place.cylinder).expect("a cylinder of the zone");
        Position {
            cylinder: self.cylinder_first + cylinder,
            head: u32::try_from(place.head).expect("a head"),
            sector: u32::try_from(sector).expect("a sector of a track"),
        }
    }

    fn angles(&self, place: TrackPlace, pushed: u64) -> TrackAngles {
        let per_turn = 1_000 * u64::from(self.sectors_per_track);
        let millisectors = self.skew.millisectors.at(place) + 1_000 * pushed;
        TrackAngles {
            sectors_per_track: self.sectors_per_track,
            origin_millisectors: millisectors % per_turn,
            origin_units: self.skew.ppm.at(place) % 1_000_000 * UNITS_PER_PPM,
        }
    }

    /// Returns the number of sectors by which slips have rotated a track. The look-up is faster if
    /// `found` describes a sector on the track.
    fn pushed(&self, track: u64, place: TrackPlace, found: Option<Found>) -> u64 {
        let Some(pushed) = &self.pushed else { return 0 };
        let by_cylinder = place.cylinder * u64::from(self.heads);
        let track = if pushed.is_by_cylinder { by_cylinder } else { track };
        let slot = track * u64::from(self.sectors_per_track);
        let near = |found: Found| pushed.slips.data_before_near(slot, found.runs);
        slot - found.map_or_else(|| pushed.slips.data_before(slot), near)
    }
}

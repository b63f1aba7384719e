// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What both kinds of layout have in common: extents, and sectors that are stored elsewhere.
//!
//! A layout tells where a sector is at home. Here that becomes an extent: cut to what the host
//! can address, to what was asked for, and to the next sector that is not at home.

use tidegate_model::Lba;

use super::angles::TrackAngles;
use super::remaps::Remaps;
use super::{Extent, Position};

/// Where a sector lies, and what lies with it on the track.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    /// Its own place.
    pub(super) position: Position,
    /// Those of its track.
    pub(super) angles: TrackAngles,
    /// The first sector of data of the track.
    pub(super) begin: u64,
    /// The sector of data after the last one of the track.
    pub(super) end: u64,
    /// Nothing is left out between them.
    pub(super) is_whole: bool,
}

/// A layout, but for sectors that are stored elsewhere.
pub(super) trait Homes {
    /// Where a sector below [`Homes::sectors`] is at home.
    fn home(&self, sector: u64) -> Home;

    /// The sector that is at home at this place, whether the host can address it or not.
    fn sector_at_home(&self, position: Position) -> Option<u64>;

    /// Sectors that the host can address.
    fn sectors(&self) -> u64;

    /// Sectors that are stored elsewhere.
    fn remaps(&self) -> &Remaps;

    /// The sectors from `start` on that lie on one track, at most `sectors_max`.
    fn extent(&self, start: u64, sectors_max: u64) -> Extent {
        let home = self.place(start);
        let sectors = sectors_max.min(home.end - start);
        assert!(sectors > 0, "an extent of no sectors");
        let sectors = u32::try_from(sectors).expect("no more than a track holds");
        let first = home.position.sector;
        let slots = if home.is_whole {
            sectors
        } else {
            self.home(start + u64::from(sectors) - 1).position.sector - first + 1
        };
        let (begin, span) = home.angles.of(first, slots);
        Extent {
            start: Lba::new(start),
            sectors,
            cylinder: home.position.cylinder,
            head: home.position.head,
            begin,
            span,
            sectors_per_track: home.angles.sectors_per_track,
            track_begin: Lba::new(home.begin),
            track_end: Lba::new(home.end),
        }
    }

    /// The place of a sector.
    fn position(&self, sector: u64) -> Position {
        self.place(sector).position
    }

    /// The sector that lies at this place.
    fn sector_at(&self, position: Position) -> Option<u64> {
        let remaps = self.remaps();
        let sector = remaps.sector_at(position).or_else(|| {
            self.sector_at_home(position).filter(|&sector| remaps.place(sector).is_none())
        });
        sector.filter(|&sector| sector < self.sectors())
    }

    /// Where a sector lies.
    fn place(&self, sector: u64) -> Home {
        assert!(sector < self.sectors(), "sector {sector} of a disk of {} sectors", self.sectors());
        let remaps = self.remaps();
        let mut place = remaps.place(sector).unwrap_or_else(|| {
            let (begin, end) = remaps.between(sector);
            let home = self.home(sector);
            Home { begin: home.begin.max(begin), end: home.end.min(end), ..home }
        });
        place.end = place.end.min(self.sectors());
        place
    }
}

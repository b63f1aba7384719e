// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common part of both layouts: extents and remapped sectors.
//!
//! A layout knows a sector's home. This module finds the run of sectors that begins there. The run
//! ends with the track, with the request, with the host's last sector, or before the next remapped
//! sector.

use tidegate_model::Lba;

use super::home::Home;
use super::position::{Extent, Position};
use super::remaps::Remaps;

/// A layout that knows the home of each sector. Extents and positions follow from the homes and the
/// remapped sectors.
pub(super) trait Homes {
    /// Returns the home of a sector below [`Homes::sectors`].
    fn home(&self, sector: u64) -> Home;

    /// Returns the sector whose home is at this position, even one that the host cannot address.
    fn sector_at_home(&self, position: Position) -> Option<u64>;

    /// Returns the number of sectors that the host can address.
    fn sectors(&self) -> u64;

    /// Returns the remapped sectors.
    fn remaps(&self) -> &Remaps;

    /// Returns the sectors from `start` on that lie on one track, at most `sectors_max`.
    fn extent(&self, start: u64, sectors_max: u64) -> Extent {
        let home = self.place(start);
        let sectors = sectors_max.min(home.end - start);
        assert!(sectors > 0, "an extent needs at least one sector");
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

    /// Returns the position of a sector.
    fn position(&self, sector: u64) -> Position {
        self.place(sector).position
    }

    /// Returns the sector at this position.
    fn sector_at(&self, position: Position) -> Option<u64> {
        let remaps = self.remaps();
        let sector = remaps.sector_at(position).or_else(|| {
            self.sector_at_home(position).filter(|&sector| remaps.place(sector).is_none())
        });
        sector.filter(|&sector| sector < self.sectors())
    }

    /// Returns the place of a sector: its remapped position, or else its home.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A layout by zones of tracks with one density, modelled on DiskSim's `dm_layout_g1`.
//!
//! ```text
//! sector --zone--> data sector of the zone --sparing, slips--> slot --track--> order --> position
//! ```
//! A *slot* is a physical sector of a zone, counted through its tracks in their order. Positions
//! and angles equal DiskSim's, with two corrections: a slip in a cylinder with spares moves data
//! into the spares (in DiskSim the data run on into the next cylinder, where two sectors then
//! share a position), and spares that belong at the front of a cylinder are at its front.

mod build;
mod order;
mod sparing;
mod zone;

use tidegate_model::mechanics::{MechanicsError, Zones};

use self::zone::Zone;
use super::home::Home;
use super::homes::Homes;
use super::position::{Position, ZoneFacts};
use super::remaps::Remaps;
use super::steps::Steps;

/// A layout by zones.
#[derive(Debug, Clone)]
pub struct ZonedLayout {
    /// The first sector of each zone.
    starts: Steps,
    zones: Vec<Zone>,
    remaps: Remaps,
    sectors: u64,
}

impl ZonedLayout {
    /// Builds the layout with all sectors of the zones, before [`Self::limit`].
    pub(super) fn full(
        zones: &Zones,
        surfaces: u32,
        cylinders: u32,
    ) -> Result<Self, MechanicsError> {
        let (zones, remaps) = build::build(zones, surfaces, cylinders)?;
        Ok(Self {
            sectors: zones.last().map_or(0, Zone::end),
            starts: Steps::new(zones.iter().map(|zone| zone.start).collect()),
            zones,
            remaps,
        })
    }

    /// Limits the host to the first `sectors` sectors.
    pub(super) fn limit(&mut self, sectors: u64) {
        self.sectors = self.sectors.min(sectors);
    }

    pub(super) fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |zone| zone.cylinder_last + 1)
    }

    pub(super) fn facts(&self) -> Vec<ZoneFacts> {
        let facts = self.zones.iter().map(|zone| zone.facts(self.sectors));
        facts.filter(|zone| zone.sectors > 0).collect()
    }
}

impl Homes for ZonedLayout {
    fn home(&self, sector: u64) -> Home {
        self.zones[self.starts.count_up_to(sector) - 1].home(sector)
    }

    fn sector_at_home(&self, position: Position) -> Option<u64> {
        let after = self.zones.partition_point(|zone| zone.cylinder_first <= position.cylinder);
        self.zones[after.checked_sub(1)?].sector_at(position)
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn remaps(&self) -> &Remaps {
        &self.remaps
    }
}

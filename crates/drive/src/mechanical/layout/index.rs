// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A layout by an index over tracks as they were measured, modelled on DiskSim's `dm_layout_g4`.
//!
//! ```text
//! sector --slips--> slot --tree--> track --> position
//! ```
//! A *slot* is a sector in the index's numbering, which includes slipped sectors. The tree keeps
//! the form in which it is written: a full index has several hundred thousand tracks but about
//! ten thousand rows.

mod build;
mod remap;
mod text;
mod tree;

use tidegate_model::Lba;
use tidegate_model::mechanics::{MechanicsError, TrackIndex};

use self::tree::{Entry, Piece, Tree};
use super::home::Home;
use super::homes::Homes;
use super::position::{Position, ZoneFacts};
use super::remaps::Remaps;
use super::slips::Slips;

/// A layout by an index over tracks.
#[derive(Debug, Clone)]
pub struct IndexedLayout {
    tree: Tree,
    slips: Slips,
    remaps: Remaps,
    sectors: u64,
}

impl IndexedLayout {
    /// Builds the layout with all sectors of the index, before [`Self::limit`].
    pub(super) fn full(
        index: &TrackIndex,
        surfaces: u32,
        cylinders: u32,
    ) -> Result<Self, MechanicsError> {
        let tree = build::build(index, surfaces, cylinders)?;
        let slips = remap::slips(&index.slips)?;
        let sectors = slips.data_before(tree.root().sectors);
        let disk = remap::Disk { surfaces, cylinders, sectors, tree: &tree, slips: &slips };
        let remaps = remap::remaps(&index.remaps, &disk)?;
        Ok(Self { tree, slips, remaps, sectors })
    }

    /// Limits the host to the first `sectors` sectors.
    pub(super) fn limit(&mut self, sectors: u64) {
        self.sectors = self.sectors.min(sectors);
    }

    pub(super) fn cylinders(&self) -> u32 {
        self.tree.root().cylinders
    }

    pub(super) fn facts(&self) -> Vec<ZoneFacts> {
        let mut zones: Vec<ZoneFacts> = Vec::new();
        for entry in self.tree.entries_of(self.tree.root()) {
            let zone = self.zone(entry);
            match zones.last_mut() {
                _ if zone.sectors == 0 => {}
                Some(last) if last.sectors_per_track == zone.sectors_per_track => {
                    last.cylinder_first = last.cylinder_first.min(zone.cylinder_first);
                    last.cylinder_last = last.cylinder_last.max(zone.cylinder_last);
                    last.sectors += zone.sectors;
                }
                _ => zones.push(zone),
            }
        }
        zones
    }

    fn zone(&self, entry: &Entry) -> ZoneFacts {
        let start = self.slips.data_before(entry.before);
        let end = self.slips.data_before(entry.before + entry.run).min(self.sectors);
        ZoneFacts {
            cylinder_first: entry.low(),
            cylinder_last: entry.high(),
            sectors_per_track: match entry.piece {
                Piece::Track { kind, .. } => self.tree.kinds[kind as usize].sectors_per_track,
                Piece::Node(node) => self.tree.nodes[node as usize].sectors_per_track,
            },
            start: Lba::new(start),
            sectors: end.saturating_sub(start),
        }
    }
}

impl Homes for IndexedLayout {
    fn home(&self, sector: u64) -> Home {
        let (slot, runs) = self.slips.locate(sector);
        let track = self.tree.locate(slot);
        let into = u32::try_from(slot - track.begin).expect("a sector of a track");
        let [begin, end] =
            [track.begin, track.end].map(|slot| self.slips.data_before_near(slot, runs));
        Home {
            position: Position {
                cylinder: track.cylinder,
                head: track.head,
                sector: track.kind.first + into,
            },
            angles: track.angles(),
            begin,
            end,
            is_whole: end - begin == track.end - track.begin,
        }
    }

    fn sector_at_home(&self, position: Position) -> Option<u64> {
        let track = self.tree.find(position.cylinder, position.head)?;
        let into = position.sector.checked_sub(track.kind.first)?;
        let slot = track.begin + u64::from(into);
        let sector = self.slips.data_before(slot);
        let is_data = slot < track.end && self.slips.data_before(slot + 1) > sector;
        is_data.then_some(sector)
    }

    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn remaps(&self) -> &Remaps {
        &self.remaps
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the rows of an index that list slipped and remapped sectors.

use tidegate_model::mechanics::MechanicsError;

use super::text::{Row, Rows};
use super::tree::Tree;
use crate::mechanical::layout::angles::TrackAngles;
use crate::mechanical::layout::check::check_sectors_per_track;
use crate::mechanical::layout::position::Position;
use crate::mechanical::layout::remaps::{Remap, RemapConflict, Remaps};
use crate::mechanical::layout::slips::Slips;
use crate::mechanical::wrong::wrong;

pub(super) fn slips(text: &str) -> Result<Slips, MechanicsError> {
    let mut runs = Vec::new();
    for mut row in Rows::new("slips", text) {
        runs.push((row.number("sector")?, row.number("count")?));
        row.end()?;
    }
    Slips::new(runs).map_err(|(sector, count)| {
        wrong(
            "slips",
            format!("{count} sectors from {sector} on are out of order or slipped twice"),
            "write them in order, each sector once",
        )
    })
}

/// The disk that remapped sectors must fit into.
pub(super) struct Disk<'a> {
    pub(super) surfaces: u32,
    pub(super) cylinders: u32,
    pub(super) sectors: u64,
    pub(super) tree: &'a Tree,
    pub(super) slips: &'a Slips,
}

pub(super) fn remaps(text: &str, disk: &Disk<'_>) -> Result<Remaps, MechanicsError> {
    let mut runs = Vec::new();
    for mut row in Rows::new("remaps", text) {
        let run = disk.read(&mut row)?;
        if disk.holds_data(&run) {
            return Err(row.wrong(
                "first",
                "these sectors already hold data",
                "name sectors without data",
            ));
        }
        runs.push(run);
    }
    Remaps::new(runs).map_err(clash)
}

impl Disk<'_> {
    fn read(&self, row: &mut Row<'_>) -> Result<Remap, MechanicsError> {
        let start = row.number("sector")?;
        let count = row.number("count")?;
        let cylinder = row.number_up_to("cylinder", self.cylinders - 1)?;
        let head = row.number_up_to("head", self.surfaces - 1)?;
        let first = row.number("first")?;
        let sectors = row.number("sectors_per_track")?;
        row.end()?;
        let sectors = check_sectors_per_track(&row.field("sectors_per_track"), sectors)?;
        let is_known = start.checked_add(count).is_some_and(|end| end <= self.sectors);
        let is_on_track = first.checked_add(count).is_some_and(|end| end <= sectors.into());
        if count == 0 || !is_known || !is_on_track {
            return Err(row.wrong(
                "count",
                format!("{count} sectors from {start} on do not fit on the disk or on the track"),
                "write sectors of the disk, and a run on one track",
            ));
        }
        let [count, first] = [count, first].map(|each| u32::try_from(each).expect("on a track"));
        let position = Position { cylinder, head, sector: first };
        Ok(Remap { start, count, position, angles: self.angles(row, position, sectors)? })
    }

    /// Returns the angles of the track; a track outside the index begins at the index mark.
    fn angles(
        &self,
        row: &Row<'_>,
        position: Position,
        sectors_per_track: u32,
    ) -> Result<TrackAngles, MechanicsError> {
        let Some(track) = self.tree.find(position.cylinder, position.head) else {
            return Ok(TrackAngles { sectors_per_track, origin_millisectors: 0, origin_units: 0 });
        };
        let known = track.kind.sectors_per_track;
        if known != sectors_per_track {
            let message = format!("{sectors_per_track}, but in the index this track has {known}");
            return Err(row.wrong("sectors_per_track", message, format!("write {known}")));
        }
        Ok(track.angles())
    }

    fn holds_data(&self, run: &Remap) -> bool {
        let Position { cylinder, head, sector } = run.position;
        let Some(track) = self.tree.find(cylinder, head) else { return false };
        let data_before = |sector: u32| {
            let into = u64::from(sector.saturating_sub(track.kind.first));
            self.slips.data_before((track.begin + into).min(track.end))
        };
        data_before(sector) != data_before(sector + run.count)
    }
}

fn clash(clash: RemapConflict) -> MechanicsError {
    wrong("remaps", clash.to_string(), "name each sector and each position once")
}

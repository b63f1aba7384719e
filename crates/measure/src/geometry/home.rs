// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where seeks start and end: pairs of tracks at one distance.
//!
//! A pair is used until its tracks seem to be in the drive's memory. The next pair then lies a
//! cylinder further in. After some cylinders the first pair is used again: by then other tracks
//! have replaced it in memory.

use tidegate_drive::mechanical::{Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::TrackOrder;

use super::bare::bare;
use super::probing::Seen;
use super::tracks::{Survey, Track};
use super::zones::ZoneMap;

/// The first cylinder that seeks start from.
const FIRST: u32 = 4;
/// The number of cylinders from which seeks start.
const CYLINDERS: u32 = 40;
/// The last of them.
pub(super) const FARTHEST: u32 = FIRST + CYLINDERS - 1;

/// Where a seek goes.
#[derive(Debug, Clone)]
pub(super) enum SeekTarget {
    /// To the same track.
    Nowhere,
    /// In the first zone, this number of cylinders further in, to the track of that head.
    Head { cylinders: u32, head: u32 },
    /// To this track and to those before it, which lie `apart` sectors from each other.
    Track { begin: u64, sectors: u64, apart: u64 },
}

/// Tracks near the outer edge, one in each cylinder.
pub(super) struct Home {
    pub(super) layout: Layout,
    map: ZoneMap,
    /// The number of pairs that were returned so far.
    count: u32,
}

impl Home {
    /// Returns the tracks of a disk with these zones; `None` if no layout fits the zones.
    pub(super) fn new(map: &ZoneMap) -> Option<Self> {
        let layout = layout(map, None)?;
        let has_room = layout.position(Lba::new(map.sectors - 1)).cylinder > 2 * CYLINDERS;
        has_room.then(|| Self { layout, map: map.clone(), count: 0 })
    }

    /// Returns the last head, if tracks go through cylinders and a cylinder has several.
    pub(super) fn last_head(&self) -> Option<u32> {
        let tracks = self.map.tracks.as_ref()?;
        let is_by_cylinder = tracks.order == TrackOrder::Cylinder && tracks.surfaces > 1;
        is_by_cylinder.then(|| tracks.surfaces - 1)
    }

    /// Switches to a layout whose tracks run back and forth through the cylinders, or through all
    /// cylinders in the same direction.
    pub(super) fn turn(&mut self, is_serpentine: bool) {
        if let Some(layout) = layout(&self.map, Some(is_serpentine)) {
            self.layout = layout;
        }
    }

    fn next(&mut self) -> (u32, u32) {
        let turn = self.count % CYLINDERS;
        self.count += 1;
        (FIRST + turn, turn)
    }

    /// Returns the next pair of tracks; `None` if their angles make no sense.
    pub(super) fn pair(
        &mut self,
        survey: &mut Survey<'_, '_>,
        target: &SeekTarget,
    ) -> Seen<Option<(Track, Track)>> {
        let (cylinder, turn) = self.next();
        let Some(from) = self.known(survey, cylinder, 0)? else { return Ok(None) };
        let to = match *target {
            SeekTarget::Nowhere => Some(from.clone()),
            SeekTarget::Head { cylinders, head } => {
                self.known(survey, cylinder + cylinders, head)?
            }
            SeekTarget::Track { begin, sectors, apart } => {
                let back = u64::from(CYLINDERS - 1 - turn) * apart;
                survey.track_at(begin.saturating_sub(back), sectors)?
            }
        };
        Ok(to.map(|to| (from, to)))
    }

    /// Returns the target of a seek over about `cylinders` cylinders, their exact number, and the
    /// sectors of a track there.
    pub(super) fn target(
        &self,
        survey: &mut Survey<'_, '_>,
        map: &ZoneMap,
        distance: u32,
    ) -> Seen<Option<(SeekTarget, u32, u64)>> {
        let farthest = Position { cylinder: FARTHEST + distance, head: 0, sector: 0 };
        let Some(start) = self.layout.sector_at(farthest) else { return Ok(None) };
        let unsure = map.zone.get(1).map_or(0, |zone| zone.unsure);
        if start.get() + unsure + 1 < map.ends().next().unwrap_or(0) {
            let sectors = self.layout.extent(start, 1).sectors_per_track;
            let target = SeekTarget::Head { cylinders: distance, head: 0 };
            return Ok(Some((target, distance, u64::from(sectors))));
        }
        let Some(track) = survey.track_near(start.get())? else { return Ok(None) };
        let Track { begin, sectors, .. } = track;
        // Where seeks start a cylinder further in, they end one further in as well.
        let cylinder = self.layout.position(Lba::new(begin)).cylinder;
        let apart = sectors
            * map.tracks.as_ref().map_or(1, |tracks| match tracks.order {
                TrackOrder::SurfaceSerpentine => 1,
                _ => u64::from(tracks.surfaces),
            });
        let target = SeekTarget::Track { begin, sectors, apart };
        Ok(Some((target, cylinder.saturating_sub(FARTHEST), sectors)))
    }

    /// Returns the number of sectors between the starting track and the track to which a seek goes.
    pub(super) fn sectors_to(&self, target: &SeekTarget) -> u64 {
        let start = |cylinder| {
            self.layout.sector_at(Position { cylinder, head: 0, sector: 0 }).map_or(0, Lba::get)
        };
        match *target {
            SeekTarget::Nowhere => 0,
            SeekTarget::Head { cylinders, .. } => start(FIRST + cylinders).abs_diff(start(FIRST)),
            SeekTarget::Track { begin, .. } => begin.abs_diff(start(FARTHEST)),
        }
    }

    /// Returns the track at a place of the layout, with its angles.
    fn known(&self, survey: &mut Survey<'_, '_>, cylinder: u32, head: u32) -> Seen<Option<Track>> {
        let position = Position { cylinder, head, sector: 0 };
        let Some(begin) = self.layout.sector_at(position) else { return Ok(None) };
        let sectors = self.layout.extent(begin, 1).sectors_per_track;
        survey.track_at(begin.get(), u64::from(sectors))
    }
}

/// Returns the layout that a map of zones describes.
fn layout(map: &ZoneMap, is_serpentine: Option<bool>) -> Option<Layout> {
    bare(map, is_serpentine).and_then(|mechanics| Layout::new(&mechanics).ok())
}

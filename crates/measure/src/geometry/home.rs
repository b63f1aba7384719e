// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Chooses where seeks start and end: pairs of tracks at a fixed distance.
//!
//! A pair is used until its tracks seem to be in the drive's memory. The next pair is a cylinder
//! further in. After 40 cylinders the first pair is used again: by then, other tracks have replaced
//! it in memory.

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
/// The last cylinder from which seeks start.
pub(super) const FARTHEST: u32 = FIRST + CYLINDERS - 1;
/// The number of pairs that are tried before giving up.
const TRIES: u32 = 4;
/// The distance, in tracks behind a place, at which the search for a track begins, for each
/// attempt.
const ABOVE: [u64; 3] = [3, 10, 30];

/// The track to which a seek goes.
#[derive(Debug, Clone)]
pub(super) enum SeekTarget {
    /// The track on which it starts.
    Nowhere,
    /// The track of `head`, this number of cylinders further in. Tracks there begin `shift` sectors
    /// after their place in the layout.
    Head { cylinders: u32, head: u32, shift: i64 },
}

/// Tracks near the outer edge, one in each cylinder.
pub(super) struct Home {
    pub(super) layout: Layout,
    map: ZoneMap,
    /// The number of pairs that were returned so far.
    count: u32,
}

impl Home {
    /// Returns the tracks of a disk with these zones; `None` if no layout fits the zones, or the
    /// disk has too few cylinders.
    pub(super) fn new(map: &ZoneMap) -> Option<Self> {
        let layout = layout(map, None)?;
        let has_room = layout.position(Lba::new(map.sectors - 1)).cylinder > 2 * CYLINDERS;
        has_room.then(|| Self { layout, map: map.clone(), count: 0 })
    }

    /// Returns the last head, if tracks follow each other by cylinder and a cylinder has several
    /// heads.
    pub(super) fn last_head(&self) -> Option<u32> {
        let tracks = self.map.tracks.as_ref()?;
        let is_by_cylinder = tracks.order == TrackOrder::Cylinder && tracks.surfaces > 1;
        is_by_cylinder.then(|| tracks.surfaces - 1)
    }

    /// Switches to a serpentine layout, whose tracks run back and forth through the cylinders, or
    /// to one whose tracks all run in the same direction.
    pub(super) fn turn(&mut self, is_serpentine: bool) {
        if let Some(layout) = layout(&self.map, Some(is_serpentine)) {
            self.layout = layout;
        }
    }

    fn next(&mut self) -> u32 {
        self.count += 1;
        FIRST + (self.count - 1) % CYLINDERS
    }

    /// Returns the next pair of tracks; `None` if their angles are not plausible.
    pub(super) fn pair(
        &mut self,
        survey: &mut Survey<'_, '_>,
        target: &SeekTarget,
    ) -> Seen<Option<(Track, Track)>> {
        for _ in 0..TRIES {
            let cylinder = self.next();
            let Some(from) = self.track(survey, place(cylinder, 0), 0)? else { continue };
            let to = match *target {
                SeekTarget::Nowhere => Some(from.clone()),
                SeekTarget::Head { cylinders, head, shift } => {
                    self.track(survey, place(cylinder + cylinders, head), shift)?
                }
            };
            if let Some(to) = to {
                return Ok(Some((from, to)));
            }
        }
        Ok(None)
    }

    /// Returns the target of a seek over `distance` cylinders, and the number of sectors of a track
    /// there; `None` if no track was found there.
    pub(super) fn target(
        &self,
        survey: &mut Survey<'_, '_>,
        distance: u32,
    ) -> Seen<Option<(SeekTarget, u64)>> {
        let Some(start) = self.begin(place(FARTHEST + distance, 0)) else {
            return Ok(None);
        };
        let Some(shift) = self.shift(survey, start)? else { return Ok(None) };
        let sectors = self.layout.extent(start, 1).sectors_per_track;
        let target = SeekTarget::Head { cylinders: distance, head: 0, shift };
        Ok(Some((target, u64::from(sectors))))
    }

    /// Returns by how many sectors a track near `start` begins after its place in the layout;
    /// `None` if no track of the expected length was found. In the first zone, the layout is exact.
    pub(super) fn shift(&self, survey: &mut Survey<'_, '_>, start: Lba) -> Seen<Option<i64>> {
        let unsure = self.map.zone.get(1).map_or(0, |zone| zone.unsure);
        if start.get() + unsure + 1 < self.map.ends().next().unwrap_or(0) {
            return Ok(Some(0));
        }
        let like = u64::from(self.layout.extent(start, 1).sectors_per_track);
        for above in ABOVE {
            let near = (start.get() + above * like).min(self.map.sectors);
            let Some(track) = survey.track_near(near)? else { continue };
            let middle = Lba::new(track.begin + track.sectors / 2);
            if track.sectors.abs_diff(like) * 50 > like {
                continue;
            }
            let position = Position { sector: 0, ..self.layout.position(middle) };
            let begin = self.begin(position);
            return Ok(begin.map(|begin| track.begin.cast_signed() - begin.get().cast_signed()));
        }
        Ok(None)
    }

    /// Returns the number of sectors between the track where a seek starts and the track to which
    /// it goes.
    pub(super) fn sectors_to(&self, target: &SeekTarget) -> u64 {
        let start = |cylinder| self.begin(place(cylinder, 0)).map_or(0, Lba::get);
        match *target {
            SeekTarget::Nowhere => 0,
            SeekTarget::Head { cylinders, .. } => start(FIRST + cylinders).abs_diff(start(FIRST)),
        }
    }

    /// Returns the first sector of a track that holds data; spares can precede it.
    pub(super) fn begin(&self, at: Position) -> Option<Lba> {
        let spared = self.map.zone.iter().map(|zone| zone.spares);
        let behind = |sector| self.layout.sector_at(Position { sector, ..at });
        behind(0).or_else(|| spared.filter_map(behind).min())
    }

    /// Returns the track at a place of the layout, with its measured angles.
    pub(super) fn track(
        &self,
        survey: &mut Survey<'_, '_>,
        at: Position,
        shift: i64,
    ) -> Seen<Option<Track>> {
        let Some(begin) = self.begin(at) else { return Ok(None) };
        let sectors = self.layout.extent(begin, 1).sectors_per_track;
        let Some(begin) = begin.get().checked_add_signed(shift) else { return Ok(None) };
        survey.track_at(begin, u64::from(sectors))
    }
}

/// Returns the position of the first sector of a track.
pub(super) const fn place(cylinder: u32, head: u32) -> Position {
    Position { cylinder, head, sector: 0 }
}

/// Returns the layout that a map of zones describes.
fn layout(map: &ZoneMap, is_serpentine: Option<bool>) -> Option<Layout> {
    bare(map, is_serpentine).and_then(|mechanics| Layout::new(&mechanics).ok())
}

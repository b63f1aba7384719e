// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `seek-curve`: how long the heads take from cylinder to cylinder.
//!
//! From one track near the outer edge inwards, over distances that grow by a factor: the least
//! time from a read there to a read here, less the same on one track. In the first zone the
//! layout says where a cylinder is; further in a track is looked for first. From the same
//! track: a head switch, and whether a read of many sectors begins in its middle.

use drive::mechanical::{Layout, Position};
use model::Lba;
use model::mechanics::TrackOrder;
use serde::{Deserialize, Serialize};

use super::fit::bare;
use super::number::{float, median, whole, whole_32};
use super::probing::Probing;
use super::rotation::Rotation;
use super::tracks::{Survey, Track};
use super::transfer::middles;
use super::zones::{Lost, NotSeen, ZoneMap};
use crate::subject::SubjectError;

/// Requests of the experiment, at most.
pub(super) const REQUESTS_MAX: u64 = 18_000;

/// Bisections for each distance.
const REPEATS: usize = 3;
/// The track from which the heads set out is in this cylinder.
const HOME_CYLINDER: u32 = 5;
/// Pairs of cylinders on which it is tried whether a read begins in its middle.
const PAIRS: u32 = 12;
/// One way is quicker than another if it takes this part less.
const QUICKER: f64 = 0.97;
/// The last cylinder that is gone to is so many parts of all before the last.
const LAST_PART: u32 = 2_000;
/// Each distance is this factor longer than the one before.
const FACTOR: f64 = 1.27;

/// How long a seek takes over a distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekPoint {
    /// Cylinders, if the tracks of a cylinder were made out; otherwise tracks.
    pub cylinders: u32,
    /// Part of the target's sectors in between, in millionths.
    pub share_ppm: u64,
    /// Beyond what a read costs where nothing moves.
    pub ns: u64,
    /// How far its measurements spread in the middle.
    pub unsure_ns: u64,
}

/// What the experiment found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekSeen {
    /// In order of distance.
    pub points: Vec<SeekPoint>,
    /// Distances at which the measurements made no sense.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
    /// The least time of a read on the track where the heads are, which is not in `points`.
    pub least_ns: u64,
    /// To another head of the same cylinder; none if cylinders were not made out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_switch_ns: Option<u64>,
    /// Every other cylinder goes from the last head to the first; none if head switches are too
    /// short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_serpentine: Option<bool>,
    /// A read begins in its middle if the head arrives there; none if that was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_latency: Option<bool>,
    /// Reads that it took.
    pub requests: u64,
}

/// Measures seeks on a disk whose zones are known.
///
/// # Errors
/// The target failed.
pub(crate) fn seek_curve(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
    map: &ZoneMap,
    bus_sector_ps: Option<u64>,
) -> Result<Result<SeekSeen, NotSeen>, SubjectError> {
    probing.begin(REQUESTS_MAX);
    match seen(probing, rotation, map, bus_sector_ps) {
        Ok(found) => Ok(Ok(found)),
        Err(lost) => lost.told(probing.spent()),
    }
}

/// A track from which the heads set out, and where it is.
struct Home<'a> {
    layout: Layout,
    map: &'a ZoneMap,
    track: Track,
    position: Position,
    least: f64,
    is_serpentine: Option<bool>,
}

fn seen(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
    map: &ZoneMap,
    bus_sector_ps: Option<u64>,
) -> Result<SeekSeen, Lost> {
    let mut survey = Survey::new(probing, rotation);
    let home = Home::find(&mut survey, map)?;
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for distance in home.distances() {
        match home.point(&mut survey, distance)? {
            Some(point) => points.push(point),
            None => left_out.push(distance),
        }
    }
    points.sort_by_key(|point: &SeekPoint| point.cylinders);
    points.dedup_by_key(|point| point.cylinders);
    Ok(SeekSeen {
        points,
        left_out,
        least_ns: whole(home.least),
        head_switch_ns: home.head_switch(&mut survey)?,
        is_serpentine: home.is_serpentine,
        zero_latency: home.zero_latency(&mut survey, bus_sector_ps)?,
        requests: probing.spent(),
    })
}

/// The least time of some bisections, and how far they spread.
fn least_of(survey: &mut Survey<'_, '_>, from: &Track, to: &Track) -> Result<Option<(f64, f64)>, Lost> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        times.extend(survey.least(from, to)?);
    }
    // What was made out once may be chance.
    if times.len() < 2 {
        return Ok(None);
    }
    let middle = median(times.clone()).expect("two at least");
    let spread = median(times.iter().map(|time| (time - middle).abs()).collect());
    Ok(Some((middle, spread.unwrap_or(0.0))))
}

impl<'a> Home<'a> {
    fn find(survey: &mut Survey<'_, '_>, map: &'a ZoneMap) -> Result<Self, Lost> {
        let lost = || Lost::Near(0);
        let is_serpentine = None;
        let layout = layout(map, is_serpentine).ok_or_else(lost)?;
        let cylinders = layout.position(Lba::new(map.sectors - 1)).cylinder;
        for cylinder in (HOME_CYLINDER..cylinders).take(5) {
            let position = Position { cylinder, head: 0, sector: 0 };
            let Some(track) = known(survey, &layout, position)? else { continue };
            if let Some((least, _)) = least_of(survey, &track, &track)? {
                let home = Self { layout, map, track, position, least, is_serpentine };
                return home.turned(survey);
            }
        }
        Err(lost())
    }

    /// With the layout in which the neighbouring cylinder's first track is under the same head.
    ///
    /// Where a head switch takes longer than a seek to the next cylinder, the track there that
    /// is under the same head is reached sooner.
    fn turned(self, survey: &mut Survey<'_, '_>) -> Result<Self, Lost> {
        let tracks = self.map.tracks.as_ref();
        let Some(last) = tracks
            .filter(|tracks| tracks.order == TrackOrder::Cylinder && tracks.surfaces > 1)
            .map(|tracks| tracks.surfaces - 1)
        else {
            return Ok(self);
        };
        let mut times = [None; 2];
        for (head, time) in [0, last].into_iter().zip(&mut times) {
            let position = Position { cylinder: self.position.cylinder + 1, head, sector: 0 };
            if let Some(to) = known(survey, &self.layout, position)? {
                *time = least_of(survey, &self.track, &to)?.map(|(time, _)| time - self.least);
            }
        }
        let [Some(first), Some(last)] = times else { return Ok(self) };
        let is_serpentine = if last < QUICKER * first {
            Some(true)
        } else {
            (first < QUICKER * last).then_some(false)
        };
        let turned = layout(self.map, is_serpentine).unwrap_or_else(|| self.layout.clone());
        Ok(Self { layout: turned, is_serpentine, ..self })
    }

    fn distances(&self) -> Vec<u32> {
        let last = self.layout.position(Lba::new(self.map.sectors - 1)).cylinder;
        let longest = (last - last / LAST_PART).saturating_sub(self.position.cylinder + 1);
        let mut distances = vec![1];
        while let Some(&before) = distances.last()
            && before < longest
        {
            let next = whole_32((f64::from(before) * FACTOR).ceil()).max(before + 1);
            distances.push(next.min(longest));
        }
        distances
    }

    fn point(
        &self,
        survey: &mut Survey<'_, '_>,
        distance: u32,
    ) -> Result<Option<SeekPoint>, Lost> {
        let cylinder = self.position.cylinder + distance;
        let Some((to, cylinder)) = self.track_in(survey, cylinder)? else { return Ok(None) };
        let Some((time, spread)) = least_of(survey, &self.track, &to)? else { return Ok(None) };
        // The block passes the more slowly the fewer a track has.
        let turn = survey.platter.turn;
        let block = to.per_sector(turn) - self.track.per_sector(turn);
        let seek = time - self.least - block * float(survey.probing.block());
        Ok(Some(SeekPoint {
            cylinders: cylinder.abs_diff(self.position.cylinder),
            share_ppm: self.map.share_ppm(to.begin.abs_diff(self.track.begin)),
            ns: whole(seek),
            unsure_ns: whole(spread),
        }))
    }

    /// A track of about that cylinder, and its cylinder.
    fn track_in(
        &self,
        survey: &mut Survey<'_, '_>,
        cylinder: u32,
    ) -> Result<Option<(Track, u32)>, Lost> {
        let position = Position { cylinder, ..self.position };
        let Some(start) = self.layout.sector_at(position) else { return Ok(None) };
        let first = self.map.zone.first().map_or(0, |zone| zone.unsure);
        let end = self.map.ends().next().unwrap_or(0);
        let unsure = self.map.zone.get(1).map_or(first, |zone| zone.unsure);
        if start.get() + unsure + 1 < end {
            let track = known(survey, &self.layout, position)?;
            return Ok(track.map(|track| (track, cylinder)));
        }
        let Some(track) = survey.track_near(start.get())? else { return Ok(None) };
        let cylinder = self.layout.position(Lba::new(track.begin)).cylinder;
        Ok(Some((track, cylinder)))
    }

    /// Whether reads begin in their middle: on pairs of neighbouring cylinders, each once, for
    /// what was read is in memory afterwards.
    fn zero_latency(
        &self,
        survey: &mut Survey<'_, '_>,
        bus_sector_ps: Option<u64>,
    ) -> Result<Option<bool>, Lost> {
        let mut beyond = Vec::new();
        for pair in 0..PAIRS {
            let [from, to] = [0, 1].map(|next| Position {
                cylinder: self.position.cylinder + 2 * pair + next,
                ..self.position
            });
            let Some(from) = known(survey, &self.layout, from)? else { continue };
            let Some(to) = known(survey, &self.layout, to)? else { continue };
            beyond.extend(middles(survey, (&from, &to), bus_sector_ps)?);
        }
        let is_seen = beyond.len() >= 3;
        Ok(median(beyond).filter(|_| is_seen).map(|late| late < 0.0))
    }

    fn head_switch(&self, survey: &mut Survey<'_, '_>) -> Result<Option<u64>, Lost> {
        if self.map.tracks.as_ref().is_none_or(|tracks| tracks.surfaces < 2) {
            return Ok(None);
        }
        let position = Position { head: 1, ..self.position };
        let Some(to) = known(survey, &self.layout, position)? else { return Ok(None) };
        let time = least_of(survey, &self.track, &to)?;
        Ok(time.map(|(time, _)| whole(time - self.least)))
    }
}

/// The layout that a map tells.
fn layout(map: &ZoneMap, is_serpentine: Option<bool>) -> Option<Layout> {
    bare(map, is_serpentine).and_then(|mechanics| Layout::new(&mechanics).ok())
}

/// The track at a place of the layout, with its angles.
fn known(
    survey: &mut Survey<'_, '_>,
    layout: &Layout,
    position: Position,
) -> Result<Option<Track>, Lost> {
    let Some(begin) = layout.sector_at(position) else { return Ok(None) };
    let extent = layout.extent(begin, 1);
    Ok(survey.track_at(begin.get(), u64::from(extent.sectors_per_track))?)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `seek-curve`: measures how long the heads take from one cylinder to another.
//!
//! Seeks go inwards from tracks near the outer edge, over distances that grow by a constant factor.
//! The time of a seek is the shortest time from a read on one track to a read on the other, minus
//! the shortest time between two reads on one track. In the first zone, the layout gives the
//! position of a cylinder; further in, a track must be searched for. The same tracks show how long
//! a head switch takes, and whether the drive can begin a long read in its middle.

use serde::{Deserialize, Serialize};
use tidegate_model::Lba;
use tidegate_model::mechanics::Seek;

use super::held_out::{HeldOut, held_out};
use super::home::{FARTHEST, Home, SeekTarget};
use super::lost::{self, Lost, NotSeen};
use super::number::{float, median, whole, whole_32};
use super::overhead::OverheadSeen;
use super::probing::{Bounds, Probing};
use super::rotation::Rotation;
use super::tracks::Survey;
use super::transfer::beyond_half_way;
use super::zones::ZoneMap;
use crate::subject::TrialResult;

/// The number of requests of the experiment.
pub(super) const REQUESTS: Bounds = Bounds { usual: 9_500, most: 18_000 };

/// The number of bisections for each distance: on a quiet host, and on a noisy one.
const REPEATS: [usize; 2] = [3, 5];
/// The number of bisections for the shortest time, which is subtracted from all other times.
const REPEATS_LEAST: usize = 7;
/// The number of pairs of cylinders that show whether a read can begin in its middle.
const PAIRS: u32 = 12;
/// Seeks do not go to the last cylinders, which are this part (1/2,000) of all.
const LAST_PART: u32 = 2_000;
/// The factor by which each distance is longer than the previous one.
const FACTOR: f64 = 1.27;

/// The time of a seek over one distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekPoint {
    /// The distance in cylinders; in tracks if cylinders could not be identified.
    pub cylinders: u32,
    /// The share of the target's sectors that the seek passes, in millionths.
    pub share_ppm: u64,
    /// The time in excess of the shortest time of a read, in nanoseconds.
    pub ns: u64,
    /// The median deviation of its measurements, in nanoseconds.
    pub unsure_ns: u64,
}

/// The results of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeekSeen {
    /// The measured seeks, in order of distance.
    pub points: Vec<SeekPoint>,
    /// Distances at which the measurements were inconsistent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
    /// The shortest time of a read on the track where the heads are. The times in `points` do not
    /// include it.
    pub least_ns: u64,
    /// The time to another head of the same cylinder; `None` if cylinders could not be identified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_switch_ns: Option<u64>,
    /// Whether the layout is serpentine: tracks run from the last head to the first in every other
    /// cylinder. `None` if head switches are too short to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_serpentine: Option<bool>,
    /// Whether the drive begins a read in its middle if the head arrives there; `None` if that
    /// could not be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_latency: Option<bool>,
    /// The results of checking predictions from these figures; `None` without a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// The number of reads that the measurement took.
    pub requests: u64,
}

impl SeekSeen {
    /// Returns the curve through the points.
    pub(super) fn curve(&self) -> Seek {
        Seek::Points(self.points.iter().map(|point| (point.cylinders, point.ns)).collect())
    }
}

/// Measures seeks on a disk whose zones are known. The cost of a read from the drive's memory, if
/// known, helps to recognise reads that memory answered.
///
/// # Errors
/// If the target fails.
pub(crate) fn seek_curve(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
    map: &ZoneMap,
    overhead: Option<&OverheadSeen>,
) -> TrialResult<Result<SeekSeen, NotSeen>> {
    probing.begin(REQUESTS);
    let found = seen(probing, rotation, map, overhead);
    lost::reported(found, probing.spent())
}

fn seen(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
    map: &ZoneMap,
    overhead: Option<&OverheadSeen>,
) -> Result<SeekSeen, Lost> {
    let mut survey = Survey::new(probing, rotation);
    survey.soonest = overhead.and_then(|seen| seen.hit_ns).map_or(0.0, float);
    let mut home = Home::new(map).ok_or(Lost::Near(0))?;
    let least = least_of(&mut survey, &mut home, &SeekTarget::Nowhere, REPEATS_LEAST)?;
    let (least, _) = least.ok_or(Lost::Near(0))?;
    let is_serpentine = turned(&mut survey, &mut home)?;
    let head_switch = SeekTarget::Head { cylinders: 0, head: 1, shift: 0 };
    let repeats = REPEATS[usize::from(survey.is_noisy)];
    let head_switch = least_of(&mut survey, &mut home, &head_switch, repeats)?;
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for distance in distances(&home, map) {
        match point(&mut survey, &mut home, (map, least), distance)? {
            Some(point) => points.push(point),
            None => left_out.push(distance),
        }
    }
    points.sort_by_key(|point: &SeekPoint| point.cylinders);
    points.dedup_by_key(|point| point.cylinders);
    let nearest = points.first().map_or(0, |point| point.ns);
    let bus = overhead.and_then(|seen| seen.bus_sector_ps);
    let to_next = (least + float(nearest), bus);
    let mut found = SeekSeen {
        left_out,
        least_ns: whole(least),
        head_switch_ns: head_switch.map(|(time, _)| whole(time - least)),
        is_serpentine,
        zero_latency: zero_latency(&mut survey, &mut home, to_next)?,
        points,
        held_out: None,
        requests: 0,
    };
    found.held_out = held_out(&mut survey, &home, &found, rotation.noise_ns)?;
    found.requests = probing.spent();
    Ok(found)
}

/// Returns the median of the shortest times of several bisections, and their median deviation.
fn least_of(
    survey: &mut Survey<'_, '_>,
    home: &mut Home,
    target: &SeekTarget,
    repeats: usize,
) -> Result<Option<(f64, f64)>, Lost> {
    let mut times = Vec::new();
    for _ in 0..repeats {
        times.extend(survey.least(&mut |survey| home.pair(survey, target))?);
    }
    // A single result could be wrong by chance.
    if times.len() < 2 {
        return Ok(None);
    }
    let middle = median(times.clone()).expect("two at least");
    let spread = median(times.iter().map(|time| (time - middle).abs()).collect());
    Ok(Some((middle, spread.unwrap_or(0.0))))
}

/// Finds out whether the layout is serpentine: then the last track of the next cylinder, not its
/// first, is under the same head as the first track of this one. Reaching the track under the other
/// head takes longer if a head switch takes longer than a seek to the next cylinder. Sets the
/// layout of `home` accordingly; `None` if the times do not differ enough.
fn turned(survey: &mut Survey<'_, '_>, home: &mut Home) -> Result<Option<bool>, Lost> {
    let Some(last) = home.last_head() else { return Ok(None) };
    let mut times = [None; 2];
    for (head, time) in [0, last].into_iter().zip(&mut times) {
        let target = SeekTarget::Head { cylinders: 1, head, shift: 0 };
        *time = least_of(survey, home, &target, REPEATS_LEAST)?;
    }
    let [Some((first, first_spread)), Some((last, last_spread))] = times else { return Ok(None) };
    let unsure = 2.0 * (first_spread + last_spread) + survey.platter.turn / 500.0;
    if (first - last).abs() <= unsure {
        return Ok(None);
    }
    let is_serpentine = last < first;
    home.turn(is_serpentine);
    Ok(Some(is_serpentine))
}

fn distances(home: &Home, map: &ZoneMap) -> Vec<u32> {
    let last = home.layout.position(Lba::new(map.sectors - 1)).cylinder;
    let longest = (last - last / LAST_PART).saturating_sub(FARTHEST + 1).max(1);
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
    survey: &mut Survey<'_, '_>,
    home: &mut Home,
    (map, least): (&ZoneMap, f64),
    distance: u32,
) -> Result<Option<SeekPoint>, Lost> {
    let Some((target, sectors)) = home.target(survey, distance)? else {
        return Ok(None);
    };
    let repeats = REPEATS[usize::from(survey.is_noisy)];
    let Some((time, spread)) = least_of(survey, home, &target, repeats)? else { return Ok(None) };
    // On a track with fewer sectors, a block takes longer to pass.
    let turn = survey.platter.turn;
    let outermost = map.zone.first().map_or(sectors, |zone| u64::from(zone.sectors_per_track));
    let block = turn / float(sectors) - turn / float(outermost);
    let seek = time - least - block * float(survey.probing.block());
    Ok(Some(SeekPoint {
        cylinders: distance,
        share_ppm: map.share_ppm(home.sectors_to(&target)),
        ns: whole(seek),
        unsure_ns: whole(spread),
    }))
}

/// Returns whether reads can begin in their middle; `None` with fewer than 3 results. Each pair of
/// neighbouring cylinders is used once, because blocks that were read are in memory afterwards.
fn zero_latency(
    survey: &mut Survey<'_, '_>,
    home: &mut Home,
    (least, bus_sector_ps): (f64, Option<u64>),
) -> Result<Option<bool>, Lost> {
    let mut beyond = Vec::new();
    for _ in 0..PAIRS {
        let target = SeekTarget::Head { cylinders: 1, head: 0, shift: 0 };
        let Some((from, to)) = home.pair(survey, &target)? else { continue };
        beyond.extend(beyond_half_way(survey, (&from, &to), least, bus_sector_ps)?);
    }
    let is_seen = beyond.len() >= 3;
    Ok(median(beyond).filter(|_| is_seen).map(|late| late < 0.0))
}

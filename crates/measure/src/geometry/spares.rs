// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how many sectors are left out as spares in each zone.
//!
//! The tracks of the first zone show after how many tracks spares come; each zone has its own
//! number of spare sectors. In each zone, one short track is found by bisection: up to that track,
//! tracks begin where tracks of full length would.

use super::lost::Lost;
use super::number::{float, whole};
use super::order::TracksSeen;
use super::tracks::{Survey, Track};
use super::walk::Walk;
use super::zones::ZoneSeen;

/// The largest share (1/16) of a track's sectors that can be spares, if each track has spares.
const SPARED: u64 = 16;
/// The number of places that are tried in a zone.
const TRIES: u64 = 6;
/// The groups, counted from the first, whose beginnings must match the prediction.
const FURTHER: [u64; 2] = [2, 5];

/// Measures the spares of each zone and stores them in `zones`. Returns whether all zones follow
/// the rule of the first one.
pub(super) fn spares(
    survey: &mut Survey<'_, '_>,
    tracks: &mut TracksSeen,
    zones: &mut [ZoneSeen],
) -> Result<bool, Lost> {
    let sectors = survey.probing.sectors();
    let mut ends: Vec<u64> = zones.iter().skip(1).map(|zone| zone.start - zone.unsure).collect();
    ends.push(sectors);
    let mut known = tracks.spares;
    for (zone, end) in zones.iter_mut().zip(ends) {
        let found = of_zone(survey, tracks, (zone, known.take()), end)?;
        let Some(spares) = found else { return Ok(false) };
        zone.spares = spares;
    }
    if tracks.spares_every.is_none() {
        if zones.iter().all(|zone| zone.spares > 0) {
            tracks.spares_every = Some(1);
        } else {
            for zone in zones.iter_mut() {
                zone.spares = 0;
            }
        }
    }
    Ok(true)
}

/// Returns the number of spares of a zone that ends before `end`, once two places agree. `None` if
/// they do not agree, or if the zone has no spares although the rule requires them. `known` is the
/// number that the rule showed in this zone, if any.
fn of_zone(
    survey: &mut Survey<'_, '_>,
    tracks: &TracksSeen,
    (zone, known): (&ZoneSeen, Option<u32>),
    end: u64,
) -> Result<Option<u32>, Lost> {
    if survey.is_noisy && tracks.spares_every.is_none() {
        return Ok(Some(0));
    }
    let length = u64::from(zone.sectors_per_track);
    let start = zone.start + zone.unsure;
    let mut seen: Vec<u32> = known.into_iter().collect();
    for part in 1..=TRIES {
        // If a zone is shorter than the uncertainty of its boundary, `near` is always `start`.
        let near = start + end.saturating_sub(start) * part / (TRIES + 2);
        let track = survey.track_near(near)?.filter(|track| track.sectors == length);
        let Some(track) = track.filter(|track| track.begin > start) else { continue };
        let found = match tracks.spares_every {
            None => of_each_track(survey, &track)?,
            Some(every) => of_group(survey, &track, (every.into(), end))?,
        };
        if let Some((found, is_sure)) = found {
            if is_sure || seen.contains(&found) {
                return Ok(Some(found));
            }
            seen.push(found);
        }
    }
    let Some(every) = tracks.spares_every else { return Ok(Some(0)) };
    // A zone that is too small for a measurement gets the spares of the first zone.
    let is_small = u64::from(every + 2) * length > end - start;
    Ok(tracks.spares.filter(|_| is_small))
}

/// Returns by how many sectors a track is longer than its data. The flag is `false`, because a
/// single place is not reliable enough. `None` if the number is implausible.
fn of_each_track(survey: &mut Survey<'_, '_>, track: &Track) -> Result<Option<(u32, bool)>, Lost> {
    survey.forget()?;
    let walk = Walk::from(survey, track)?;
    let passing = whole(survey.platter.turn / walk.per_sector);
    let spares = passing.checked_sub(track.sectors);
    let spares = spares.filter(|&it| it < track.sectors / SPARED);
    Ok(spares.and_then(|it| u32::try_from(it).ok()).map(|it| (it, false)))
}

/// Returns the number of sectors that a group of tracks leaves out, and whether later groups begin
/// as predicted. `None` if the zone ends too early, or no track is short. Spares can be more than a
/// track, so the data from one short track to the next is counted.
fn of_group(
    survey: &mut Survey<'_, '_>,
    track: &Track,
    (every, end): (u64, u64),
) -> Result<Option<(u32, bool)>, Lost> {
    let Some(first) = behind_short(survey, track, track.begin, (every, end))? else {
        return Ok(None);
    };
    let Some(second) = behind_short(survey, track, first, (every, end))? else { return Ok(None) };
    let spares = (every * track.sectors).checked_sub(second - first);
    let spares = spares.and_then(|it| u32::try_from(it).ok()).filter(|&it| it > 0);
    let mut is_sure = true;
    for groups in FURTHER {
        let next = first + groups * (second - first);
        is_sure &= next + track.sectors > end || begins(survey, track, next)?;
    }
    Ok(spares.map(|spares| (spares, is_sure)))
}

/// Returns the beginning of the track after the next short one. The search starts at `from`, where
/// a track of full length begins. `None` if none of the next `every` tracks is short, or the zone
/// ends too early.
fn behind_short(
    survey: &mut Survey<'_, '_>,
    track: &Track,
    from: u64,
    (every, end): (u64, u64),
) -> Result<Option<u64>, Lost> {
    let begin = |number: u64| from + number * track.sectors;
    if begin(every + 2) > end || begins(survey, track, begin(every))? {
        return Ok(None);
    }
    let (mut full, mut short) = (0, every);
    while short - full > 1 {
        let middle = u64::midpoint(full, short);
        if begins(survey, track, begin(middle))? {
            full = middle;
        } else {
            short = middle;
        }
    }
    survey.forget()?;
    let passing = (track.sectors, track.per_sector(survey.platter.turn));
    let mut walk = Walk::at(survey, begin(full), passing)?;
    walk.step(survey, end)?;
    let is_short = walk.tracks[0].short > 0;
    Ok(walk.tracks.get(1).map(|next| next.begin).filter(|_| is_short))
}

/// Returns whether a track begins at this sector.
fn begins(survey: &mut Survey<'_, '_>, like: &Track, begin: u64) -> Result<bool, Lost> {
    let block = survey.probing.block();
    let per_sector = like.per_sector(survey.platter.turn);
    // Reads go downwards, because blocks behind one that was read may be in memory.
    let mut above = Vec::new();
    for beside in [2, 1, 0] {
        let start = begin.next_multiple_of(block) + beside * block;
        above.push(survey.angle(start)? - float(start) * per_sector);
    }
    let mut jumps = 0;
    for (beside, above) in (1..).zip(above.into_iter().rev()) {
        let start = survey.probing.aligned(begin) - beside * block;
        let below = survey.angle(start)? - float(start) * per_sector;
        jumps += u64::from(survey.platter.beyond(above, below).abs() > survey.off_max);
    }
    Ok(jumps >= 2)
}

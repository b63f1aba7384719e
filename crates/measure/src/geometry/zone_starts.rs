// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the first sector of each zone.
//!
//! From a track behind the boundary, the search goes down track by track until the tracks have
//! another number of sectors.

use super::lost::Lost;
use super::number::float;
use super::order::TracksSeen;
use super::tracks::Survey;
use super::zones::ZoneSeen;

/// The distance, in tracks behind the boundary, at which the search begins, for each attempt.
const ABOVE: [u64; 3] = [4, 10, 30];
/// The maximum number of tracks in a search.
const TRACKS_MAX: usize = 96;
/// A zone can begin up to this number of tracks below the range that was found for its beginning,
/// because the tracks that are counted for a place can be that far below it.
const BELOW: u64 = 24;

/// Finds where zones begin, and stores each beginning that could be determined.
pub(super) fn starts(
    survey: &mut Survey<'_, '_>,
    tracks: &TracksSeen,
    zones: &mut [ZoneSeen],
) -> Result<(), Lost> {
    for index in 1..zones.len() {
        let end = zones.get(index + 1).map_or(survey.probing.sectors(), |next| next.start);
        let [before, zone] = [&zones[index - 1], &zones[index]];
        if let Some(start) = start_of(survey, tracks, [before, zone], end)? {
            (zones[index].start, zones[index].unsure) = (start, 0);
        }
    }
    Ok(())
}

fn start_of(
    survey: &mut Survey<'_, '_>,
    tracks: &TracksSeen,
    [before, zone]: [&ZoneSeen; 2],
    end: u64,
) -> Result<Option<u64>, Lost> {
    let length = u64::from(zone.sectors_per_track);
    let lowest = (zone.start - zone.unsure).saturating_sub(BELOW * length);
    for above in ABOVE {
        let near = zone.start + zone.unsure + above * length;
        if near >= end {
            break;
        }
        let track = survey.track_near(near)?.filter(|track| track.sectors == length);
        let Some(track) = track.filter(|track| track.begin >= lowest) else { continue };
        survey.forget()?;
        let like = Tracks::new(survey, tracks, [before, zone]);
        let start = down(survey, like, track.begin)?;
        let highest = zone.start + zone.unsure + length;
        if let Some(start) = start.filter(|start| (lowest..=highest).contains(start)) {
            return Ok(Some(start));
        }
    }
    Ok(None)
}

/// The figures by which tracks of a zone are recognised.
#[derive(Debug, Clone, Copy)]
struct Tracks {
    /// The number of sectors of a track, and of a track that ends with spares.
    full: u64,
    short: u64,
    per_sector: f64,
    /// Angles that differ by less than this are on one line.
    tolerance: f64,
}

impl Tracks {
    fn new(survey: &Survey<'_, '_>, tracks: &TracksSeen, [before, zone]: [&ZoneSeen; 2]) -> Self {
        let full = u64::from(zone.sectors_per_track);
        let spares = u64::from(zone.spares);
        let is_each = tracks.spares_every == Some(1);
        let passing = |zone: &ZoneSeen| {
            let spares = if is_each { zone.spares } else { 0 };
            float(u64::from(zone.sectors_per_track + spares))
        };
        let unlike = (1.0 - passing(zone) / passing(before)).abs() * survey.platter.turn / 4.0;
        Self {
            full,
            // If there are more spares than a track has sectors, whole tracks are left out.
            short: if is_each { full } else { full - spares % full },
            per_sector: survey.platter.turn / passing(zone),
            tolerance: survey.off_max.min(unlike),
        }
    }

    /// Returns the number of sectors of the track that ends before `end`; `None` if no track of
    /// this zone ends there. It reads downwards, because blocks behind one that was read may be in
    /// memory. For the same reason, a further attempt begins `beside` blocks lower.
    fn ending_at(
        self,
        survey: &mut Survey<'_, '_>,
        end: u64,
        beside: u64,
    ) -> Result<Option<u64>, Lost> {
        let block = survey.probing.block();
        let Some(begin) = end.checked_sub(self.full) else { return Ok(None) };
        let begin_short = end - self.short;
        let mut places: Vec<u64> = (0..4).map(|part| end - part * self.short / 4 - block).collect();
        places.push(begin_short + block);
        if self.short < self.full {
            places.extend([begin_short.saturating_sub(block), begin + block]);
        }
        let mut lines = Vec::new();
        for place in places {
            let start = survey.probing.aligned(place.saturating_sub(beside * block));
            lines.push(survey.angle(start)? - float(start) * self.per_sector);
        }
        let is_on = |&line: &f64| survey.platter.beyond(line, lines[0]).abs() <= self.tolerance;
        let (upper, lower) = lines.split_at(5);
        let is_short = upper.iter().take(if beside == 0 { 5 } else { 4 }).all(is_on);
        Ok(match lower {
            _ if !is_short => None,
            [] => Some(self.full),
            [_, first] if is_on(first) => Some(self.full),
            [below, _] if !is_on(below) => Some(self.short),
            _ => None,
        })
    }
}

/// Goes down from a track to the first track of its zone; `None` if that is too far.
fn down(survey: &mut Survey<'_, '_>, tracks: Tracks, mut begin: u64) -> Result<Option<u64>, Lost> {
    for _ in 0..TRACKS_MAX {
        let mut found = tracks.ending_at(survey, begin, 0)?;
        for beside in 2..4 {
            if found.is_none() {
                survey.forget()?;
                found = tracks.ending_at(survey, begin, beside)?;
            }
        }
        match found {
            Some(length) => begin -= length,
            None => return Ok(Some(begin)),
        }
    }
    Ok(None)
}

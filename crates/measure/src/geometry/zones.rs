// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `zones`: finds the number of sectors per track all over the target, and how
//! tracks follow each other.
//!
//! The experiment finds tracks at places all over the target. Where two of them differ, it tries
//! places between them until the boundary is known. The skews in the first zone show how tracks
//! follow each other: see `order.rs`.

use serde::{Deserialize, Serialize};

use super::lost::{self, Lost, NotSeen};
use super::number::{float, whole};
use super::order::{TracksSeen, order};
use super::probing::{Bounds, Probing};
use super::rotation::Rotation;
use super::samples::{
    CLOSE, Sample, doubt, either, is_alike, islands, measured, sample, without_lonely,
};
use super::spares::spares;
use super::tracks::Survey;
use super::zone_starts::starts;
use crate::subject::TrialResult;

/// The number of requests of the experiment.
pub(super) const REQUESTS: Bounds = Bounds { usual: 16_000, most: 48_000 };

/// The number of intervals between the places that are measured first.
const INTERVALS: u64 = 48;
/// On a noisy host, a boundary is located only to within this part (1/8,192) of the target.
const EXACT: u64 = 8_192;
/// The distance of two places, as a part (1/256) of the target, above which an error is grave on a
/// noisy host.
const GRAVE: u64 = 256;
/// The number of additional places that are tried if a zone's places disagree.
const MORE: u64 = 4;
/// The outermost place, in sectors: the search needs some tracks below it.
const OUTERMOST: u64 = 131_072;

/// A zone: consecutive tracks with equal numbers of sectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSeen {
    /// The first sector of the zone.
    pub start: u64,
    /// The number of sectors by which `start` may be wrong.
    pub unsure: u64,
    /// The number of sectors of a track that hold data; a track with the spares of a group has
    /// fewer.
    pub sectors_per_track: u32,
    /// The number of spare sectors of each group of tracks, which hold no data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spares: u32,
}

/// Returns whether there are no spares; the file then leaves out their number.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(spares: &u32) -> bool {
    *spares == 0
}

/// The results of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneMap {
    /// The number of sectors of the target.
    pub sectors: u64,
    /// The zones in order; the first begins at sector 0.
    pub zone: Vec<ZoneSeen>,
    /// The order and the skews of tracks; `None` if they are not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracks: Option<TracksSeen>,
    /// The number of reads that the measurement took.
    pub requests: u64,
}

/// Finds the zones of a disk that turns.
///
/// # Errors
/// If the target fails.
pub(crate) fn zones(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
) -> TrialResult<Result<ZoneMap, NotSeen>> {
    probing.begin(REQUESTS);
    let found = seen(probing, rotation);
    lost::reported(found, probing.spent())
}

fn seen(probing: &mut Probing<'_>, rotation: &Rotation) -> Result<ZoneMap, Lost> {
    let sectors = probing.sectors();
    let mut survey = Survey::new(probing, rotation);
    let first = OUTERMOST.min(sectors / 4);
    let places = (0..=INTERVALS).map(|index| {
        let at = u128::from(sectors - 1) * u128::from(index) / u128::from(INTERVALS);
        u64::try_from(at).expect("on the target").max(first)
    });
    let mut samples = Vec::new();
    for at in places {
        samples.push(sample(&mut survey, at, &[])?);
    }
    doubt(&mut survey, &mut samples)?;
    let mut zone = boundaries(&mut survey, &samples)?;
    let outermost = zone.first().map_or(0, |zone| u64::from(zone.sectors_per_track));
    let end = zone.get(1).map_or(sectors, |next| next.start - next.unsure);
    let mut tracks = order(&mut survey, (outermost, end), rotation.noise_ns)?;
    if let Some(seen) = &mut tracks
        && !spares(&mut survey, seen, &mut zone)?
    {
        tracks = None;
    }
    if let Some(seen) = tracks.as_ref().filter(|_| !survey.is_noisy) {
        starts(&mut survey, seen, &mut zone)?;
    }
    Ok(ZoneMap { sectors, zone, tracks, requests: probing.spent() })
}

/// Finds all boundaries between the places, and returns the zones.
fn boundaries(survey: &mut Survey<'_, '_>, samples: &[Sample]) -> Result<Vec<ZoneSeen>, Lost> {
    let mut all: Vec<Sample> = samples.iter().copied().take(1).collect();
    for pair in samples.windows(2) {
        search(survey, pair[0], pair[1], &mut all)?;
    }
    let limit = survey.probing.sectors() / EXACT;
    islands(survey, &mut all)?;
    let all = without_lonely(&all, limit);
    let mut found = Vec::new();
    let mut before: Option<u64> = None;
    for samples in all.chunk_by(|one, next| is_alike(one.sectors, next.sectors)) {
        let (first, last) = (samples[0].at, samples[samples.len() - 1].at);
        let low = before.replace(last);
        found.push(ZoneSeen {
            start: low.map_or(0, |low| u64::midpoint(low, first)),
            unsure: low.map_or(0, |low| (first - low).div_ceil(2)),
            sectors_per_track: agreed(survey, samples)?,
            spares: 0,
        });
    }
    Ok(found)
}

/// Returns how close two places must be for the boundary between them to count as found. On a quiet
/// host, a close search costs little.
fn near_enough(survey: &Survey<'_, '_>, sectors: u64) -> u64 {
    let part = if survey.is_noisy { survey.probing.sectors() / EXACT } else { 0 };
    part.max(4 * sectors)
}

/// Returns the number of sectors on which the places of a zone agree. If they disagree, or if more
/// sectors pass in a turn, more places are tried. If a place has exactly as many sectors as pass in
/// a turn, that number counts: the shorter tracks have spares.
fn agreed(survey: &mut Survey<'_, '_>, samples: &[Sample]) -> Result<u32, Lost> {
    let exact = samples.iter().filter(|sample| sample.is_exact);
    let mut counted: Vec<u64> = exact.map(|sample| sample.sectors).collect();
    let first = counted.first().copied().unwrap_or(samples[0].sectors);
    let passing = samples.iter().find_map(|sample| sample.passing).map(whole);
    let is_unlike = |&sectors: &u64| sectors != passing.unwrap_or(first);
    if counted.iter().any(is_unlike) || counted.is_empty() {
        let (low, high) = (samples[0].at, samples[samples.len() - 1].at);
        for part in 1..=MORE {
            let at = low + (high - low) / (MORE + 1) * part;
            let sectors = sample(survey, at, &[])?.sectors;
            counted.extend(Some(sectors).filter(|it| it.abs_diff(first) <= first / CLOSE));
        }
    }
    let count = |&sectors: &u64| {
        let equal = counted.iter().filter(|&&other| other == sectors).count();
        (Some(sectors) == passing, equal, sectors)
    };
    let (_, _, sectors) = counted.iter().map(count).max().unwrap_or((false, 0, first));
    Ok(u32::try_from(sectors).expect("the search for a track stops before that"))
}

/// Appends `high` to the list, preceded by the places between `low` and `high` that are needed to
/// find the boundary.
fn search(
    survey: &mut Survey<'_, '_>,
    low: Sample,
    high: Sample,
    all: &mut Vec<Sample>,
) -> Result<(), Lost> {
    let is_near = high.at - low.at <= near_enough(survey, high.sectors);
    if is_alike(low.sectors, high.sectors) || is_near {
        all.push(high);
        return Ok(());
    }
    let (low, high) = (measured(survey, low)?, measured(survey, high)?);
    let middle = middle(survey, low, high)?;
    search(survey, low, middle, all)?;
    search(survey, middle, high, all)
}

/// Measures the place in the middle. If its number of sectors matches neither end, it is measured
/// again before it counts; on a noisy host, so is every result that would move a boundary far.
fn middle(survey: &mut Survey<'_, '_>, low: Sample, high: Sample) -> Result<Sample, Lost> {
    let at = low.at + (high.at - low.at) / 2;
    let known = [low.sectors, high.sectors];
    if let Some(found) = either(survey, at, [low, high])? {
        return Ok(found);
    }
    let first = sample(survey, at, &known)?;
    let is_known = |sectors| known.iter().any(|&known| is_alike(sectors, known));
    let is_grave = survey.is_noisy && (high.at - low.at) * GRAVE > survey.probing.sectors();
    if is_known(first.sectors) && !is_grave {
        return Ok(first);
    }
    let second = sample(survey, at, &known)?;
    let is_confirmed =
        is_alike(first.sectors, second.sectors) || is_known(second.sectors) && !is_grave;
    if is_confirmed { Ok(second) } else { sample(survey, at, &[]) }
}

impl ZoneMap {
    /// Returns the end of each zone: the first sector after it.
    pub(super) fn ends(&self) -> impl Iterator<Item = u64> {
        self.zone.iter().skip(1).map(|zone| zone.start).chain([self.sectors])
    }

    /// Returns the share of the target that precedes a sector, in millionths.
    pub fn share_ppm(&self, sector: u64) -> u64 {
        whole(float(sector) / float(self.sectors.max(1)) * 1e6)
    }
}

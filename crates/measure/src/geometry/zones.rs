// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `zones`: sectors per track from one end to the other, and how tracks follow
//! each other.
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
use super::tracks::Survey;
use crate::subject::TrialResult;

/// Requests of the experiment.
pub(super) const REQUESTS: Bounds = Bounds { usual: 12_000, most: 36_000 };

/// The number of intervals between the first places.
const INTERVALS: u64 = 48;
/// A boundary is located to within this part of the target.
const EXACT: u64 = 8_192;
/// Tracks belong to one zone if their numbers of sectors differ by less than this part.
const ALIKE: u64 = 250;
/// On a noisy host an error is grave if the places are farther apart than this part of the target.
const GRAVE: u64 = 256;
/// The number of additional places to try if a zone's places disagree.
const MORE: u64 = 4;
/// The outermost place, in sectors: the search needs some tracks below it.
const OUTERMOST: u64 = 131_072;

/// Tracks of one density.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSeen {
    /// Its first sector.
    pub start: u64,
    /// The number of sectors by which `start` may be wrong.
    pub unsure: u64,
    /// Sectors of a track.
    pub sectors_per_track: u32,
}

/// The results of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneMap {
    /// Sectors of the target.
    pub sectors: u64,
    /// Zones in order, the first from sector 0.
    pub zone: Vec<ZoneSeen>,
    /// How tracks follow each other, where that is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracks: Option<TracksSeen>,
    /// The number of reads that the measurement took.
    pub requests: u64,
}

/// A place and the sectors of its tracks.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: u64,
    sectors: u64,
    /// Whether its sectors were counted, and not only matched with one of two numbers.
    is_exact: bool,
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
    let zone = boundaries(&mut survey, &samples)?;
    let outermost = zone.first().map_or(0, |zone| u64::from(zone.sectors_per_track));
    let tracks = order(&mut survey, outermost, rotation.noise_ns)?;
    Ok(ZoneMap { sectors, zone, tracks, requests: probing.spent() })
}

fn sample(survey: &mut Survey<'_, '_>, at: u64, known: &[u64]) -> Result<Sample, Lost> {
    let track = survey.track_like(at, known)?.ok_or(Lost::Near(at))?;
    Ok(Sample { at, sectors: track.sectors, is_exact: !known.contains(&track.sectors) })
}

fn is_alike(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / ALIKE
}

/// Measures a place again if it differs from neighbours that agree.
fn doubt(survey: &mut Survey<'_, '_>, samples: &mut [Sample]) -> Result<(), Lost> {
    for middle in 1..samples.len().saturating_sub(1) {
        let [before, here, after] = [middle - 1, middle, middle + 1].map(|index| samples[index]);
        let is_lonely = !is_alike(before.sectors, here.sectors);
        if is_lonely && is_alike(before.sectors, after.sectors) {
            samples[middle] = sample(survey, here.at, &[])?;
        }
    }
    Ok(())
}

/// Returns the zones, once all boundaries between places are found.
fn boundaries(survey: &mut Survey<'_, '_>, samples: &[Sample]) -> Result<Vec<ZoneSeen>, Lost> {
    let mut all: Vec<Sample> = samples.iter().copied().take(1).collect();
    for pair in samples.windows(2) {
        search(survey, pair[0], pair[1], &mut all)?;
    }
    let limit = near_enough(survey, 0);
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
        });
    }
    Ok(found)
}

/// Returns how close two places must be for the boundary between them to be known.
fn near_enough(survey: &Survey<'_, '_>, sectors: u64) -> u64 {
    (survey.probing.sectors() / EXACT).max(4 * sectors)
}

/// Drops places that differ from close neighbours on both sides: there the search for a track
/// crossed the boundary, or erred.
fn without_lonely(all: &[Sample], limit: u64) -> Vec<Sample> {
    let is_lonely = |index: usize| {
        let [low, here, high] = [index - 1, index, index + 1].map(|index| all[index]);
        let differs = |other: Sample| !is_alike(other.sectors, here.sectors);
        let limit = limit.max(4 * here.sectors);
        differs(low) && differs(high) && here.at - low.at <= limit && high.at - here.at <= limit
    };
    let inner = 1..all.len().saturating_sub(1);
    let kept = |&(index, _): &(usize, &Sample)| !(inner.contains(&index) && is_lonely(index));
    all.iter().enumerate().filter(kept).map(|(_, &sample)| sample).collect()
}

/// Returns the number of sectors that the places of a zone agree on; if they disagree, more places
/// are tried.
fn agreed(survey: &mut Survey<'_, '_>, samples: &[Sample]) -> Result<u32, Lost> {
    let exact = samples.iter().filter(|sample| sample.is_exact);
    let mut counted: Vec<u64> = exact.map(|sample| sample.sectors).collect();
    let first = counted.first().copied().unwrap_or(samples[0].sectors);
    if counted.iter().any(|&sectors| sectors != first) || counted.is_empty() {
        let (low, high) = (samples[0].at, samples[samples.len() - 1].at);
        for part in 1..=MORE {
            let at = low + (high - low) / (MORE + 1) * part;
            let sectors = sample(survey, at, &[])?.sectors;
            counted.extend(Some(sectors).filter(|&sectors| is_alike(sectors, first)));
        }
    }
    let count =
        |&sectors: &u64| (counted.iter().filter(|&&other| other == sectors).count(), sectors);
    let (_, sectors) = counted.iter().map(count).max().unwrap_or((0, first));
    Ok(u32::try_from(sectors).expect("the search for a track stops before that"))
}

/// Appends the second place, and as many places between the two as are needed to find the boundary.
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
    let middle = middle(survey, low, high)?;
    search(survey, low, middle, all)?;
    search(survey, middle, high, all)
}

/// Measures a place in the middle. A number of sectors that neither end has is measured again
/// before it counts; on a noisy host, so is everything that would move a boundary far.
fn middle(survey: &mut Survey<'_, '_>, low: Sample, high: Sample) -> Result<Sample, Lost> {
    let at = low.at + (high.at - low.at) / 2;
    let known = [low.sectors, high.sectors];
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
    /// Returns where each zone ends.
    pub(super) fn ends(&self) -> impl Iterator<Item = u64> {
        self.zone.iter().skip(1).map(|zone| zone.start).chain([self.sectors])
    }

    /// Returns the part of the target before a sector, in millionths.
    pub fn share_ppm(&self, sector: u64) -> u64 {
        whole(float(sector) / float(self.sectors.max(1)) * 1e6)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The places at which the sectors of a track were counted. Zones are made from these places, and
//! places that do not match the others are measured again.

use super::lost::Lost;
use super::tracks::Survey;

/// Tracks belong to one zone if their numbers of sectors differ by at most this part (1/250).
const ALIKE: u64 = 250;
/// The distance, in tracks below a place, at which the place is measured again.
const BESIDE: u64 = 7;
/// If two numbers of sectors differ by at most this part (1/64), one may belong to a short track of
/// the same zone.
pub(super) const CLOSE: u64 = 64;
/// The relative difference below which two numbers of sectors per turn count as equal.
const PASSING_ALIKE: f64 = 0.001;

/// A place, and the number of sectors of the tracks there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: u64,
    pub(super) sectors: u64,
    /// The number of sectors that pass in a turn there; `None` until it is measured.
    pub(super) passing: Option<f64>,
    /// Whether the sectors were counted; false if they were only matched with a known number.
    pub(super) is_exact: bool,
}

pub(super) fn sample(survey: &mut Survey<'_, '_>, at: u64, known: &[u64]) -> Result<Sample, Lost> {
    let track = survey.track_like(at, known)?.ok_or(Lost::Near(at))?;
    Ok(Sample {
        at,
        sectors: track.sectors,
        passing: None,
        is_exact: !known.contains(&track.sectors),
    })
}

pub(super) fn is_alike(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / ALIKE
}

/// Measures a place again if it differs from two neighbours that agree, and compares neighbours
/// that differ a little: a short track may have been taken for a usual one.
pub(super) fn doubt(survey: &mut Survey<'_, '_>, samples: &mut [Sample]) -> Result<(), Lost> {
    for middle in 1..samples.len().saturating_sub(1) {
        let [before, here, after] = [middle - 1, middle, middle + 1].map(|index| samples[index]);
        let is_lonely = !is_alike(before.sectors, here.sectors);
        if is_lonely && is_alike(before.sectors, after.sectors) {
            samples[middle] = sample(survey, here.at, &[])?;
        }
    }
    let last = samples.len().saturating_sub(1);
    for first in (0..last).chain((0..last).rev()) {
        compare(survey, &mut samples[first..=first + 1])?;
    }
    Ok(())
}

/// If the two places differ a little in their numbers of sectors, but equally many sectors pass in
/// a turn, sets both to the larger number.
fn compare(survey: &mut Survey<'_, '_>, pair: &mut [Sample]) -> Result<(), Lost> {
    let [one, other] = [pair[0], pair[1]];
    let most = one.sectors.max(other.sectors);
    if one.sectors == other.sectors || one.sectors.abs_diff(other.sectors) > most / CLOSE {
        return Ok(());
    }
    (pair[0], pair[1]) = (measured(survey, one)?, measured(survey, other)?);
    if let [Some(one), Some(other)] = [pair[0].passing, pair[1].passing]
        && (one / other - 1.0).abs() < PASSING_ALIKE
    {
        (pair[0].sectors, pair[1].sectors) = (most, most);
    }
    Ok(())
}

/// Returns the place `at` with the figures of the one of the `ends` where equally many sectors pass
/// in a turn; `None` if neither can be chosen.
pub(super) fn either(
    survey: &mut Survey<'_, '_>,
    at: u64,
    ends: [Sample; 2],
) -> Result<Option<Sample>, Lost> {
    let [Some(low), Some(high)] = ends.map(|end| end.passing) else { return Ok(None) };
    let found = survey.which(at, [low, high])?;
    Ok(found.map(|index| Sample { at, is_exact: false, ..ends[index] }))
}

/// Measures how many sectors pass in a turn at a place; does nothing on a noisy host.
pub(super) fn measured(survey: &mut Survey<'_, '_>, sample: Sample) -> Result<Sample, Lost> {
    if survey.is_noisy || sample.passing.is_some() {
        return Ok(sample);
    }
    let passing = survey.passing(sample.at, sample.sectors)?;
    Ok(Sample { passing, ..sample })
}

/// Measures the places of a zone again if both neighbouring zones are alike: a short track may have
/// been taken for a usual one. Each place is measured 7 tracks lower.
pub(super) fn islands(survey: &mut Survey<'_, '_>, all: &mut [Sample]) -> Result<(), Lost> {
    let zones: Vec<(usize, usize)> = all
        .chunk_by(|one, next| is_alike(one.sectors, next.sectors))
        .scan(0, |end, zone| {
            let first = std::mem::replace(end, *end + zone.len());
            Some((first, *end))
        })
        .collect();
    for &(first, end) in &zones {
        let Some(before) = first.checked_sub(1).map(|index| all[index].sectors) else { continue };
        if all.get(end).is_none_or(|after| !is_alike(before, after.sectors)) {
            continue;
        }
        for place in &mut all[first..end] {
            let Sample { at, sectors, .. } = *place;
            let again = sample(survey, at.saturating_sub(BESIDE * sectors), &[])?;
            *place = Sample { at, ..again };
        }
    }
    Ok(())
}

/// Drops places that differ from close neighbours on both sides. There the search for a track
/// crossed a boundary or failed.
pub(super) fn without_lonely(all: &[Sample], limit: u64) -> Vec<Sample> {
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

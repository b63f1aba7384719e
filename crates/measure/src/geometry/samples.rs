// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The places at which the sectors of a track were counted: zones are made from them, and places
//! that do not fit the others are measured again.

use super::lost::Lost;
use super::tracks::Survey;

/// Tracks belong to one zone if their numbers of sectors differ by less than this part.
const ALIKE: u64 = 250;
/// The number of tracks below a place at which it is measured again.
const BESIDE: u64 = 7;
/// Numbers of sectors that differ by less than this part may be those of a short track and a usual
/// one.
pub(super) const CLOSE: u64 = 64;
/// Numbers of sectors that pass in a turn are equal if they differ by less than this part.
const PASSING_ALIKE: f64 = 0.001;

/// A place and the sectors of its tracks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: u64,
    pub(super) sectors: u64,
    /// How many sectors pass in a turn, once it was measured.
    pub(super) passing: Option<f64>,
    /// Whether its sectors were counted, and not only matched with one of two numbers.
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

/// Measures a place again if it differs from neighbours that agree, and compares neighbours that
/// differ a little: short tracks are perhaps taken for the usual ones.
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

/// Gives two places the larger number of sectors if their numbers differ a little, but equally many
/// sectors pass in a turn at both.
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

/// Returns the place `at` with the figures of one of two others, if as many sectors pass in a turn
/// there.
pub(super) fn either(
    survey: &mut Survey<'_, '_>,
    at: u64,
    ends: [Sample; 2],
) -> Result<Option<Sample>, Lost> {
    let [Some(low), Some(high)] = ends.map(|end| end.passing) else { return Ok(None) };
    let found = survey.which(at, [low, high])?;
    Ok(found.map(|index| Sample { at, is_exact: false, ..ends[index] }))
}

/// Measures how many sectors pass in a turn at a place, unless the host is noisy.
pub(super) fn measured(survey: &mut Survey<'_, '_>, sample: Sample) -> Result<Sample, Lost> {
    if survey.is_noisy || sample.passing.is_some() {
        return Ok(sample);
    }
    let passing = survey.passing(sample.at, sample.sectors)?;
    Ok(Sample { passing, ..sample })
}

/// Measures places again that differ from both neighbouring zones, if those are alike: a short
/// track was perhaps taken for the usual one. Each is measured some tracks below.
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

/// Drops places that differ from close neighbours on both sides: there the search for a track
/// crossed the boundary, or erred.
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

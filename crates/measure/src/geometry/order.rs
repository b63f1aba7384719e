// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How tracks follow each other, as the skews between them show.
//!
//! ```text
//! skews of 4 surfaces, by cylinder         head by head through ranges of 4 cylinders
//! t t t C t t t C t t t C ...              C C C t C C C t C C C t C C C C C C C t ...
//! ```
//!
//! Two tracks of a cylinder are a head switch apart. The last track of a cylinder and the first of
//! the next are a seek apart, which is usually longer and has a larger skew. The order follows from
//! how often each of the two skews occurs. If both are equal, the order does not show and does not
//! matter: each track counts as a cylinder.

use serde::{Deserialize, Serialize};
use tidegate_model::mechanics::TrackOrder;

use super::lost::Lost;
use super::number::{float, median, whole};
use super::tracks::{Survey, Track};

/// Tracks whose skews are measured.
const TRACKS: u64 = 160;
/// How often each skew is measured, and how often on a noisy host.
const PASSES: [u64; 2] = [5, 11];
/// The number of attempts to find a track of the first zone.
const TRIES: u32 = 4;
/// Skews that differ by less than this part of a turn are the same.
const ALIKE: f64 = 0.002;
/// A pattern may be wrong once in this number of tracks.
const WRONG: usize = 20;
/// The maximum number of runs that are examined to find where groups of runs end.
const RUNS_MAX: u64 = 64;

/// How tracks follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracksSeen {
    /// The order of the tracks.
    pub order: TrackOrder,
    /// Tracks of a cylinder; 1 if skews do not distinguish head switches from seeks.
    pub surfaces: u32,
    /// How many cylinders follow each other under one head, in the order by surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_cylinders: Option<u32>,
    /// The skew between two tracks of a cylinder, in millionths of a turn.
    pub track_skew_ppm: u64,
    /// The skew between the last track of a cylinder and the first of the next.
    pub cylinder_skew_ppm: u64,
    /// The median spread of the skews of one kind, in millionths of a turn.
    pub unsure_ppm: u64,
    /// A sector at which a cylinder or a range begins.
    pub aligned_at: u64,
}

/// The skews of consecutive tracks: the n-th comes before the n-th track after the first.
struct Skews {
    first: Track,
    skew: Vec<f64>,
}

/// Examines tracks of this number of sectors near the outer edge; `None` if there is no such track.
pub(super) fn order(
    survey: &mut Survey<'_, '_>,
    sectors: u64,
    noise_ns: u64,
) -> Result<Option<TracksSeen>, Lost> {
    let Some(first) = first_track(survey, sectors)? else { return Ok(None) };
    let skews = skews(survey, first)?;
    let turn = survey.platter.turn;
    let apart = (ALIKE * turn).max(float(noise_ns) / 4.0);
    let Some((small, large)) = split(&skews.skew, apart) else {
        return Ok(Some(skews.unseen(turn)));
    };
    let limit = f64::midpoint(small, large);
    let is_large: Vec<bool> = skews.skew.iter().map(|&skew| skew > limit).collect();
    let Some((is_large_rare, period, rest)) = period(&is_large) else {
        return Ok(Some(skews.unseen(turn)));
    };
    let rare_at = skews.first.begin + (u64::try_from(rest).expect("few") + 1) * sectors;
    let period = u32::try_from(period).expect("few");
    let by_cylinder = skews.seen((small, large), turn, (period, rare_at));
    if is_large_rare {
        return Ok(Some(by_cylinder));
    }
    let run = u64::from(period) * sectors;
    let (surfaces, aligned_at) = surfaces(survey, &skews.first, (rare_at, run), limit)?;
    Ok(Some(TracksSeen {
        order: TrackOrder::SurfaceSerpentine,
        surfaces,
        range_cylinders: Some(period),
        aligned_at,
        ..by_cylinder
    }))
}

/// Finds a track near the outer edge with room for the others behind it.
fn first_track(survey: &mut Survey<'_, '_>, sectors: u64) -> Result<Option<Track>, Lost> {
    let near = (TRACKS / 4 * sectors).min(survey.probing.sectors() / 4);
    let end = survey.probing.sectors() / 2;
    for _ in 0..TRIES {
        let track = survey.track_near(near)?.filter(|track| track.sectors == sectors);
        let track = track.filter(|track| track.begin + (TRACKS + 2) * sectors < end);
        if track.is_some() {
            return Ok(track);
        }
    }
    Ok(None)
}

/// Measures the skews behind a track.
fn skews(survey: &mut Survey<'_, '_>, first: Track) -> Result<Skews, Lost> {
    let mut measured = vec![Vec::new(); usize::try_from(TRACKS).expect("few")];
    for into in passes(survey, first.sectors) {
        let mut before = survey.angle(first.begin + into)?;
        for (index, measured) in (1..).zip(&mut measured) {
            let start = survey.probing.aligned(first.begin + into + index * first.sectors);
            let angle = survey.angle(start)?;
            measured.push(survey.platter.after(angle, before));
            before = angle;
        }
    }
    let turn = survey.platter.turn;
    // A skew just below a turn is a small negative skew.
    let signed = |skew: f64| if skew > 0.9 * turn { skew - turn } else { skew };
    let skew =
        measured.into_iter().map(|skews| signed(median(skews).expect("some passes")).max(0.0));
    Ok(Skews { skew: skew.collect(), first })
}

/// Returns how far into each track to read, pass by pass: from back to front, because the blocks
/// behind one that was read may be in memory.
fn passes(survey: &mut Survey<'_, '_>, sectors: u64) -> Vec<u64> {
    let passes = PASSES[usize::from(survey.is_noisy)];
    let places = (0..passes).rev().map(|pass| sectors / 4 + sectors * pass / (2 * passes));
    places.map(|into| survey.probing.aligned(into)).collect()
}

/// Returns the two values of the skews; `None` if they have only one.
fn split(skews: &[f64], apart: f64) -> Option<(f64, f64)> {
    let mut sorted = skews.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut low, mut high) = (*sorted.first()?, *sorted.last()?);
    for _ in 0..16 {
        let limit = f64::midpoint(low, high);
        let cut = sorted.partition_point(|&skew| skew <= limit);
        let (small, large) = sorted.split_at(cut);
        (low, high) = (median(small.to_vec())?, median(large.to_vec())?);
    }
    (high - low > apart).then_some((low, high))
}

/// Returns whether large skews are the rare kind, the period at which the rare kind occurs, and the
/// index at which it first does: the shortest period that explains all but a few skews. If both
/// kinds are equally frequent, the larger counts as the rare one, as in a cylinder of two tracks.
fn period(is_large: &[bool]) -> Option<(bool, usize, usize)> {
    let wrong = |rare: bool, period: usize, rest: usize| {
        let expected = |index: usize| index % period == rest;
        let is_wrong = |&(index, &large): &(usize, &bool)| (large == rare) != expected(index);
        is_large.iter().enumerate().filter(is_wrong).count()
    };
    let periods = 2..=is_large.len() / 2;
    let places = periods.flat_map(|period| (0..period).map(move |rest| (period, rest)));
    let all = places.flat_map(|(period, rest)| [true, false].map(|rare| (rare, period, rest)));
    let key =
        |&(rare, period, rest): &(bool, usize, usize)| (wrong(rare, period, rest), period, !rare);
    let best = all.min_by_key(key)?;
    (wrong(best.0, best.1, best.2) * WRONG <= is_large.len()).then_some(best)
}

/// Returns, for the order by surface, how many runs make a group, and where one begins. A group
/// ends with a large skew instead of a small one.
fn surfaces(
    survey: &mut Survey<'_, '_>,
    first: &Track,
    (rare_at, run_sectors): (u64, u64),
    limit: f64,
) -> Result<(u32, u64), Lost> {
    let mut last = None;
    for run in 0..RUNS_MAX {
        let begin = rare_at + run * run_sectors;
        if begin + first.sectors > survey.probing.sectors() / 4 {
            break;
        }
        if skew_at(survey, begin, first.sectors)? <= limit {
            continue;
        }
        if let Some(last) = last {
            return Ok((u32::try_from(run - last).expect("few"), begin));
        }
        last = Some(run);
    }
    Ok((1, rare_at))
}

/// Measures the skew before the track that begins here.
fn skew_at(survey: &mut Survey<'_, '_>, begin: u64, sectors: u64) -> Result<f64, Lost> {
    let mut skews = Vec::new();
    for into in passes(survey, sectors) {
        let before = survey.angle(survey.probing.aligned(begin + into - sectors))?;
        let angle = survey.angle(survey.probing.aligned(begin + into))?;
        skews.push(survey.platter.after(angle, before));
    }
    Ok(median(skews).expect("some passes"))
}

impl Skews {
    /// Returns the result if all skews are equal.
    fn unseen(&self, turn: f64) -> TracksSeen {
        let middle = median(self.skew.clone()).unwrap_or(0.0);
        self.seen((middle, middle), turn, (1, self.first.begin))
    }

    /// Returns the result for tracks by cylinder, with two skews.
    fn seen(
        &self,
        (small, large): (f64, f64),
        turn: f64,
        (surfaces, aligned_at): (u32, u64),
    ) -> TracksSeen {
        let limit = f64::midpoint(small, large);
        let off = |&skew: &f64| (skew - if skew > limit { large } else { small }).abs();
        let spread = median(self.skew.iter().map(off).collect()).unwrap_or(0.0);
        let [small, large, unsure] = [small, large, spread].map(|skew| whole(skew / turn * 1e6));
        TracksSeen {
            order: TrackOrder::Cylinder,
            surfaces,
            range_cylinders: None,
            track_skew_ppm: small,
            cylinder_skew_ppm: large,
            unsure_ppm: unsure,
            aligned_at,
        }
    }
}

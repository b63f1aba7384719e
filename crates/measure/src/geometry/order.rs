// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Infers the order in which tracks follow each other, from the skews between them and their
//! lengths.
//!
//! A walk from the outer edge finds where each track begins; then the skews are measured. Between
//! two tracks of a cylinder, the skew allows for a head switch; between the last track of a
//! cylinder and the first of the next, for a seek. `pattern.rs` finds the rule. If both skews are
//! equal, they do not show the order: each track then counts as a cylinder, and the seek times must
//! confirm that this does no harm.

use serde::{Deserialize, Serialize};
use tidegate_model::mechanics::TrackOrder;

use super::lost::Lost;
use super::number::{float, median, whole};
use super::pattern::{Pattern, Rule, SURFACES_MAX, Spares, Step, pattern};
use super::tracks::{Survey, Track};
use super::walk::Walk;

/// The number of tracks of a walk.
const TRACKS: usize = 400;
/// The smallest number of tracks from which a rule is inferred.
const TRACKS_MIN: usize = 24;
/// The number of times each skew is measured: on a quiet host, and on a noisy one.
const PASSES: [u64; 2] = [3, 19];
/// The number of attempts to find a track of the first zone.
const TRIES: u32 = 4;
/// The difference, as a part of a turn, below which two skews count as the same.
const ALIKE: f64 = 0.002;
/// The difference, as a multiple of the noise, below which two skews also count as the same.
const LATE: f64 = 2.0;

/// The order and the skews of tracks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracksSeen {
    /// The order of the tracks.
    pub order: TrackOrder,
    /// The number of tracks of a cylinder; 1 if skews do not distinguish head switches from seeks.
    pub surfaces: u32,
    /// In the order by surface, the number of consecutive cylinders under one head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_cylinders: Option<u32>,
    /// The skew between two tracks of a cylinder, in millionths of a turn.
    pub track_skew_ppm: u64,
    /// The skew between the last track of a cylinder and the first of the next, in millionths of a
    /// turn.
    pub cylinder_skew_ppm: u64,
    /// The median spread of the skews of one kind, in millionths of a turn.
    pub unsure_ppm: u64,
    /// A sector at which a cylinder or a range begins.
    pub aligned_at: u64,
    /// The number of tracks in each group that ends with spare sectors, so that its last track is
    /// short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spares_every: Option<u32>,
    /// Whether the spares are the first sectors of these groups instead, so that the first track is
    /// short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_spared_first: bool,
    /// The number of sectors by which that short track is shorter than the others, in the first
    /// zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spares: Option<u32>,
}

/// Infers the order from tracks with this number of sectors near the outer edge, before `end`;
/// `None` if there is no such track, or no rule explains them.
pub(super) fn order(
    survey: &mut Survey<'_, '_>,
    (sectors, end): (u64, u64),
    noise_ns: u64,
) -> Result<Option<TracksSeen>, Lost> {
    let Some(first) = first_track(survey, sectors)? else { return Ok(None) };
    let walk = walked(survey, &first, end)?;
    if walk.tracks.len() < TRACKS_MIN {
        return Ok(None);
    }
    let turn = survey.platter.turn;
    let skews = skews(survey, &walk)?;
    let steps: Vec<Step> = skews
        .iter()
        .zip(&walk.tracks)
        .map(|(skew, track)| Step { skew: skew / turn, short: track.short })
        .collect();
    let apart = ALIKE.max(1.5 / float(sectors)).max(float(noise_ns) * LATE / turn);
    let Some(pattern) = pattern(&steps, apart, walk.per_sector / turn) else { return Ok(None) };
    let Some(rule) = decided(survey, &walk, (&pattern, apart), end)? else { return Ok(None) };
    Ok(Some(seen(&walk, &pattern, rule)))
}

/// Finds the first track of the disk, or else one near the outer edge.
fn first_track(survey: &mut Survey<'_, '_>, sectors: u64) -> Result<Option<Track>, Lost> {
    if let Some(track) = survey.track_at(0, sectors)? {
        return Ok(Some(track));
    }
    let near = (40 * sectors).min(survey.probing.sectors() / 4);
    for _ in 0..TRIES {
        let track = survey.track_near(near)?.filter(|track| track.sectors == sectors);
        if track.is_some() {
            return Ok(track);
        }
    }
    Ok(None)
}

fn walked(survey: &mut Survey<'_, '_>, first: &Track, end: u64) -> Result<Walk, Lost> {
    let mut walk = Walk::from(survey, first)?;
    while walk.tracks.len() <= TRACKS && walk.step(survey, end)? {}
    Ok(walk)
}

/// Measures the skew after each track of a walk except the last.
fn skews(survey: &mut Survey<'_, '_>, walk: &Walk) -> Result<Vec<f64>, Lost> {
    let mut measured = vec![Vec::new(); walk.tracks.len().saturating_sub(1)];
    for into in passes(survey, walk.sectors) {
        let mut before = None;
        for (index, track) in walk.tracks.iter().enumerate() {
            // A block beyond the end of a short track is ignored; the other passes measure that
            // track.
            let start = survey.probing.aligned(track.begin + into);
            let is_on = into + survey.probing.block() <= walk.sectors - track.short;
            let angle = survey.angle(start)? - float(start - track.begin) * walk.per_sector;
            if let Some(before) = before.filter(|_| is_on) {
                measured[index - 1].push(survey.platter.after(angle, before));
            }
            before = is_on.then_some(angle);
        }
    }
    let turn = survey.platter.turn;
    // A skew just below one turn is in fact a small negative skew.
    let signed = |skew: f64| if skew > 0.97 * turn { skew - turn } else { skew };
    let middle = |skews| median(skews).map_or(0.0, signed).max(0.0);
    Ok(measured.into_iter().map(middle).collect())
}

/// Returns the offset at which to read in each track, pass by pass. The passes go from back to
/// front, because the blocks behind one that was read can be in memory.
fn passes(survey: &mut Survey<'_, '_>, sectors: u64) -> Vec<u64> {
    let passes = PASSES[usize::from(survey.is_noisy)];
    let places = (0..passes).rev().map(|pass| sectors / 16 + sectors * pass / (2 * passes));
    places.map(|into| survey.probing.aligned(into)).collect()
}

/// The order of tracks by cylinder or by surface.
#[derive(Debug, Clone, Copy)]
enum Order {
    ByCylinder { surfaces: usize },
    BySurface { surfaces: usize, range: usize },
}

/// Decides whether the rare steps go to the next cylinder or to the next head. In the order by
/// surface, a group of ranges ends with a seek, so a rare step is missing at the end of each group.
fn decided(
    survey: &mut Survey<'_, '_>,
    walk: &Walk,
    (pattern, apart): (&Pattern, f64),
    end: u64,
) -> Result<Option<Order>, Lost> {
    if let Some(spares) = pattern.spares.filter(|spares| spares.is_front) {
        // Spares precede the data only in the order by cylinder.
        let is_one = spares.every == pattern.rule.group() && spares.every <= SURFACES_MAX;
        return Ok(is_one.then_some(Order::ByCylinder { surfaces: spares.every }));
    }
    let every = match pattern.rule {
        Rule::Alike => return Ok(Some(Order::ByCylinder { surfaces: 1 })),
        Rule::BySurface { surfaces, range } => {
            return Ok(Some(Order::BySurface { surfaces, range }));
        }
        Rule::Once { every } => every,
    };
    let groups = walk.tracks.len() / every;
    let (mut runs, mut gaps) = (groups, Vec::new());
    // Beyond this, a missing step would imply more surfaces than any disk has.
    while runs <= 2 * SURFACES_MAX && gaps.len() < 2 {
        let track = (runs + 1) * every - pattern.phase;
        let ends = [track - 1, track].map(|track| begin_of(walk, pattern, track));
        let [Some(before), Some(begin)] = ends else { break };
        if begin + walk.sectors > end {
            break;
        }
        let spared = pattern.spares.map_or(0, |spares| spares.before(track));
        let spared = float(spared) * walk.per_sector / survey.platter.turn;
        let skew = skew_between(survey, walk, (before, begin))? - spared;
        if (skew - pattern.usual).abs() <= apart {
            gaps.push(runs);
        } else if (skew - pattern.rare).abs() > apart {
            return Ok(None);
        }
        runs += 1;
    }
    Ok(match gaps[..] {
        [first, second] => Some(Order::BySurface { surfaces: second - first, range: every }),
        [] if runs > SURFACES_MAX && every <= SURFACES_MAX => {
            Some(Order::ByCylinder { surfaces: every })
        }
        // The larger skew allows for the longer movement, which is usually the seek.
        [] if every <= SURFACES_MAX && pattern.rare > pattern.usual => {
            Some(Order::ByCylinder { surfaces: every })
        }
        _ => None,
    })
}

/// Returns the first sector of the track with this index, counted from the walk's first track; it
/// can be beyond the walk. `None` if the sector would be negative.
fn begin_of(walk: &Walk, pattern: &Pattern, track: usize) -> Option<u64> {
    let count = |tracks: usize| u64::try_from(tracks).ok();
    let spared = |Spares { every, at, sectors, .. }| {
        Some(count((track + every).checked_sub(at + 1)? / every)? * sectors)
    };
    let spared = pattern.spares.map_or(Some(0), spared)?;
    (walk.tracks[0].begin + count(track)? * walk.sectors).checked_sub(spared)
}

/// Measures the skew between the first sectors of two consecutive tracks, as a share of a turn.
fn skew_between(
    survey: &mut Survey<'_, '_>,
    walk: &Walk,
    (before, begin): (u64, u64),
) -> Result<f64, Lost> {
    let (turn, block) = (survey.platter.turn, survey.probing.block());
    let mut skews = Vec::new();
    for pass in (1..=PASSES[usize::from(survey.is_noisy)]).rev() {
        let into = survey.probing.aligned(walk.sectors / 16 * pass);
        let high = (begin + into).next_multiple_of(block);
        let low = survey.probing.aligned(begin - block - into);
        let mut begins_at = |start: u64, begin: u64| {
            let into = float(start) - float(begin);
            survey.angle(start).map(|angle| angle - into * walk.per_sector)
        };
        let (angle, angle_before) = (begins_at(high, begin)?, begins_at(low, before)?);
        skews.push(survey.platter.after(angle, angle_before) / turn);
    }
    Ok(median(skews).unwrap_or(0.0))
}

fn seen(walk: &Walk, pattern: &Pattern, order: Order) -> TracksSeen {
    let small = |number: usize| u32::try_from(number).expect("few");
    let (order, surfaces, range, track, cylinder) = match order {
        Order::ByCylinder { surfaces } => {
            (TrackOrder::Cylinder, surfaces, None, pattern.usual, pattern.rare)
        }
        Order::BySurface { surfaces, range } => {
            (TrackOrder::SurfaceSerpentine, surfaces, Some(range), pattern.rare, pattern.usual)
        }
    };
    let group = pattern.rule.group();
    let into = pattern.spares.map_or(pattern.phase % group, |it| {
        (it.every - it.at - usize::from(!it.is_front)) % it.every
    });
    let every = pattern.spares.map_or(group, |it| it.every);
    let aligned = walk.tracks.get((every - into) % every);
    let ppm = |part: f64| whole(part * 1e6);
    TracksSeen {
        order,
        surfaces: small(surfaces),
        range_cylinders: range.map(small),
        track_skew_ppm: ppm(track),
        cylinder_skew_ppm: ppm(cylinder),
        unsure_ppm: ppm(pattern.spread),
        aligned_at: aligned.map_or(walk.tracks[0].begin, |track| track.begin),
        spares_every: pattern.spares.map(|spares| small(spares.every)),
        is_spared_first: pattern.spares.is_some_and(|it| it.is_front),
        spares: pattern.spares.and_then(|spares| u32::try_from(spares.sectors).ok()),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the rule behind a row of tracks: which tracks share a cylinder, and after how many tracks
//! there are spare sectors.
//!
//! ```text
//! 4 surfaces, by cylinder      t t t C t t t C t t t C ..          C once in 4
//! 3 surfaces, ranges of 4      C C C t C C C t C C C C C C C t ..  t once in 4, but not every 3rd
//! ```
//!
//! A track can be short of sectors, because spares end a cylinder or a range. If spares fill a
//! whole track, two steps look like one step with neither skew; such a step fits every rule.

use std::cmp::{Ordering, Reverse};

use super::number::median;

/// The divisor of the number of steps that gives the largest number of wrong steps of an accepted
/// rule.
const WRONG: usize = 20;
/// The minimum number of times that a rule must repeat.
const REPEATED: usize = 2;
/// The largest number of surfaces.
pub(super) const SURFACES_MAX: usize = 32;
/// The largest number of tracks in a group that is considered.
const GROUP_MAX: usize = 256;
/// The largest number of sectors by which slips shorten a track. So few spares can be told from
/// slips only if many tracks have them.
const SLIPPED: u64 = 2;
/// The divisor of the number of tracks that gives the limit of tracks that slips shorten.
const FEW: usize = 16;

/// A step from one track to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// The angle between the first sectors of the two tracks, as a share of a turn.
    pub(super) skew: f64,
    /// The number of sectors by which the first of the two tracks is shorter than most.
    pub(super) short: u64,
}

/// The rule by which the tracks of a cylinder follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// All skews are equal.
    Alike,
    /// One of the two skews occurs once in `every` steps. Whether it belongs to a seek or to a head
    /// switch is still open.
    Once { every: usize },
    /// The head changes once in `range` tracks, and each group of `surfaces * range` tracks ends
    /// with a seek.
    BySurface { surfaces: usize, range: usize },
}

impl Rule {
    /// Returns the number of tracks after which the rule repeats.
    pub(super) fn group(self) -> usize {
        match self {
            Self::Alike => 1,
            Self::Once { every } => every,
            Self::BySurface { surfaces, range } => surfaces * range,
        }
    }

    /// Returns whether the step after the `track`-th of a group is of the rare kind.
    fn is_rare(self, track: usize) -> bool {
        match self {
            Self::Alike => false,
            Self::Once { every } => (track + 1).is_multiple_of(every),
            Self::BySurface { range, .. } => {
                let next = track + 1;
                next.is_multiple_of(range) && !next.is_multiple_of(self.group())
            }
        }
    }
}

/// Spare sectors at the end, or at the front, of every group of `every` tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spares {
    /// The number of tracks from one short track to the next.
    pub(super) every: usize,
    /// The index of the first short track.
    pub(super) at: usize,
    /// The number of spare sectors in each group.
    pub(super) sectors: u64,
    /// Whether the spares are the first sectors of a group instead of the last.
    pub(super) is_front: bool,
}

impl Spares {
    /// Returns the number of spares at the front of the track with this index.
    pub(super) fn before(self, track: usize) -> u64 {
        let is_short = (track + self.every - self.at).is_multiple_of(self.every);
        if self.is_front && is_short { self.sectors } else { 0 }
    }
}

/// A rule that explains the steps between consecutive tracks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pattern {
    pub(super) rule: Rule,
    /// The index of the first track within its group.
    pub(super) phase: usize,
    /// The skews of rare steps and of usual steps, as shares of a turn.
    pub(super) rare: f64,
    pub(super) usual: f64,
    /// The median distance of the measured skews from these two.
    pub(super) spread: f64,
    pub(super) spares: Option<Spares>,
}

/// Returns the pattern of these steps; `None` if no rule explains them. Skews that differ by at
/// most `apart` count as equal. A sector passes in `per_sector`. Both are shares of a turn.
///
/// # Complexity
/// Tries every rule whose group repeats within the steps, at each phase; most are rejected after a
/// few steps.
pub(super) fn pattern(steps: &[Step], apart: f64, per_sector: f64) -> Option<Pattern> {
    let spares = spares(steps);
    if steps.iter().filter(|step| step.short > SLIPPED).count() > 1 && spares.is_none() {
        return None;
    }
    ruled(steps, spares, apart).or_else(|| {
        let spares = Spares { is_front: true, ..spares? };
        let moved = moved(steps, spares, per_sector);
        let found = ruled(&moved, Some(spares), apart)?;
        let Rule::Alike = found.rule else { return Some(found) };
        // Without a second skew, only the spares show where groups begin.
        let phase = (spares.every - spares.at) % spares.every;
        let rule = Rule::Once { every: spares.every };
        let fit = Fit { rule, phase, rare: found.usual, usual: found.usual };
        Some(Pattern { spares: Some(spares), ..fitted(&moved, fit, apart).1 })
    })
}

/// Returns the steps with skews as if the data of each track began at the track's front spares.
fn moved(steps: &[Step], spares: Spares, per_sector: f64) -> Vec<Step> {
    let before = |track: usize| tidegate_stats::float::of(spares.before(track)) * per_sector;
    let moved = |(track, step): (usize, &Step)| Step {
        skew: (step.skew + before(track) - before(track + 1)).rem_euclid(1.0),
        ..*step
    };
    steps.iter().enumerate().map(moved).collect()
}

/// Returns the pattern of steps, given these spares.
fn ruled(steps: &[Step], spares: Option<Spares>, apart: f64) -> Option<Pattern> {
    let levels = levels(steps, apart);
    let (&first, others) = levels.split_first()?;
    // The first track of a disk begins a group, unless hidden sectors precede it.
    let key = |wrong: (usize, usize), it: &Pattern| (wrong, it.phase != 0, it.rule.group());
    let mut best: Option<((usize, usize), Pattern)> = None;
    let mut is_tie = false;
    let mut take = |wrong: (usize, usize), pattern: Pattern| {
        let order = best.as_ref().map(|best| key(wrong, &pattern).cmp(&key(best.0, &best.1)));
        match order {
            Some(Ordering::Greater) => {}
            Some(Ordering::Equal) => is_tie = true,
            Some(Ordering::Less) | None => (best, is_tie) = (Some((wrong, pattern)), false),
        }
    };
    let alike =
        fitted(steps, Fit { rule: Rule::Alike, phase: 0, rare: first, usual: first }, apart);
    take(alike.0, Pattern { spares, ..alike.1 });
    let mut limit = steps.len() / WRONG;
    let pairs = others.iter().flat_map(|&other| [(first, other), (other, first)]);
    for (usual, rare) in pairs {
        for rule in rules(steps.len()) {
            for phase in 0..rule.group() {
                let fit = Fit { rule, phase, rare, usual };
                if wrong(steps, fit, apart, limit).0 <= limit {
                    let (wrong, pattern) = fitted(steps, fit, apart);
                    limit = limit.min(wrong.0);
                    take(wrong, Pattern { spares, ..pattern });
                }
            }
        }
    }
    let ((wrong, _), pattern) = best.filter(|_| !is_tie)?;
    (wrong * WRONG <= steps.len() && is_consistent(&pattern)).then_some(pattern)
}

/// Returns the frequent skews, with the most frequent first.
fn levels(steps: &[Step], apart: f64) -> Vec<f64> {
    let mut skews: Vec<f64> = steps.iter().map(|step| step.skew).collect();
    skews.sort_by(f64::total_cmp);
    let mut groups: Vec<&[f64]> = skews.chunk_by(|one, next| next - one <= apart).collect();
    groups.sort_by_key(|group| Reverse(group.len()));
    groups.truncate(4);
    groups.iter().filter(|group| group.len() > 1).filter_map(|it| median(it.to_vec())).collect()
}

fn rules(steps: usize) -> Vec<Rule> {
    let most = GROUP_MAX.min(steps / REPEATED);
    let mut rules: Vec<Rule> = (2..=most).map(|every| Rule::Once { every }).collect();
    for range in 2..=most / 2 {
        let surfaces = 2..=SURFACES_MAX.min(most / range);
        rules.extend(surfaces.map(|surfaces| Rule::BySurface { surfaces, range }));
    }
    rules
}

/// A rule, the index of the first track within its group, and the two skews.
#[derive(Debug, Clone, Copy)]
struct Fit {
    rule: Rule,
    phase: usize,
    rare: f64,
    usual: f64,
}

impl Fit {
    fn expected(&self, index: usize) -> f64 {
        let track = (index + self.phase) % self.rule.group();
        if self.rule.is_rare(track) { self.rare } else { self.usual }
    }

    fn is_off(&self, index: usize, step: &Step, apart: f64) -> bool {
        (step.skew - self.expected(index)).abs() > apart
    }
}

/// Returns two counts: the steps that the rule does not explain (the count stops just above
/// `most`), and the short tracks with neither skew, which neither support nor contradict a rule.
fn wrong(steps: &[Step], fit: Fit, apart: f64, most: usize) -> (usize, usize) {
    let is_neither =
        |skew: f64| (skew - fit.rare).abs() > apart && (skew - fit.usual).abs() > apart;
    let (mut wrong, mut free) = (0, 0);
    for (index, step) in steps.iter().enumerate() {
        if step.short > SLIPPED && is_neither(step.skew) {
            free += 1;
        } else if fit.is_off(index, step, apart) {
            wrong += 1;
        }
        if wrong > most {
            break;
        }
    }
    (wrong, free)
}

/// Returns the counts of [`wrong`] over all steps, and the pattern with the medians of its skews.
fn fitted(steps: &[Step], fit: Fit, apart: f64) -> ((usize, usize), Pattern) {
    let Fit { rule, phase, .. } = fit;
    let of = |is_rare: bool| {
        let track = |index: usize| (index + phase) % rule.group();
        let kind =
            steps.iter().enumerate().filter(|(index, _)| rule.is_rare(track(*index)) == is_rare);
        let near = kind.filter(|(index, step)| !fit.is_off(*index, step, apart));
        median(near.map(|(_, step)| step.skew).collect())
    };
    let (usual, rare) = (of(false).unwrap_or(fit.usual), of(true).unwrap_or(fit.rare));
    let off = steps.iter().enumerate().map(|(index, step)| (step.skew - fit.expected(index)).abs());
    let spread = median(off.collect()).unwrap_or(0.0);
    let pattern = Pattern { rule, phase, rare, usual, spread, spares: None };
    (wrong(steps, fit, apart, steps.len()), pattern)
}

/// Returns the spares that end each group of tracks; `None` if there are none, or they follow no
/// rule.
fn spares(steps: &[Step]) -> Option<Spares> {
    let is_short = |step: &Step| step.short > 0;
    let short = || steps.iter().enumerate().filter(|(_, step)| is_short(step));
    let is_frequent = short().count() > steps.len() / FEW;
    let mut clearly = short().filter(|(_, step)| is_frequent || step.short > SLIPPED);
    let (at, first) = clearly.next()?;
    let sectors = first.short;
    let is_alike = |step: &Step| step.short.abs_diff(sectors) <= SLIPPED && is_short(step);
    let wrong = |every: usize| {
        let is_wrong = |(index, step): (usize, &Step)| {
            let is_end = index >= at && (index - at).is_multiple_of(every);
            if is_end { !is_alike(step) } else { step.short > SLIPPED || is_alike(step) }
        };
        steps.iter().enumerate().filter(|&it| is_wrong(it)).count()
    };
    let periods = (1..=steps.len() / REPEATED).map(|every| (wrong(every), every));
    let (wrong, every) = periods.min()?;
    let repeated = steps.iter().filter(|step| is_alike(step)).count() >= REPEATED;
    (wrong * WRONG <= steps.len() / 8 && repeated).then_some(Spares {
        every,
        at: at % every,
        sectors,
        is_front: false,
    })
}

/// Returns whether spares occur only at the beginnings or ends of whole groups of tracks.
fn is_consistent(pattern: &Pattern) -> bool {
    let Some(spares) = pattern.spares else { return true };
    let group = pattern.rule.group();
    let behind = usize::from(!spares.is_front);
    let is_end = (spares.at + pattern.phase + behind).is_multiple_of(group);
    spares.every.is_multiple_of(group) && is_end
}

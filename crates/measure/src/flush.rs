// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How long a flush takes, from the dirtiest starts that writes can make.
//!
//! A volatile cache holds what earlier writes left, and a flush carries all of it out: so it is
//! measured alone, on a device that has just answered every write, after more and more of them.
//!
//! ```text
//!   flush (not timed) --> writes --> all answered --> flush: this is the time
//! ```
//!
//! How many fill the cache is found first: the writes are doubled until flushes get no longer.
//! Source: our own; that dirty data of any age bounds a flush follows from what FLUSH CACHE (ACS-3)
//! and SYNCHRONIZE CACHE (SBC-3) promise.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use tidegate_model::{Duration, Op, Time};

use crate::drain::TWENTIETH;
use crate::experiment::Experiment;
use crate::flow::Flow;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::places::Places;
use crate::profile::ProfileParams;
use crate::rounds::{Progress, Rounds};
use crate::run::{Found, Run};
use crate::subject::{Subject, SubjectError};
use crate::warning::Warning;
use tidegate_stats::confidence;
use tidegate_stats::order_statistics::Summary;

/// Full starts are long: a part of the samples of other experiments.
const PART: u32 = 4;

/// Writes of less than this do not count as enough, whatever flushes take: a large cache looks
/// at first like none.
const FILL_MIN: Duration = Duration::from_ms(1_000);

/// A cache that is not full after so long is larger than we look.
const FILL_MAX: Duration = Duration::from_ms(30_000);

/// Into how many steps each doubling of a number of writes is divided.
const STEP_PART: u32 = 4;

/// The most doublings, for a device without time.
const TRIES_MAX: usize = 20;

/// A flush that is longer by less than a tenth is as long.
const LONGER: [u64; 2] = [11, 10];

/// What is written before a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushStart {
    /// One write at a random place.
    One,
    /// K at once.
    Deep,
    /// A flow at full depth that fills the cache.
    Full,
    /// A flow whose places are by turns at one end of the target and at the other, as long as
    /// makes flushes longest: a longer one lets the drive carry out one end before the other.
    Ends,
}

impl FlushStart {
    /// All, the cheapest first.
    pub const ALL: [Self; 4] = [Self::One, Self::Deep, Self::Full, Self::Ends];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Deep => "deep",
            Self::Full => "full",
            Self::Ends => "ends",
        }
    }

    /// How many writes it has.
    fn writes(self, depth: u32, full: Full) -> u32 {
        match self {
            Self::One => 1,
            Self::Deep => depth,
            Self::Full => full.writes,
            Self::Ends => full.ends,
        }
    }
}

/// What flushes took after writes of one size, start by start; stands in `[fit.flush]`.
///
/// # Shape
/// The lists are as long as there are starts with samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushTimes {
    /// Samples of each start.
    pub samples: u32,
    /// What that number allows to say.
    pub confidence: String,
    /// Whether more writes no longer made flushes longer.
    pub is_full: bool,
    /// The names of the starts.
    pub start: Vec<String>,
    /// How many writes came before.
    pub writes: Vec<u32>,
    /// The longest flush, in nanoseconds.
    pub ns_max: Vec<u64>,
    /// The median.
    pub ns_p50: Vec<u64>,
}

impl FlushTimes {
    /// None without a sample.
    fn of(full: Full, depth: u32, cells: &[Vec<Sample>]) -> Option<Self> {
        let times = |cell: &Vec<Sample>| cell.iter().map(|it| it.took).collect::<Vec<_>>();
        let all: Vec<_> = cells.iter().map_while(|cell| Summary::of(&mut times(cell))).collect();
        let samples = all.iter().map(|summary| summary.count).min()?;
        let starts = || FlushStart::ALL.into_iter().take(all.len());
        Some(Self {
            samples,
            confidence: confidence::statement(samples),
            is_full: full.is_level,
            start: starts().map(|start| start.name().to_owned()).collect(),
            writes: starts().map(|start| start.writes(depth, full)).collect(),
            ns_max: all.iter().map(|summary| summary.highest.ns()).collect(),
            ns_p50: all.iter().map(|summary| summary.quantiles[2].ns()).collect(),
        })
    }

    /// The longest of all starts; none where one is missing, or the cache was never full.
    fn longest(&self) -> Option<u64> {
        let is_whole = self.is_full && self.ns_max.len() == FlushStart::ALL.len();
        self.ns_max.iter().copied().max().filter(|_| is_whole)
    }
}

/// With which requests flushes are measured: writes of each size that is asked for.
pub fn kinds(params: &ProfileParams) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in params.kinds.iter().map(|kind| Kind { op: Op::Write, ..*kind }) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// How often each start is measured.
pub(crate) fn samples(samples: u32) -> u32 {
    samples.div_ceil(PART)
}

/// The longest flush of all sizes and starts; none while anything is missing.
pub(crate) fn longest(
    params: &ProfileParams,
    found: &BTreeMap<String, FlushTimes>,
) -> Option<Duration> {
    let of_kinds = kinds(params).into_iter().map(|it| found.get(&it.to_string())?.longest());
    of_kinds.collect::<Option<Vec<u64>>>()?.into_iter().max().map(Duration::from_ns)
}

/// How many writes fill the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Full {
    /// At random places.
    writes: u32,
    /// At the ends: those after which a flush took longest.
    ends: u32,
    /// Whether flushes got no longer; false where we stopped looking.
    is_level: bool,
}

impl Full {
    /// From flushes after ever twice as many writes.
    fn of(tried: &[(u32, Duration)], is_level: bool) -> Self {
        let longest = longest_of(tried);
        let is_as_long = |&&(_, flush): &&(u32, Duration)| !is_longer(longest, flush);
        let last = tried.last().map_or(1, |(writes, _)| *writes);
        // From there on all are as long: one that was long by chance does not count.
        let enough = tried.iter().rev().take_while(is_as_long).last();
        let enough = enough.map_or(last, |(writes, _)| *writes);
        let writes = enough.saturating_mul(2).min(last);
        Self { writes, ends: writes, is_level }
    }
}

fn longest_of(tried: &[(u32, Duration)]) -> Duration {
    tried.iter().map(|(_, flush)| *flush).max().unwrap_or_default()
}

fn is_longer(flush: Duration, other: Duration) -> bool {
    u128::from(flush.ns()) * u128::from(LONGER[1]) > u128::from(other.ns()) * u128::from(LONGER[0])
}

/// Whether the last two doublings changed nothing.
fn has_levelled(tried: &[(u32, Duration)]) -> bool {
    let Some(before) = tried.len().checked_sub(2).filter(|&before| before >= 2) else {
        return false;
    };
    !is_longer(longest_of(&tried[before..]), longest_of(&tried[..before]))
}

/// Doubles the writes until flushes get no longer; none if `go_on` says stop.
fn fill(
    subject: &mut dyn Subject,
    places: Places,
    depth: u32,
    random: &mut Pcg64,
    mut go_on: impl FnMut(Time) -> bool,
) -> Result<Option<Full>, SubjectError> {
    let (mut tried, mut writes) = (Vec::new(), depth);
    loop {
        if !go_on(subject.now()) {
            return Ok(None);
        }
        let begun = subject.now();
        write(subject, places, depth, FlushStart::Full, writes, random)?;
        let wrote_for = subject.now().since(begun);
        tried.push((writes, subject.flush()?));
        let is_level = wrote_for >= FILL_MIN && has_levelled(&tried);
        if is_level || wrote_for >= FILL_MAX || tried.len() == TRIES_MAX {
            return Ok(Some(Full::of(&tried, is_level)));
        }
        writes = writes.saturating_mul(2);
    }
}

/// Numbers of writes up to `most`: the powers of two, with three between each and the next.
fn counts(most: u32) -> impl Iterator<Item = u32> {
    let step = |writes: u32| ((1 << writes.ilog2()) / STEP_PART).max(1);
    let next = move |&writes: &u32| writes.checked_add(step(writes));
    std::iter::successors(Some(1), next).take_while(move |&writes| writes < most).chain([most])
}

/// After how many writes at the ends a flush is longest; none if `go_on` says stop.
fn dirtiest(
    subject: &mut dyn Subject,
    places: Places,
    depth: u32,
    full: Full,
    random: &mut Pcg64,
    mut go_on: impl FnMut(Time) -> bool,
) -> Result<Option<Full>, SubjectError> {
    let mut best = (Duration::ZERO, full.writes);
    for writes in counts(full.writes) {
        if !go_on(subject.now()) {
            return Ok(None);
        }
        write(subject, places, depth, FlushStart::Ends, writes, random)?;
        best = best.max((subject.flush()?, writes));
    }
    Ok(Some(Full { ends: best.1, ..full }))
}

/// Makes so many writes, and waits until all are answered.
fn write(
    subject: &mut dyn Subject,
    places: Places,
    depth: u32,
    start: FlushStart,
    writes: u32,
    random: &mut Pcg64,
) -> Result<(), SubjectError> {
    let (needed, mut is_low) = (depth as usize, random.random::<bool>());
    let ends = [places.lowest(TWENTIETH, needed), places.highest(TWENTIETH, needed)];
    let draw = || {
        is_low = !is_low;
        match start {
            FlushStart::Ends => places.within(ends[usize::from(is_low)].clone(), random),
            _ => places.anywhere(random),
        }
    };
    let mut flow = Flow::on(subject);
    let at_once = writes.min(depth);
    if writes > at_once {
        flow.keep(at_once, writes - at_once, draw)?;
    } else {
        flow.fill(at_once, draw)?;
    }
    flow.drain()?;
    Ok(())
}

impl Run<'_> {
    /// Flushes after writes of that kind.
    pub(crate) fn flush(
        &mut self,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (places, depth) = (self.places(kind), self.params.depth);
        let rounds = Rounds {
            samples: samples(self.params.samples),
            ..self.rounds(Experiment::Flush, kind, FlushStart::ALL.len())
        };
        let Some(full) = self.full(&rounds, places, subject)? else {
            found.is_cancelled = true;
            found.warnings.push(Warning::NotBegun { experiments: vec![Experiment::Flush] });
            return Ok(());
        };
        let trial = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            let start = FlushStart::ALL[cell];
            write(subject, places, depth, start, start.writes(depth, full), random)?;
            // What was dirty before is on the medium: each trial ends with a flush.
            subject.flush()
        };
        let measured = rounds.measure(subject, trial, &mut self.followers)?;
        found.note(rounds, &measured, None);
        let times = FlushTimes::of(full, depth, &measured.cells);
        found.flush.extend(times.map(|times| (kind.to_string(), times)));
        if !full.is_level {
            found.warnings.push(Warning::FlushGrows { kind, writes: full.writes });
        }
        Ok(())
    }

    /// How many writes fill the cache, unless the journal knows; none if that was stopped.
    fn full(
        &mut self,
        rounds: &Rounds,
        places: Places,
        subject: &mut dyn Subject,
    ) -> Result<Option<Full>, SubjectError> {
        let name = format!("cache filled by {}", places.kind);
        if let Some(full) = self.followers.journal.as_mut().and_then(|it| it.found(&name)) {
            return Ok(Some(full));
        }
        let cells = u64::try_from(rounds.cells).expect("a few");
        let told = Progress {
            experiment: rounds.experiment,
            kind: rounds.kind,
            done: 0,
            total: u64::from(rounds.samples) * cells,
            elapsed: Duration::ZERO,
        };
        let (begun, followers) = (self.begun, &mut self.followers);
        let mut go_on = |now: Time| {
            (followers.progress)(Progress { elapsed: now.since(begun), ..told });
            !followers.is_cancelled()
        };
        let random = &mut Pcg64::seed_from_u64(!rounds.seed);
        let depth = self.params.depth;
        let full = match fill(subject, places, depth, random, &mut go_on)? {
            Some(full) => dirtiest(subject, places, depth, full, random, &mut go_on)?,
            None => None,
        };
        if let (Some(full), Some(journal)) = (&full, self.followers.journal.as_mut()) {
            journal.keep_found(&name, full);
        }
        Ok(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(ms: &[u64]) -> Vec<(u32, Duration)> {
        (0..).map(|power| 8 << power).zip(ms.iter().map(|&ms| Duration::from_ms(ms))).collect()
    }

    #[test]
    fn flushes_have_levelled_when_two_doublings_change_nothing() {
        assert!(!has_levelled(&tried(&[10, 10, 10])), "too few to tell");
        assert!(!has_levelled(&tried(&[10, 20, 40, 42])), "one doubling may be chance");
        assert!(has_levelled(&tried(&[10, 20, 40, 42, 41])));
        assert!(!has_levelled(&tried(&[10, 20, 40, 42, 80])));
        assert!(has_levelled(&tried(&[0, 0, 0, 0])), "a drive that writes through");
    }

    #[test]
    fn numbers_of_writes_are_powers_of_two_with_some_between() {
        assert_eq!(counts(14).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14]);
        assert!(counts(100).any(|writes| writes == 64));
        assert_eq!(counts(1).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_cache_is_filled_by_twice_what_seemed_enough() {
        let full = |ms: &[u64]| Full::of(&tried(ms), true).writes;
        assert_eq!(full(&[10, 20, 40, 42, 41]), 64, "32 and as many again");
        assert_eq!(full(&[10, 20, 40, 80, 160]), 128, "no more than was tried");
        assert_eq!(full(&[0, 0, 0, 0]), 16);
        assert_eq!(full(&[10, 90, 30, 20, 30]), 128, "one was long by chance");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds how many writes fill a device's volatile cache: doubles the number of writes before a
//! flush until flushes stop getting longer.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use tidegate_model::{Duration, Time};

use crate::flow::{Flow, FlowParams};
use crate::places::TWENTIETH;
use crate::subject::TrialResult;

/// The shortest time of the writes before a flush at which the search can end. After fewer writes,
/// a device with a large cache looks like one without a cache.
const FILL_MIN: Duration = Duration::from_ms(1_000);

/// The longest time of the writes before a flush. The search ends when they take this long, even if
/// flushes still get longer.
const FILL_MAX: Duration = Duration::from_ms(30_000);

/// The number of steps into which each doubling of the writes is divided.
const STEP_PART: u32 = 4;

/// The maximum number of tries. It ends the search on a device whose clock does not advance.
const TRIES_MAX: usize = 20;

/// The ratio above which a flush counts as longer than another: 11/10 of the other's time.
const LONGER: [u64; 2] = [11, 10];

tidegate_model::names! {
    /// The writes that precede a timed flush, from the fewest to the most.
    #[non_exhaustive]
    pub enum FlushStart {
        /// One write at a random place.
        One => "one",
        /// K writes, sent together.
        Deep => "deep",
        /// A flow of writes at full depth that fills the cache.
        Full => "full",
        /// A flow that alternates between the two ends of the target. Its length is the one that
        /// makes flushes longest: during a longer flow, the drive would write out one end before
        /// the other.
        Ends => "ends",
    }
}

impl FlushStart {
    /// Returns the number of writes that precede the flush.
    pub(crate) fn writes(self, depth: u32, full: CacheFill) -> u32 {
        match self {
            Self::One => 1,
            Self::Deep => depth,
            Self::Full => full.writes,
            Self::Ends => full.ends,
        }
    }
}

/// The numbers of writes that fill a device's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheFill {
    /// The number of writes at random places.
    pub(crate) writes: u32,
    /// The number of writes at the ends of the target after which a flush took longest.
    pub(crate) ends: u32,
    /// Whether flushes stopped getting longer; false if the search ended before that.
    pub(crate) is_level: bool,
}

impl CacheFill {
    /// Returns the numbers of writes that fill the cache. `tried` lists numbers of writes, each
    /// twice the previous one, with the time of the flush that followed.
    fn of(tried: &[(u32, Duration)], is_level: bool) -> Self {
        let longest = longest_of(tried);
        let is_as_long = |&&(_, flush): &&(u32, Duration)| !is_longer(longest, flush);
        let last = tried.last().map_or(1, |(writes, _)| *writes);
        // From `enough` writes on, all flushes are equally long. A single flush that was long by
        // chance before that does not count.
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

/// Returns whether the last two doublings did not make flushes longer.
fn has_levelled(tried: &[(u32, Duration)]) -> bool {
    let Some(before) = tried.len().checked_sub(2).filter(|&before| before >= 2) else {
        return false;
    };
    !is_longer(longest_of(&tried[before..]), longest_of(&tried[..before]))
}

/// A callback that gets the current time and returns whether to continue the search.
type GoOn<'a> = dyn FnMut(Time) -> bool + 'a;

/// Finds the number of writes that fill the cache, and the number of writes at the two ends that
/// makes a flush longest. Returns `None` if `go_on` returns false.
pub(crate) fn find(
    flow: &mut Flow<'_>,
    flows: FlowParams,
    go_on: &mut GoOn<'_>,
) -> TrialResult<Option<CacheFill>> {
    match fill(flow, flows, go_on)? {
        Some(full) => dirtiest(flow, flows, full, go_on),
        None => Ok(None),
    }
}

/// Doubles the number of writes until flushes stop getting longer; `None` if `go_on` returns false.
fn fill(
    flow: &mut Flow<'_>,
    flows: FlowParams,
    go_on: &mut GoOn<'_>,
) -> TrialResult<Option<CacheFill>> {
    let (mut tried, mut writes) = (Vec::new(), flows.depth);
    loop {
        if !go_on(flow.now()) {
            return Ok(None);
        }
        let begun = flow.now();
        write(flow, flows, FlushStart::Full, writes)?;
        let wrote_for = flow.now().since(begun);
        tried.push((writes, flow.flush()?));
        let is_level = wrote_for >= FILL_MIN && has_levelled(&tried);
        if is_level || wrote_for >= FILL_MAX || tried.len() == TRIES_MAX {
            return Ok(Some(CacheFill::of(&tried, is_level)));
        }
        writes = writes.saturating_mul(2);
    }
}

/// Returns the numbers of writes to try, up to `most`: the powers of two, and three evenly spaced
/// numbers between one power and the next.
fn counts(most: u32) -> impl Iterator<Item = u32> {
    let step = |writes: u32| ((1 << writes.ilog2()) / STEP_PART).max(1);
    let next = move |&writes: &u32| writes.checked_add(step(writes));
    std::iter::successors(Some(1), next).take_while(move |&writes| writes < most).chain([most])
}

/// Finds the number of writes at the two ends after which a flush takes longest; `None` if `go_on`
/// returns false.
fn dirtiest(
    flow: &mut Flow<'_>,
    flows: FlowParams,
    full: CacheFill,
    go_on: &mut GoOn<'_>,
) -> TrialResult<Option<CacheFill>> {
    let mut best = (Duration::ZERO, full.writes);
    for writes in counts(full.writes) {
        if !go_on(flow.now()) {
            return Ok(None);
        }
        write(flow, flows, FlushStart::Ends, writes)?;
        best = best.max((flow.flush()?, writes));
    }
    Ok(Some(CacheFill { ends: best.1, ..full }))
}

/// Sends a number of writes and waits until all are complete.
pub(crate) fn write(
    flow: &mut Flow<'_>,
    flows: FlowParams,
    start: FlushStart,
    writes: u32,
) -> TrialResult {
    let is_low = !flow.random.random::<bool>();
    let mut at_ends = flows.by_turns(TWENTIETH, is_low);
    let draw = |random: &mut Pcg64| match start {
        FlushStart::Ends => at_ends(random),
        _ => flows.places.anywhere(random),
    };
    let at_once = writes.min(flows.depth);
    if writes > at_once {
        flow.keep(at_once, writes - at_once, draw)?;
    } else {
        flow.fill(at_once, draw)?;
    }
    flow.drain()?;
    Ok(())
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
        let full = |ms: &[u64]| CacheFill::of(&tried(ms), true).writes;
        assert_eq!(full(&[10, 20, 40, 42, 41]), 64, "32 and as many again");
        assert_eq!(full(&[10, 20, 40, 80, 160]), 128, "no more than was tried");
        assert_eq!(full(&[0, 0, 0, 0]), 16);
        assert_eq!(full(&[10, 90, 30, 20, 30]), 128, "one was long by chance");
    }
}

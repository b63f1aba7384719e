// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Searches for the places, their order and the starting position of the heads that take the
//! longest time.
//!
//! Hill climbing: each step slightly changes the choice with the longest known time. The new choice
//! replaces the old one if it takes at least as long. If the search makes no progress, it begins
//! again elsewhere. Its result is the longest time of all steps, not the last one.
//!
//! A drive's cache could hold the places that two steps share. Usually other trials come between
//! two samples of one entry, because a round has one sample of each entry. If a round is short, a
//! step changes every place.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::Duration;

/// The number of steps in a row without a longer time after which a search begins again.
const STALE: u32 = 120;

/// The choice of places for one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The place where the heads are before the trial.
    pub(super) start: usize,
    /// The chosen places, in the order of their requests.
    pub(super) chosen: Vec<usize>,
}

/// The search for one entry of a table.
#[derive(Debug)]
pub(super) struct Climb {
    /// The number of places of the target.
    count: usize,
    /// The number of places to choose.
    length: usize,
    /// The choice with the longest time since the search last began, and that time.
    top: Option<(Candidate, Duration)>,
    /// The number of steps since the longest time last grew.
    stale: u32,
    /// The number of times that the search has begun.
    begun: u32,
    /// Whether a step changes every place, so that it shares none with the previous step.
    is_apart: bool,
}

impl Climb {
    /// Creates a search that chooses `length` of the target's `count` places.
    pub(super) fn new(count: usize, length: usize, is_apart: bool) -> Self {
        Self { count, length, top: None, stale: 0, begun: 0, is_apart }
    }

    /// Returns the next choice to try.
    pub(super) fn propose(&mut self, random: &mut Pcg64) -> Candidate {
        if self.stale > STALE {
            self.top = None;
        }
        let Some((top, _)) = &self.top else {
            return self.begin(random);
        };
        let mut next = top.clone();
        if self.is_apart {
            let all = std::iter::once(&mut next.start).chain(&mut next.chosen);
            all.for_each(|place| *place = self.near(*place, random));
            return next;
        }
        // Usually one change; several changes can leave a local maximum where every single change
        // gives a shorter time.
        let changes = if random.random_range(0..4) == 0 { random.random_range(2..=3) } else { 1 };
        for _ in 0..changes {
            self.change(&mut next, random);
        }
        next
    }

    /// Records the time that a choice took.
    pub(super) fn accept(&mut self, tried: Candidate, took: Duration) {
        let known = self.top.as_ref().map(|(_, longest)| *longest);
        if known.is_none_or(|longest| took > longest) {
            self.stale = 0;
        } else {
            self.stale += 1;
        }
        if known.is_none_or(|longest| took >= longest) {
            self.top = Some((tried, took));
        }
    }

    /// Begins the search: the first time with places that alternate between both ends, the next
    /// time with random places, and so on by turns.
    fn begin(&mut self, random: &mut Pcg64) -> Candidate {
        let at_ends = self.begun.is_multiple_of(2);
        self.begun += 1;
        self.stale = 0;
        let place = |index: usize, random: &mut Pcg64| {
            if at_ends {
                let near = random.random_range(0..(self.count / 20).max(1));
                if index.is_multiple_of(2) { near } else { self.count - 1 - near }
            } else {
                random.random_range(0..self.count)
            }
        };
        let chosen = (1..=self.length).map(|index| place(index, random)).collect();
        Candidate { start: place(0, random), chosen }
    }

    /// Changes one place, or exchanges two.
    fn change(&self, candidate: &mut Candidate, random: &mut Pcg64) {
        let at = random.random_range(0..=self.length);
        let kind = random.random_range(0..8);
        if kind == 0 && self.length > 1 {
            let (a, b) = (random.random_range(0..self.length), random.random_range(0..self.length));
            candidate.chosen.swap(a, b);
            return;
        }
        let place = match at.checked_sub(1) {
            None => &mut candidate.start,
            Some(at) => &mut candidate.chosen[at],
        };
        *place = match kind {
            0 | 1 => random.random_range(0..self.count),
            2 => self.count - 1 - *place,
            _ => self.near(*place, random),
        };
    }

    /// Returns a place near another. All powers of two are equally likely as the largest distance.
    fn near(&self, place: usize, random: &mut Pcg64) -> usize {
        let bits = usize::BITS - self.count.leading_zeros();
        let reach = 1_usize << random.random_range(0..bits);
        let step = random.random_range(1..=reach) % self.count;
        if random.random() {
            (place + step) % self.count
        } else {
            (place + self.count - step) % self.count
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    /// Goal: on an even slope, the search finds the only longest choice. Method: the time grows
    /// with the distances between three places of 1,000.
    #[test]
    fn a_search_finds_a_summit() {
        let random = &mut Pcg64::seed_from_u64(1);
        let mut climb = Climb::new(1_000, 2, false);
        let mut longest = 0;
        for _ in 0..2_000 {
            let candidate = climb.propose(random);
            let [a, b] = candidate.chosen[..] else { panic!("two places") };
            let took = candidate.start.abs_diff(a) + a.abs_diff(b) + 1;
            longest = longest.max(took);
            climb.accept(candidate, Duration::from_ns(took as u64));
        }
        assert!(longest >= 1_980, "{longest} of 1999");
    }

    #[test]
    fn a_step_apart_shares_no_place_and_climbs_too() {
        let random = &mut Pcg64::seed_from_u64(3);
        let mut climb = Climb::new(1_000, 1, true);
        let mut longest = 0;
        for _ in 0..2_000 {
            let candidate = climb.propose(random);
            let is_new = |top: &Candidate| {
                top.start != candidate.start && top.chosen[0] != candidate.chosen[0]
            };
            assert!(climb.top.as_ref().is_none_or(|(top, _)| is_new(top)));
            let took = candidate.start.abs_diff(candidate.chosen[0]) + 1;
            longest = longest.max(took);
            climb.accept(candidate, Duration::from_ns(took as u64));
        }
        assert!(longest >= 995, "{longest} of 1000");
    }

    #[test]
    fn a_stale_search_begins_again() {
        let random = &mut Pcg64::seed_from_u64(2);
        let mut climb = Climb::new(10, 1, false);
        for _ in 0..10 * STALE {
            let candidate = climb.propose(random);
            climb.accept(candidate, Duration::from_ns(5));
        }
        assert!(climb.begun >= 9, "{}", climb.begun);
    }
}

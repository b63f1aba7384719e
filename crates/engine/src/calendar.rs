// SPDX-License-Identifier: Apache-2.0 OR MIT
//! When the sources release: nominal instants, independent of what became of earlier work.
//!
//! Every instant is computed from the first one, never from the one before: nothing drifts,
//! and a host that wakes up late releases all that it slept through, each at its nominal
//! instant (dissertation 9.3.2: requests are issued in every period, "regardless of whether
//! or not previous requests have been served").

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::{Duration, Time};

/// What is to be released next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// The nominal instant.
    pub(crate) at: Time,
    /// Position of the source.
    pub(crate) source: u32,
}

/// How the instants of one source follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The first.
    pub(crate) first: Time,
    /// From each to the next; not zero.
    pub(crate) period: Duration,
}

impl Pace {
    /// The instant of release number `index`, from 0; `None` beyond the end of time.
    pub(crate) fn instant(self, index: u64) -> Option<Time> {
        self.first.checked_add(self.period.checked_mul(index)?)
    }
}

/// One source that releases by the clock.
#[derive(Debug)]
struct Entry {
    pace: Pace,
    /// How often it releases.
    releases_max: u64,
    released_count: u64,
}

/// The releases to come.
///
/// # Invariants
/// - `next` holds for each entry that is not finished its next instant, at most `last`.
#[derive(Debug)]
pub(crate) struct Calendar {
    entries: Vec<Option<Entry>>,
    next: BinaryHeap<Reverse<(Time, u32)>>,
    /// Nothing is released after this instant.
    last: Time,
}

impl Calendar {
    /// An empty one, for sources 0 to `sources - 1`, which ends with the instant `last`.
    pub(crate) fn new(sources: usize, last: Time) -> Self {
        let entries = std::iter::repeat_with(|| None).take(sources).collect();
        Self { entries, next: BinaryHeap::with_capacity(sources), last }
    }

    /// Source number `source` releases at this pace, at most `releases_max` times.
    pub(crate) fn enter(&mut self, source: u32, pace: Pace, releases_max: u64) {
        self.entries[source as usize] = Some(Entry { pace, releases_max, released_count: 0 });
        self.schedule(source);
    }

    /// The next instant at which something is released.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.next.peek().map(|&Reverse((at, _))| at)
    }

    /// Takes the next release whose nominal instant has come, the earliest first.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Due> {
        if self.next_at().is_none_or(|at| at > now) {
            return None;
        }
        let Reverse((at, source)) = self.next.pop().expect("just seen");
        let entry = self.entries[source as usize].as_mut().expect("it was scheduled");
        entry.released_count += 1;
        self.schedule(source);
        Some(Due { at, source })
    }

    fn schedule(&mut self, source: u32) {
        let entry = self.entries[source as usize].as_ref().expect("it was entered");
        if entry.released_count >= entry.releases_max {
            return;
        }
        match entry.pace.instant(entry.released_count) {
            Some(at) if at <= self.last => self.next.push(Reverse((at, source))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn late_host_gets_every_instant_it_slept_through_in_order() {
        let mut calendar = Calendar::new(2, ms(25));
        let periodic = Pace { first: ms(1), period: Duration::from_ms(10) };
        calendar.enter(0, periodic, u64::MAX);
        calendar.enter(1, Pace { first: ms(2), period: Duration::from_ms(4) }, 2);
        assert_eq!(calendar.pop_due(ms(0)), None);
        let released: Vec<_> = std::iter::from_fn(|| calendar.pop_due(ms(1000)))
            .map(|due| (due.at, due.source))
            .collect();
        assert_eq!(released, [(ms(1), 0), (ms(2), 1), (ms(6), 1), (ms(11), 0), (ms(21), 0)]);
        assert_eq!(calendar.next_at(), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds periodic streams among sources that declared nothing.
//!
//! Rule: the requests that a source releases at one instant are a burst. A burst is regular
//! when the gap since the one before lies within an eighth of the estimated period, which is
//! the running average of the gaps, and when the source released it by its own clock: not at,
//! or within a sixteenth of the gap after, a completion of its own. N regular bursts in a row
//! make a stream; the first that is not ends it. A stream's bursts count as soft real time,
//! due a period after release, up to the largest burst by which it was recognised.
//!
//! ```text
//!             regular                      N-th regular
//!   Unknown ----------> Counting(1..N-1) ---------------> Periodic
//!      ^                      |                               |
//!      +----------------------+-------------------------------+
//!                     a burst that is not regular
//! ```
//!
//! A greedy source is driven by its completions, so a bucket that meters them out evenly does
//! not make it a stream. A periodic one that is kept waiting so long that it, too, becomes
//! driven by them is not seen until the waiting ends.
//!
//! Source: Banachowski and Brandt, "The BEST scheduler", MMCN 2002, which estimates periods of
//! processes from when they become ready; carried over to I/O. Weights, bounds and the test by
//! completions are ours.

use std::collections::BTreeMap;

use tidegate_model::{Duration, TaskIndex, Time};

/// Sources that are watched at once; the one silent longest makes room for another.
const SOURCES_MAX: usize = 64;
/// N.
const REGULAR_MIN: u32 = 8;
/// A new gap counts for so much of the average.
const WEIGHT: u64 = 8;
/// Gaps may differ from the period by this part of it.
const JITTER_PART: u64 = 8;
/// A release this part of a gap after a completion counts as caused by it.
const CAUSED_PART: u64 = 16;

/// What is known of one source.
#[derive(Debug, Clone, Copy)]
struct Rhythm {
    /// When its last burst was released.
    burst_at: Time,
    /// Requests of that burst so far.
    burst: u32,
    /// The largest burst while it was being recognised.
    burst_max: u32,
    /// The average gap; zero before there is one.
    period_ns: u64,
    /// Regular bursts in a row, at most N.
    regular_count: u32,
    completed_at: Option<Time>,
}

impl Rhythm {
    const fn new(now: Time) -> Self {
        Self {
            burst_at: now,
            burst: 0,
            burst_max: 0,
            period_ns: 0,
            regular_count: 0,
            completed_at: None,
        }
    }

    const fn is_periodic(&self) -> bool {
        self.regular_count >= REGULAR_MIN
    }

    /// A burst begins.
    fn begin_burst(&mut self, at: Time) {
        let gap_ns = at.since(self.burst_at).ns();
        let is_near = self.period_ns.abs_diff(gap_ns) <= self.period_ns / JITTER_PART;
        let since = self.completed_at.map(|completed_at| at.since(completed_at).ns());
        let is_caused = since.is_some_and(|since| since <= gap_ns / CAUSED_PART);
        if !self.is_periodic() {
            self.burst_max = self.burst_max.max(self.burst);
        }
        if is_near && !is_caused && self.period_ns > 0 {
            self.regular_count = (self.regular_count + 1).min(REGULAR_MIN);
            let period_ns =
                u128::from(self.period_ns) * u128::from(WEIGHT - 1) + u128::from(gap_ns);
            self.period_ns = u64::try_from(period_ns / u128::from(WEIGHT)).unwrap_or(u64::MAX);
        } else {
            (self.regular_count, self.burst_max) = (0, 0);
            self.period_ns = gap_ns;
        }
        (self.burst_at, self.burst) = (at, 0);
    }
}

/// Which sources are periodic.
///
/// # Complexity
/// O(log 64) for each event, O(64) for one of a source that is not among those watched.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    sources: BTreeMap<TaskIndex, Rhythm>,
}

impl Detector {
    /// A request was released at `at`; when it is due, if it belongs to a stream.
    pub(crate) fn release(&mut self, source: TaskIndex, at: Time) -> Option<Time> {
        if !self.sources.contains_key(&source) {
            self.make_room();
        }
        let rhythm = self.sources.entry(source).or_insert_with(|| Rhythm::new(at));
        if at > rhythm.burst_at {
            rhythm.begin_burst(at);
        }
        rhythm.burst = rhythm.burst.saturating_add(1); // more than that is no stream's burst
        let is_within = rhythm.is_periodic() && rhythm.burst <= rhythm.burst_max;
        is_within.then(|| at.checked_add(Duration::from_ns(rhythm.period_ns))).flatten()
    }

    /// A request of this source came back.
    pub(crate) fn complete(&mut self, now: Time, source: TaskIndex) {
        if let Some(rhythm) = self.sources.get_mut(&source) {
            rhythm.completed_at = Some(now);
        }
    }

    fn make_room(&mut self) {
        if self.sources.len() < SOURCES_MAX {
            return;
        }
        let silent = self.sources.iter().min_by_key(|(_, rhythm)| rhythm.burst_at);
        let silent = silent.map(|(&source, _)| source);
        silent.and_then(|source| self.sources.remove(&source));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Detects periodic streams among sources without a contract.
//!
//! Rule: the requests that a source releases at one instant are a burst. A burst is regular under
//! two conditions. First, its gap to the previous burst lies within an eighth of the estimated
//! period, which is the running average of the gaps. Second, the source released it by its own
//! clock: neither at one of its own completions nor within a sixteenth of the gap after one. N
//! regular bursts in a row make a stream; the first irregular one ends it. A stream's bursts count
//! as soft real time, due a period after release, up to the size of the largest burst by which it
//! was recognised.
//!
//! ```text
//!             regular                      N-th regular
//!   Unknown ----------> Counting(1..N-1) ---------------> Periodic
//!      ^                      |                               |
//!      +----------------------+-------------------------------+
//!                     an irregular burst
//! ```
//!
//! A greedy source is driven by its completions, so a bucket that spaces them evenly does not make
//! it a stream. A periodic source that waits so long that its completions drive it is not detected
//! until the waiting ends.
//!
//! Source: Banachowski and Brandt, "The BEST scheduler", MMCN 2002, which estimates the periods of
//! processes from the instants at which they become ready; here the method is applied to I/O. The
//! weights, the bounds and the test by completions are this project's.

use std::collections::BTreeMap;

use tidegate_model::{Duration, TaskIndex, Time};

/// The largest number of sources observed at the same time; a new one replaces the one that has
/// been silent longest.
const SOURCES_MAX: usize = 64;
/// N: the smallest number of regular gaps that make a source a stream.
const REGULAR_MIN: u32 = 8;
/// A new gap has the weight 1 / `WEIGHT` in the average.
const WEIGHT: u64 = 8;
/// A gap may differ from the period by at most 1 / `JITTER_PART` of the period.
const JITTER_PART: u64 = 8;
/// A release within 1 / `CAUSED_PART` of the gap after a completion counts as caused by the
/// completion.
const CAUSED_PART: u64 = 16;

/// The observed release pattern of one source.
#[derive(Debug, Clone, Copy)]
struct SourceTiming {
    /// The release of the source's last burst.
    burst_at: Time,
    /// The number of requests in that burst so far.
    burst: u32,
    /// The largest burst during recognition.
    burst_max: u32,
    /// The average gap; zero before the first gap.
    period_ns: u64,
    /// The number of regular bursts in a row, at most N.
    regular_count: u32,
    completed_at: Option<Time>,
}

impl SourceTiming {
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

    /// Begins a burst of this source at `at`.
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

/// Detects which sources are periodic.
///
/// # Complexity
/// O(log 64) per event, O(64) for an event of a source that is not observed.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    sources: BTreeMap<TaskIndex, SourceTiming>,
}

impl Detector {
    /// Records a release at `at`; returns the request's deadline if it belongs to a stream.
    pub(crate) fn release(&mut self, source: TaskIndex, at: Time) -> Option<Time> {
        if !self.sources.contains_key(&source) {
            self.make_room();
        }
        let timing = self.sources.entry(source).or_insert_with(|| SourceTiming::new(at));
        if at > timing.burst_at {
            timing.begin_burst(at);
        }
        timing.burst = timing.burst.saturating_add(1); // no stream's burst is that large
        let is_within = timing.is_periodic() && timing.burst <= timing.burst_max;
        is_within.then(|| at.checked_add(Duration::from_ns(timing.period_ns))).flatten()
    }

    /// Records that a request of this source completed.
    pub(crate) fn complete(&mut self, now: Time, source: TaskIndex) {
        if let Some(timing) = self.sources.get_mut(&source) {
            timing.completed_at = Some(now);
        }
    }

    fn make_room(&mut self) {
        if self.sources.len() < SOURCES_MAX {
            return;
        }
        let silent = self.sources.iter().min_by_key(|(_, timing)| timing.burst_at);
        let silent = silent.map(|(&source, _)| source);
        silent.and_then(|source| self.sources.remove(&source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_sources_replace_those_that_are_silent_longest() {
        let mut detector = Detector::default();
        for source in 0..200_u32 {
            detector.release(TaskIndex(source), Time::from_ns(u64::from(source)));
        }
        assert!(detector.sources.keys().eq((136..200).map(TaskIndex).collect::<Vec<_>>().iter()));
    }
}

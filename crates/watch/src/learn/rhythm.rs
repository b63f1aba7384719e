// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Determines the period of a source from the arrival times of its requests.
//!
//! The estimate is a median, so neither a pause nor a few late or missing jobs change it.

use tidegate_model::{Duration, Time};

/// The minimum number of jobs of a periodic source.
const JOBS_MIN: usize = 16;
/// The minimum ratio of gaps between jobs to gaps within them.
const SPLIT_FACTOR: u64 = 4;
/// The minimum number of gaps between jobs.
const GAPS_MIN: usize = 8;
/// The maximum average number of requests of a job.
const REQUESTS_MAX: usize = 128;
/// The largest part (1/8) of the period by which most gaps differ from it.
const JITTER_PART: u64 = 8;
/// The percentage of gaps that must not differ by more than that.
const REGULAR_PERCENT: usize = 90;
/// A job that begins within this part (1/16) of the period after a completion counts as triggered
/// by the completion.
const CAUSED_PART: u64 = 16;
/// A rounded period is below the estimate by at most this part (1/200), so that a workload never
/// declares less than was observed.
const ROUNDED_PART: u64 = 200;
/// Jitter is assumed to change a median by at most this part (1/2,000).
const JITTERED_PART: u64 = 2_000;

/// The arrival of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) at: Time,
    /// The time since the source's last completion.
    pub(super) since_completion: Option<Duration>,
}

/// The period and the jobs of a periodic source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// The median of the gaps between jobs, rounded down to a few digits.
    pub period: Duration,
    /// The median of the gaps, not rounded.
    pub median: Duration,
    /// The shortest gap between jobs.
    pub gap_min: Duration,
    /// The longest gap between jobs.
    pub gap_max: Duration,
    /// The deviation from the median that 99 of 100 gaps do not exceed.
    pub jitter: Duration,
    /// The number of jobs.
    pub jobs: usize,
    /// The number of requests that 99 of 100 jobs do not exceed.
    pub requests: u32,
    /// The number of requests of the largest job.
    pub requests_max: u32,
}

/// A job: its first arrival and its number of requests.
#[derive(Debug, Clone, Copy)]
struct Job {
    begin: Arrival,
    requests: u32,
}

impl Rhythm {
    /// Returns the rhythm of these requests, which are in order of time; `None` if they are not
    /// periodic.
    pub(super) fn of(arrivals: &[Arrival]) -> Option<Self> {
        let jobs = jobs(arrivals);
        if jobs.len() < JOBS_MIN {
            return None;
        }
        let mut gaps: Vec<u64> =
            jobs.windows(2).map(|pair| pair[1].begin.at.since(pair[0].begin.at).ns()).collect();
        gaps.sort_unstable();
        let median = gaps[gaps.len() / 2];
        let mut deviations: Vec<u64> = gaps.iter().map(|gap| gap.abs_diff(median)).collect();
        deviations.sort_unstable();
        let regular = deviations.partition_point(|&deviation| deviation <= median / JITTER_PART);
        let is_caused = |job: &&Job| {
            let since = job.begin.since_completion;
            since.is_some_and(|since| since.ns() <= median / CAUSED_PART)
        };
        let caused = jobs.iter().filter(is_caused).count();
        let is_regular = regular * 100 >= gaps.len() * REGULAR_PERCENT && median > 0;
        if !is_regular || caused * 2 > jobs.len() {
            return None;
        }
        let mut sizes: Vec<u32> = jobs.iter().map(|job| job.requests).collect();
        sizes.sort_unstable();
        Some(Self {
            period: Duration::from_ns(rounded(median)),
            median: Duration::from_ns(median),
            gap_min: Duration::from_ns(gaps[0]),
            gap_max: Duration::from_ns(gaps[gaps.len() - 1]),
            jitter: Duration::from_ns(nearly_all(&deviations)),
            jobs: jobs.len(),
            requests: nearly_all(&sizes),
            requests_max: sizes[sizes.len() - 1],
        })
    }
}

/// Groups requests into jobs by the gaps between them.
fn jobs(arrivals: &[Arrival]) -> Vec<Job> {
    let gap = |pair: &[Arrival]| pair[1].at.since(pair[0].at).ns();
    let mut gaps: Vec<u64> = arrivals.windows(2).map(gap).collect();
    gaps.sort_unstable();
    let within = longest_within(&gaps);
    let mut jobs: Vec<Job> = Vec::new();
    for (index, &arrival) in arrivals.iter().enumerate() {
        let is_within = index > 0 && gap(&arrivals[index - 1..=index]) <= within;
        match jobs.last_mut() {
            Some(job) if is_within => job.requests += 1,
            _ => jobs.push(Job { begin: arrival, requests: 1 }),
        }
    }
    jobs
}

/// Returns the longest gap within a job, from sorted gaps: the gap below the largest jump, if
/// enough gaps are above it. Without a jump, returns 0, so that each request is a job.
fn longest_within(gaps: &[u64]) -> u64 {
    let above_min = GAPS_MIN.max(gaps.len() / REQUESTS_MAX);
    let steps = gaps.windows(2).enumerate().filter_map(|(index, pair)| {
        // Requests less than a microsecond apart come from one system call.
        let (low, high) = (pair[0].max(1_000), pair[1].max(1_000));
        let is_step = high / low >= SPLIT_FACTOR && gaps.len() - 1 - index >= above_min;
        is_step.then_some((high / low, pair[0]))
    });
    steps.max().map_or(0, |(_, longest)| longest)
}

/// Returns the value that 99 of 100 sorted values do not exceed.
fn nearly_all<T: Copy>(sorted: &[T]) -> T {
    sorted[(sorted.len() * 99).div_ceil(100).max(1) - 1]
}

/// Rounds a time down to the fewest digits that keep it close, because programs have round periods,
/// and a workload must not declare less than was observed. A median that is below a round period by
/// at most one part in `JITTERED_PART` counts as that period, because jitter can cause the
/// difference.
fn rounded(ns: u64) -> u64 {
    let powers = || (0..19).rev().map(|digits| 10_u64.pow(digits));
    let at_most = ns + ns / JITTERED_PART;
    let down = |unit: u64| at_most / unit * unit;
    let mut near = powers().map(down).filter(|rounded| rounded.abs_diff(ns) <= ns / ROUNDED_PART);
    near.next().unwrap_or(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_round() {
        for (ns, expected) in [
            (159_970_123, 160_000_000),
            (33_333_333, 33_300_000),
            (40_100_000, 40_000_000),
            (39_950_000, 39_900_000),
            (1_000_000_000, 1_000_000_000),
            (7, 7),
        ] {
            assert_eq!(rounded(ns), expected);
        }
    }
}

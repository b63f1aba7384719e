// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tasks with contracts, and best-effort loads without contracts.

use crate::units::{Bandwidth, Bytes, Duration};

/// The index of a source of requests: tasks first in file order, then best-effort loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub u32);

impl TaskIndex {
    /// Returns the position in a list of all sources.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

listed! {
    /// The importance of deadlines, the highest first.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// Every deadline must be proven and kept.
        Hard,
        /// Deadlines matter, but a miss is tolerable.
        Soft,
        /// A person waits for the request.
        Interactive,
        /// No deadline; uses the remaining device time.
        #[serde(skip)]
        BestEffort,
    }
}

names! {
    /// The operation of a request.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Op {
        /// Data comes from the device.
        Read => "read",
        /// Data goes to the device.
        Write => "write",
    }
}

/// The places on the device that a source's requests touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Anywhere, uniformly.
    Random,
    /// Consecutive places, from a different start for each source.
    Sequential,
    /// Runs of this many consecutive places; each run starts anywhere, uniformly.
    Runs {
        /// The requests of one run, at least 2.
        length: u32,
    },
    /// Anywhere, uniformly, in a range of the device given in parts per million.
    Range {
        /// The start of the range, 0 to 1,000,000.
        from_ppm: u32,
        /// The end of the range, above `from_ppm`, at most 1,000,000.
        to_ppm: u32,
    },
}

/// When a task's jobs arrive. A bound holds for every variant except `OnCompletion`, because
/// consecutive jobs are always at least a period apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Once per period.
    Periodic,
    /// A period plus a random time apart, uniform from zero to `extra_max`.
    Sporadic {
        /// The longest additional time.
        extra_max: Duration,
    },
    /// In bunches with all other bunched tasks: their jobs begin to arrive at the same instant or
    /// just after it, continue as early as allowed, then pause until all tasks can begin together
    /// again.
    Bunched,
    /// When an earlier job completes: `outstanding_max` jobs are outstanding at all times (closed
    /// loop). Nothing limits the rate, so no proof holds beside such a task.
    OnCompletion,
}

/// A source of jobs: at most one job per period, each with a deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The name, unique in its workload.
    pub name: String,
    /// Index of the `[[task]]` entry that it came from; tasks of one entry differ only in their
    /// offset, period and deadline.
    pub entry: u32,
    /// Shortest time between the arrivals of two jobs, p; [`Self::PERIOD_NONE`] in a closed loop.
    pub period: Duration,
    /// When jobs arrive in simulations and runs.
    pub arrivals: Arrivals,
    /// The longest time from a job's arrival until the policy sees it, without the host's time. In
    /// a workload behind the host ([`crate::Host::Charged`]), period and deadline contain it
    /// already.
    pub jitter: Duration,
    /// Longest allowed response time, d, counted from the arrival.
    pub deadline: Duration,
    /// Requests that one job releases together, e.
    pub requests: u32,
    /// Size of each request.
    pub size: Bytes,
    /// Read or write.
    pub op: Op,
    /// The places of the task's requests.
    pub place: Place,
    /// The time of the first arrival, from the start of the run.
    pub offset: Duration,
    /// No job arrives from this instant on; `None`: jobs arrive until the end.
    pub stop: Option<Duration>,
    /// The importance of the task's deadlines.
    pub class: Class,
    /// The share of the task's requests that must be served, in parts per million. The other
    /// requests are optional, and a policy may drop them.
    pub quality_ppm: u32,
    /// The maximum number of jobs in progress at the same time, as in a program with this many
    /// buffers: the next job is released when one of them completes. `None`: jobs are released
    /// independently of earlier jobs.
    pub outstanding_max: Option<u32>,
}

impl Task {
    /// The quality of a task whose requests must all be served.
    pub const QUALITY_ALL_PPM: u32 = 1_000_000;

    /// The period of a task that has none: the shortest time above zero.
    pub const PERIOD_NONE: Duration = Duration::from_ns(1);

    /// Returns whether the task's jobs arrive when earlier jobs complete, and not once per period.
    pub fn is_closed_loop(&self) -> bool {
        self.arrivals == Arrivals::OnCompletion
    }

    /// Returns the maximum number of requests that are released and incomplete at the same time,
    /// while every job completes at most `within` after its release: `e ceil(within / p)`, or fewer
    /// if the task limits its outstanding jobs. Saturates.
    pub fn requests_pending_max(&self, within: Duration) -> u64 {
        let jobs = within.ns().div_ceil(self.period.ns());
        let jobs = self.outstanding_max.map_or(jobs, |most| jobs.min(u64::from(most)));
        jobs.saturating_mul(u64::from(self.requests))
    }

    /// Returns the period; `None` for a closed loop.
    pub fn period_stated(&self) -> Option<Duration> {
        (!self.is_closed_loop()).then_some(self.period)
    }

    /// Returns a hard task whose deadline is its period: every job is one request of `size`, which
    /// reads at a random place; the first job is released at the start.
    #[must_use]
    pub fn periodic(name: impl Into<String>, period: Duration, size: Bytes) -> Self {
        Self {
            name: name.into(),
            entry: 0,
            period,
            arrivals: Arrivals::Periodic,
            jitter: Duration::ZERO,
            deadline: period,
            requests: 1,
            size,
            op: Op::Read,
            place: Place::Random,
            offset: Duration::ZERO,
            stop: None,
            class: Class::Hard,
            quality_ppm: Self::QUALITY_ALL_PPM,
            outstanding_max: None,
        }
    }
}

/// The rule by which a best-effort load releases requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intensity {
    /// This many requests are outstanding at all times (closed loop).
    Outstanding(u32),
    /// Requests come at this rate, independent of completions (open loop).
    Rate(Bandwidth),
    /// Requests come at this rate while fewer than `outstanding` requests are released and not
    /// complete (closed loop): a program that reads at its own pace through this many buffers.
    Paced {
        /// The highest rate.
        rate: Bandwidth,
        /// The maximum number of requests at the same time.
        outstanding: u32,
    },
    /// This many requests come together once per period, like those of a task without deadlines.
    Stream {
        /// The time between two jobs.
        period: Duration,
        /// The requests that one job releases together.
        requests: u32,
        /// The maximum number of jobs at the same time; `None`: jobs do not wait for earlier ones.
        outstanding: Option<u32>,
    },
}

impl Intensity {
    /// Returns the maximum number of requests that are released and not complete at the same time;
    /// `None` if nothing limits it.
    pub fn requests_max(self) -> Option<u64> {
        match self {
            Self::Outstanding(outstanding) | Self::Paced { outstanding, .. } => {
                Some(outstanding.into())
            }
            Self::Rate(_) | Self::Stream { outstanding: None, .. } => None,
            Self::Stream { requests, outstanding: Some(jobs), .. } => {
                // The product of two numbers of 32 bits fits in 64 bits.
                Some(u64::from(jobs) * u64::from(requests))
            }
        }
    }

    /// Returns the shortest time between two jobs of requests of this size, rounded down and never
    /// zero; `None` for a closed loop without a rate.
    pub fn period(self, size: Bytes) -> Option<Duration> {
        match self {
            Self::Outstanding(_) => None,
            Self::Rate(rate) | Self::Paced { rate, .. } => {
                Some(rate.transfer_time_floor(size).max(Duration::from_ns(1)))
            }
            Self::Stream { period, .. } => Some(period),
        }
    }

    /// Returns the requests of one job.
    pub const fn requests(self) -> u32 {
        match self {
            Self::Outstanding(_) | Self::Rate(_) | Self::Paced { .. } => 1,
            Self::Stream { requests, .. } => requests,
        }
    }
}

/// A load without deadlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestEffort {
    /// The name, unique in its workload.
    pub name: String,
    /// The index of the `[[best_effort]]` entry that it came from; `None` if that entry has no
    /// `count`.
    pub group: Option<u32>,
    /// The rule by which the load releases requests.
    pub intensity: Intensity,
    /// The load releases nothing before this instant.
    pub start: Duration,
    /// The load releases nothing from this instant on; `None`: it continues until the end.
    pub stop: Option<Duration>,
    /// Size of each request.
    pub size: Bytes,
    /// Read or write.
    pub op: Op,
    /// The places of the load's requests.
    pub place: Place,
}

impl BestEffort {
    /// Splits loads into groups, one for each `[[best_effort]]` entry.
    pub fn entries(loads: &[Self]) -> impl Iterator<Item = &[Self]> {
        loads.chunk_by(|a, b| a.group.is_some() && a.group == b.group)
    }

    /// Returns a load that reads at random places, `size` at a time.
    #[must_use]
    pub fn reads(name: impl Into<String>, intensity: Intensity, size: Bytes) -> Self {
        Self {
            name: name.into(),
            group: None,
            intensity,
            start: Duration::ZERO,
            stop: None,
            size,
            op: Op::Read,
            place: Place::Random,
        }
    }
}

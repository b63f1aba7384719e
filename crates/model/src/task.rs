// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tasks with contracts, and best-effort loads without.

use crate::units::{Bandwidth, Bytes, Duration};

/// Which source of requests: tasks first in file order, best-effort loads behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(pub u32);

impl TaskIndex {
    /// The position in a list of all sources.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How much a missed deadline costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Every deadline is to be proven and kept.
    Hard,
    /// Deadlines matter, a miss is tolerable.
    Soft,
    /// A person waits for it.
    Interactive,
    /// No deadline; takes what is left.
    #[serde(skip)]
    BestEffort,
}

/// What a request does to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Data comes from the device.
    Read,
    /// Data goes to the device.
    Write,
}

impl Op {
    /// The word used in files and in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Where on the device the requests of a source lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Anywhere, uniformly.
    Random,
    /// One after the other, from a start of its own.
    Sequential,
    /// Anywhere, uniformly, between two shares of the device in parts per million.
    Range {
        /// Where the range starts, 0 to 1,000,000.
        from_ppm: u32,
        /// Where it ends, above `from_ppm`, at most 1,000,000.
        to_ppm: u32,
    },
}

/// A source of jobs: at most one job per period, each with a deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Unique in its workload.
    pub name: String,
    /// Index of the `[[task]]` entry it came from: tasks of one entry are alike but for their offset.
    pub entry: u32,
    /// Least time between two releases, p.
    pub period: Duration,
    /// Longest response time allowed, d, counted from release.
    pub deadline: Duration,
    /// Requests that one job releases together, e.
    pub requests: u32,
    /// Size of each request.
    pub size: Bytes,
    /// Read or write.
    pub op: Op,
    /// Where on the device.
    pub place: Place,
    /// First release.
    pub offset: Duration,
    /// How much a miss costs.
    pub class: Class,
    /// The share of its requests that must be served, in parts per million; the others are
    /// optional, and a policy that can use the freedom may drop them.
    pub quality_ppm: u32,
    /// How many of its jobs may be under way at once, as of a program with so many buffers:
    /// the next one is released when one of them completes. None: jobs come whatever became
    /// of those before them.
    pub outstanding_max: Option<u32>,
}

impl Task {
    /// The quality of a task all of whose requests must be served.
    pub const QUALITY_ALL_PPM: u32 = 1_000_000;
}

/// How hard a best-effort load pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intensity {
    /// So many requests are always released and not complete (closed loop).
    Outstanding(u32),
    /// Requests come at this rate, whatever becomes of them (open loop).
    Rate(Bandwidth),
    /// Requests come at this rate while fewer than so many are released and not complete
    /// (closed loop): a program that reads at its own pace through so many buffers.
    Paced {
        /// How fast at most.
        rate: Bandwidth,
        /// How many at once at most.
        outstanding: u32,
    },
}

/// A load without deadlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestEffort {
    /// Unique in its workload.
    pub name: String,
    /// How hard it pushes.
    pub intensity: Intensity,
    /// Size of each request.
    pub size: Bytes,
    /// Read or write.
    pub op: Op,
    /// Where on the device.
    pub place: Place,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an attached drive saw.

use std::fmt;

use tidegate_drive::Work;
use tidegate_model::{Bytes, Duration, Op, Request, Time};

/// Counts and extremes since a drive was attached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reads that were answered.
    pub reads: u64,
    /// How much they read.
    pub read_bytes: u64,
    /// Writes that were answered.
    pub writes: u64,
    /// How much they wrote.
    pub written_bytes: u64,
    /// Flushes that were answered.
    pub flushes: u64,
    /// The longest from arrival until the drive was done, the wait for room on it included.
    pub response_highest: Duration,
    /// The longest from then until the answer was given: what the host added.
    pub lateness_highest: Duration,
    /// The most requests that had arrived and were not done.
    pub outstanding_highest: usize,
    /// The most of them that the drive had no room for.
    pub waiting_highest: usize,
}

impl Statistics {
    pub(crate) fn arrived(&mut self, outstanding: usize, waiting: usize) {
        self.outstanding_highest = self.outstanding_highest.max(outstanding);
        self.waiting_highest = self.waiting_highest.max(waiting);
    }

    pub(crate) fn answered(&mut self, work: Work, arrived: Time, done: Time, answered: Time) {
        match work {
            Work::Flush(_) => self.flushes += 1,
            Work::Transfer(Request { op: Op::Read, size, .. }) => {
                self.reads += 1;
                self.read_bytes += size.get();
            }
            Work::Transfer(Request { op: Op::Write, size, .. }) => {
                self.writes += 1;
                self.written_bytes += size.get();
            }
        }
        self.response_highest = self.response_highest.max(done.since(arrived));
        self.lateness_highest = self.lateness_highest.max(answered.since(done));
    }
}

/// Lines with labels, for people.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes: u64| Bytes::new(bytes).to_string();
        writeln!(f, "Reads        {}, {}", self.reads, size(self.read_bytes))?;
        writeln!(f, "Writes       {}, {}", self.writes, size(self.written_bytes))?;
        writeln!(f, "Flushes      {}", self.flushes)?;
        writeln!(f, "Longest      {} on the drive", self.response_highest)?;
        writeln!(f, "Host late    {} at most", self.lateness_highest)?;
        write!(
            f,
            "Outstanding  {} at most, {} of them before the drive had room",
            self.outstanding_highest, self.waiting_highest
        )
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The statistics of an attached drive.

use tidegate_drive::Work;
use tidegate_model::{Duration, Op, Request, Time};

/// Counts and extremes since a drive was attached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of completed reads.
    pub reads: u64,
    /// The number of bytes read.
    pub read_bytes: u64,
    /// The number of completed writes.
    pub writes: u64,
    /// The number of bytes written.
    pub written_bytes: u64,
    /// The number of completed flushes.
    pub flushes: u64,
    /// The longest time from a request's arrival until the drive completed it, including the wait
    /// for room on the drive.
    pub response_highest: Duration,
    /// The longest time from the drive's completion to the reply: the host's lateness.
    pub lateness_highest: Duration,
    /// The largest number of outstanding requests.
    pub outstanding_highest: usize,
    /// The largest number of requests that waited for room on the drive.
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

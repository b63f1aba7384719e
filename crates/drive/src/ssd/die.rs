// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A die's queue. The die carries out one operation at a time; reads go before other work, within
//! limits.
//!
//! ```text
//!   reads ---------------+
//!   host row ------------+--> running --> done
//!   step of collecting --+       | ^
//!                   a read comes | | reads are done
//!                                v |
//!                            suspended
//! ```
//!
//! "Work" is everything except host reads: programs, erases, and the reads of garbage collection.
//! Each piece of work lets a limited number of younger reads go first, so reads never starve it.

use std::collections::VecDeque;

use tidegate_model::ssd::Ssd;
use tidegate_model::{Duration, Time};

use super::agenda::Stream;
use super::geometry::{Geometry, Stripe};
use super::requests::Ticket;

/// The part of a request that one page read of a die fetches.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRead {
    pub(super) ticket: Ticket,
    pub(super) stripe: Stripe,
    /// The number of units that cross the channel.
    pub(super) units: u32,
    /// The number of these units' bytes that go to the host.
    pub(super) bytes: u32,
}

/// An operation of a die.
#[derive(Debug, Clone, Copy)]
pub(super) enum Job {
    /// Reads for the host.
    Read(PageRead),
    /// Reads a stripe that garbage collection copies.
    Collect(Stripe),
    /// Programs a row that is in the die's registers.
    Program(Stream),
    /// Erases the collected block.
    Erase,
}

impl Job {
    /// Returns whether the operation can be suspended for a read.
    fn is_long(self) -> bool {
        matches!(self, Self::Program(_) | Self::Erase)
    }
}

/// The durations of the die's operations, and the maximum number of younger reads that precede one
/// program or erase.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    read: Vec<Duration>,
    program: Duration,
    erase: Duration,
    suspend: Option<Duration>,
    reads_first_max: u32,
}

impl Timing {
    pub(super) fn new(ssd: &Ssd) -> Self {
        Self {
            read: ssd.read_ns.iter().copied().map(Duration::from_ns).collect(),
            program: Duration::from_ns(ssd.program_ns),
            erase: Duration::from_ns(ssd.erase_ns),
            suspend: ssd.suspend_ns.map(Duration::from_ns),
            reads_first_max: ssd.reads_first_max,
        }
    }

    fn time(&self, job: Job, geometry: &Geometry) -> Duration {
        match job {
            Job::Read(PageRead { stripe, .. }) | Job::Collect(stripe) => {
                self.read[geometry.page_kind(stripe)]
            }
            Job::Program(_) => self.program,
            Job::Erase => self.erase,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Running {
    job: Job,
    until: Time,
}

#[derive(Debug, Clone, Copy)]
struct Suspended {
    job: Job,
    left: Duration,
}

/// The operations of a die.
#[derive(Debug, Clone, Default)]
pub(super) struct DieQueue {
    reads: VecDeque<PageRead>,
    /// The waiting host row, if any.
    host: Option<Job>,
    /// The waiting step of garbage collection, if any.
    collector: Option<Job>,
    running: Option<Running>,
    suspended: Option<Suspended>,
    /// The instant at which the suspended operation has released the die.
    ready_at: Time,
    /// The number of reads that may still go before the waiting or running work.
    reads_left: u32,
    /// Distinguishes the end of an operation from an end planned before it was suspended.
    turn: u32,
}

impl DieQueue {
    /// Adds a read, which can suspend the running operation.
    pub(super) fn push_read(&mut self, read: PageRead, now: Time, timing: &Timing) {
        self.reads.push_back(read);
        let (Some(running), Some(cost)) = (self.running, timing.suspend) else { return };
        let left = running.until.since(now);
        if running.job.is_long() && self.reads_left > 0 && left > cost {
            self.running = None;
            self.suspended = Some(Suspended { job: running.job, left });
            self.ready_at = now + cost;
            self.turn = self.turn.wrapping_add(1); // compared for equality only
        }
    }

    /// Adds a host row or a step of garbage collection.
    pub(super) fn push_work(&mut self, job: Job, timing: &Timing) {
        if !self.has_work() {
            let older = u32::try_from(self.reads.len()).unwrap_or(u32::MAX);
            self.reads_left = timing.reads_first_max.saturating_add(older);
        }
        let slot = match job {
            Job::Program(Stream::Host) => &mut self.host,
            _ => &mut self.collector,
        };
        assert!(slot.replace(job).is_none(), "one row and one step of collecting at a time");
    }

    /// Returns whether work other than reads waits or runs.
    fn has_work(&self) -> bool {
        let runs = self.running.is_some_and(|running| !matches!(running.job, Job::Read(_)));
        runs || self.waits()
    }

    fn waits(&self) -> bool {
        self.suspended.is_some() || self.host.is_some() || self.collector.is_some()
    }

    /// Starts the next operation if the die is free. Returns the instant at which it ends, and its
    /// turn.
    pub(super) fn start(
        &mut self,
        now: Time,
        timing: &Timing,
        geometry: &Geometry,
    ) -> Option<(Time, u32)> {
        if self.running.is_some() {
            return None;
        }
        let (job, time) = self.take_next(timing, geometry)?;
        let until = now.max(self.ready_at) + time;
        self.running = Some(Running { job, until });
        Some((until, self.turn))
    }

    fn take_next(&mut self, timing: &Timing, geometry: &Geometry) -> Option<(Job, Duration)> {
        let read = self.take_read().map(Job::Read);
        if read.is_none()
            && let Some(Suspended { job, left }) = self.suspended.take()
        {
            return Some((job, left));
        }
        let job = read.or_else(|| self.host.take()).or_else(|| self.collector.take())?;
        Some((job, timing.time(job, geometry)))
    }

    fn take_read(&mut self) -> Option<PageRead> {
        if self.waits() {
            if self.reads_left == 0 {
                return None;
            }
            let read = self.reads.pop_front()?;
            self.reads_left -= 1;
            return Some(read);
        }
        self.reads.pop_front()
    }

    /// Ends the operation that was planned to end in this `turn`; `None` if it was suspended.
    pub(super) fn end(&mut self, turn: u32, timing: &Timing) -> Option<Job> {
        if turn != self.turn {
            return None;
        }
        let Running { job, .. } = self.running.take()?;
        if !matches!(job, Job::Read(_)) {
            self.reads_left = timing.reads_first_max;
        }
        Some(job)
    }
}

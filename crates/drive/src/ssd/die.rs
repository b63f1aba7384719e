// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a die does: one job at a time, reads before other work within limits.
//!
//! ```text
//!   reads ---------------+
//!   row of the host's ---+--> running --> done
//!   step of collecting --+       | ^
//!                   a read comes | | reads are done
//!                                v |
//!                            suspended
//! ```
//!
//! Work is what is no read of the host's: programs, erases, and reads that collecting needs.
//! Each piece of work lets at most so many younger reads go first, so reads never starve it.

use std::collections::VecDeque;

use tidegate_model::ssd::Ssd;
use tidegate_model::{Duration, Time};

use super::agenda::Stream;
use super::geometry::{Geometry, Stripe};
use super::requests::Ticket;

/// A part of a request that one read of a die fetches.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRead {
    pub(super) ticket: Ticket,
    pub(super) stripe: Stripe,
    /// Units that cross the channel.
    pub(super) units: u32,
    /// Bytes of them that are for the host.
    pub(super) bytes: u32,
}

/// What occupies a die.
#[derive(Debug, Clone, Copy)]
pub(super) enum Job {
    /// A read of the host's.
    Read(PageRead),
    /// Reading what is to be copied.
    Collect(Stripe),
    /// Programming a row that is in the die's registers.
    Program(Stream),
    /// Erasing the block that was collected.
    Erase,
}

impl Job {
    /// Whether it can make way for a read.
    fn is_long(self) -> bool {
        matches!(self, Self::Program(_) | Self::Erase)
    }
}

/// How long jobs take, and what may go first.
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

/// What a die does and is to do.
#[derive(Debug, Clone, Default)]
pub(super) struct DieQueue {
    reads: VecDeque<PageRead>,
    /// At most one row of the host's.
    host: Option<Job>,
    /// At most one step of collecting.
    collector: Option<Job>,
    running: Option<Running>,
    suspended: Option<Suspended>,
    /// When what was suspended has made way.
    ready_at: Time,
    /// How many more reads may go before the work that waits or runs.
    reads_left: u32,
    /// Tells the end of a job from the end that was planned before it was suspended.
    turn: u32,
}

impl DieQueue {
    /// Adds a read; what is running may be suspended for it.
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

    /// Adds a row of the host's or a step of collecting.
    pub(super) fn push_work(&mut self, job: Job, timing: &Timing) {
        if !self.has_work() {
            let older = u32::try_from(self.reads.len()).unwrap_or(u32::MAX);
            self.reads_left = timing.reads_first_max.saturating_add(older);
        }
        let lane = match job {
            Job::Program(Stream::Host) => &mut self.host,
            _ => &mut self.collector,
        };
        assert!(lane.replace(job).is_none(), "one row and one step of collecting at a time");
    }

    /// Whether anything but reads waits or runs.
    fn has_work(&self) -> bool {
        let runs = self.running.is_some_and(|running| !matches!(running.job, Job::Read(_)));
        runs || self.waits()
    }

    fn waits(&self) -> bool {
        self.suspended.is_some() || self.host.is_some() || self.collector.is_some()
    }

    /// Begins the next job if the die is free for one; when it will be over, and in which turn.
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

    /// Ends the job that was to be over in this `turn`; none if it was suspended.
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

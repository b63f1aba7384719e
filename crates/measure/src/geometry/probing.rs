// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sends one read at a time and reports when it completes. All experiments on geometry send their
//! requests through it.
//!
//! It only reads, at multiples of the block. It counts reads, so that no experiment runs forever,
//! and it stops between two requests when the caller asks for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{Bytes, Lba, Op, Tag, Time};

use super::number::float;
use crate::subject::{Probe, Subject, SubjectError};

/// The number of most recent requests whose places can still be in the drive's memory.
const RECENT: usize = 128;

/// The number of sectors, from the beginning of a read, that the drive may have read ahead.
const READ_ON: u64 = 8;

/// The means by which experiments on geometry send their reads.
///
/// # Invariants
/// - `block >= 1` and `sectors` is a multiple of it.
pub(crate) struct Probing<'a> {
    subject: &'a mut dyn Subject,
    /// The number of sectors of the target, rounded down to whole blocks.
    sectors: u64,
    /// The number of sectors of the smallest request.
    block: u64,
    random: Pcg64,
    cancelled: &'a AtomicBool,
    /// Receives the number of requests that an experiment has sent, the approximate number that it
    /// will send, and the current time.
    progress: &'a mut dyn FnMut(u64, u64, Time),
    spent: u64,
    bounds: Bounds,
    recent: VecDeque<u64>,
}

/// The limits on the number of requests of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The usual number, on a quiet host.
    pub(super) usual: u64,
    /// The maximum number.
    pub(super) most: u64,
}

/// The reason why an experiment ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The target failed.
    Subject(SubjectError),
    /// The caller stopped the experiment.
    Cancelled,
    /// The experiment needed more requests than it may send.
    Spent,
}

impl From<SubjectError> for Stop {
    fn from(error: SubjectError) -> Self {
        Self::Subject(error)
    }
}

/// The result of a step, unless the experiment was stopped.
pub(super) type Seen<T> = Result<T, Stop>;

/// When a read was sent and when it completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) sent: Time,
    pub(super) done: Time,
}

impl Reading {
    /// Returns the time that the read took, in nanoseconds.
    pub(super) fn service(self) -> f64 {
        float(self.done.since(self.sent).ns())
    }
}

impl<'a> Probing<'a> {
    /// Prepares to probe a target of `capacity`. The requests begin at multiples of `block` and
    /// have a multiple of that size.
    ///
    /// # Panics
    /// If a block is not a multiple of a sector.
    pub(crate) fn new(
        subject: &'a mut dyn Subject,
        (capacity, block): (Bytes, Bytes),
        random: Pcg64,
        cancelled: &'a AtomicBool,
        progress: &'a mut dyn FnMut(u64, u64, Time),
    ) -> Self {
        let is_whole = block.get() > 0 && block.get().is_multiple_of(Lba::SECTOR_BYTES);
        assert!(is_whole, "a block of whole sectors");
        let block = block.get() / Lba::SECTOR_BYTES;
        let sectors = capacity.get() / Lba::SECTOR_BYTES / block * block;
        let recent = VecDeque::with_capacity(RECENT);
        let (spent, bounds) = (0, Bounds::default());
        Self { subject, sectors, block, random, cancelled, progress, spent, bounds, recent }
    }

    /// Begins an experiment that sends a number of requests within `bounds`.
    pub(super) fn begin(&mut self, bounds: Bounds) {
        (self.spent, self.bounds) = (0, bounds);
    }

    /// Returns the number of requests that this experiment has sent.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// Returns the number of sectors of the target.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Returns the number of sectors of the smallest request.
    pub(super) fn block(&self) -> u64 {
        self.block
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Time {
        self.subject.now()
    }

    /// Returns the sector rounded down to a multiple of the block.
    pub(super) fn aligned(&self, sector: u64) -> u64 {
        sector / self.block * self.block
    }

    /// Returns `sectors` rounded up to whole blocks.
    pub(super) fn at_least(&self, sectors: u64) -> u64 {
        sectors.next_multiple_of(self.block)
    }

    /// Returns a random block that begins at `from` or later and before `to`; `from` if there is
    /// none.
    pub(super) fn block_within(&mut self, from: u64, to: u64) -> u64 {
        let (first, end) = (from.div_ceil(self.block), to / self.block);
        if end <= first {
            return self.aligned(from);
        }
        self.random.random_range(first..end) * self.block
    }

    /// Returns a random block of the target.
    pub(super) fn anywhere(&mut self) -> u64 {
        self.block_within(0, self.sectors)
    }

    /// Returns whether no recent read covered this place.
    pub(super) fn is_fresh(&self, start: u64) -> bool {
        !self.recent.iter().any(|&read| (read..read + READ_ON.max(self.block)).contains(&start))
    }

    /// Reads one block.
    pub(super) fn read(&mut self, start: u64) -> Seen<Reading> {
        self.read_sectors(start, self.block)
    }

    /// Reads `sectors` sectors and waits for the completion.
    pub(super) fn read_sectors(&mut self, start: u64, sectors: u64) -> Seen<Reading> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        if self.spent >= self.bounds.most {
            return Err(Stop::Spent);
        }
        assert!(start + sectors <= self.sectors, "a read beyond the end of the target");
        let size = Bytes::new(sectors * Lba::SECTOR_BYTES);
        let probe = Probe { op: Op::Read, start: Lba::new(start), size };
        let sent = self.subject.send(&[probe], Tag::Simple)?;
        let done = self.subject.drain()?;
        self.note(start);
        Ok(Reading { sent, done })
    }

    fn note(&mut self, start: u64) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(start);
        self.spent += 1;
        (self.progress)(self.spent, self.bounds.usual.max(self.spent), self.subject.now());
    }
}

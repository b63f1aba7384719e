// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The hard disk: commands arrive, wait in the drive's queue, move the heads, and pass through
//! the drive's memory.
//!
//! ```text
//!            in memory ------------------------------> completed
//!           /                                          ^
//!   submit ---> queue --> heads: seek, turn, transfer -'
//!           \              ^            |
//!            taken into    |            '--> reads on until the heads are wanted
//!            memory -------' (destage)
//! ```
//!
//! The heads serve one command at a time. A command is processed while the heads serve the
//! previous one, so its overhead counts once, from its arrival.

mod heads;
mod memory;
mod reach;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use tidegate_model::mechanics::{Bus, Cache, Mechanics, MechanicsError};
use tidegate_model::{Duration, Op, Outcome, Request, RequestId, Tag, Time};

use self::reach::FreeHeads;
use super::command::{Commands, Need};
use super::faults::FaultSource;
use super::layout::Layout;
use super::mechanism::{Arm, Mechanism};
use super::queue::{DiskQueue, Pending};
use super::reader::Reader;
use super::segments::Segments;
use crate::{Completion, Drive};

/// The heads' present activity.
#[derive(Debug, Clone, Copy)]
struct Active {
    /// The instant at which the heads are free for the next command.
    free_at: Time,
    /// The number of the destage that the heads carry out; `None` for a request.
    destage: Option<u64>,
    outcome: Outcome,
}

/// A completion that is due later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedCompletion {
    at: Time,
    /// The order of planning, in which completions of one instant are delivered.
    number: u64,
    id: RequestId,
    failed: bool,
}

/// A write that memory completed and that is not on the medium yet.
#[derive(Debug, Clone, Copy)]
struct Destage {
    /// The destage's number in the queue.
    pending: u64,
    /// The destage's number among the writes that memory took.
    number: u64,
    segment: usize,
    /// The instant at which the write's first sector arrived from the host.
    first_at: Time,
    /// The instant at which the write's last sector arrived from the host.
    last_at: Time,
}

/// A write that waits for room in memory; meanwhile it also waits in the queue for the heads.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// The write's number in the queue.
    pending: u64,
    request: Request,
    arrived: Time,
}

/// A flush that waits for earlier destages.
#[derive(Debug, Clone, Copy)]
struct Flush {
    id: RequestId,
    /// The number of the first destage for which the flush does not wait.
    before: u64,
}

/// A hard disk in virtual time; see the module documentation.
///
/// A request beyond the end of the disk fails.
///
/// # Complexity
/// For each request: one decision of the queue, one search of the memory's segments, and one step
/// for each track crossed. Memory does not grow with the number of requests.
///
/// # Invariants
/// - `outstanding_count <= depth`.
/// - While a command is in the queue, `active` or `waiting_since` is not `None`.
#[derive(Debug, Clone)]
pub struct MechanicalDrive {
    mechanism: Mechanism,
    commands: Commands,
    bus: Bus,
    cache: Cache,
    segments: Segments,
    faults: FaultSource,
    /// The shortest time to position for a write that does not begin at the heads' next sector.
    write_seek_min: Duration,
    depth: u32,
    queue: DiskQueue,
    active: Option<Active>,
    /// The instant at which commands began to wait for idle heads. The commands of one instant are
    /// one batch, so the heads start only at the host's next call.
    waiting_since: Option<Time>,
    /// The heads' position, and the sectors that they read ahead when no command waits.
    reader: Reader,
    completions: BinaryHeap<Reverse<PlannedCompletion>>,
    completion_count: u64,
    destages: Vec<Destage>,
    destage_count: u64,
    flushes: Vec<Flush>,
    /// The writes that wait for room in memory, sorted by arrival.
    waiting: Vec<Waiting>,
    /// Counts the commands that entered the queue.
    pending_count: u64,
    /// Whether a completed write never reached the medium; the next flush reports it.
    has_lost: bool,
    bus_free_at: Time,
    outstanding_count: u32,
}

impl MechanicalDrive {
    /// Creates an idle drive that accepts `depth` requests, with its heads at the outermost
    /// cylinder.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    ///
    /// # Panics
    /// If `depth` is 0.
    pub fn new(mechanics: &Mechanics, depth: u32, seed: u64) -> Result<Self, MechanicsError> {
        assert!(depth >= 1, "a drive must accept at least one request");
        mechanics.check()?;
        let cache = mechanics.cache.clone().unwrap_or_default();
        Ok(Self {
            mechanism: Mechanism::new(mechanics)?,
            commands: Commands::new(&mechanics.overhead),
            bus: mechanics.bus.clone(),
            segments: Segments::new(&cache),
            cache,
            faults: FaultSource::new(mechanics.faults.as_ref(), seed),
            write_seek_min: Duration::from_ns(mechanics.write_seek_ns_min),
            depth,
            queue: DiskQueue::new(&mechanics.queue),
            active: None,
            waiting_since: None,
            reader: Reader::new(None, 0, Arm::default(), Time::ZERO),
            completions: BinaryHeap::new(),
            completion_count: 0,
            destages: Vec::new(),
            destage_count: 0,
            flushes: Vec::new(),
            waiting: Vec::new(),
            pending_count: 0,
            has_lost: false,
            bus_free_at: Time::ZERO,
            outstanding_count: 0,
        })
    }

    /// Returns the layout of the drive's sectors.
    pub fn layout(&self) -> &Layout {
        &self.mechanism.layout
    }

    fn complete(&mut self, id: RequestId, at: Time, outcome: Outcome) {
        let failed = outcome == Outcome::Failed;
        self.completions.push(Reverse(PlannedCompletion {
            at,
            number: self.completion_count,
            id,
            failed,
        }));
        self.completion_count += 1;
    }

    fn hold_one(&mut self) {
        assert!(
            self.outstanding_count < self.depth,
            "a request submitted to a drive that already holds {}",
            self.depth
        );
        self.outstanding_count += 1;
    }

    fn arrive(&mut self, now: Time, request: Request) {
        self.hold_one();
        let sectors = sectors_of(&request);
        if sectors.end > self.mechanism.layout.sectors() || sectors.is_empty() {
            let at = now + self.commands.overhead(request.op, Need::Memory, sectors.start);
            self.complete(request.id, at, Outcome::Failed);
        } else if !self.serve_from_memory(now, &request, &sectors) {
            self.enqueue(now, request, &sectors);
        }
    }

    fn enqueue(&mut self, now: Time, request: Request, sectors: &Range<u64>) {
        let target = self.mechanism.layout.extent(request.start, sectors.end - sectors.start);
        let number = self.pending_count;
        self.pending_count += 1;
        self.queue.push(Pending { number, request, arrived: now, target });
    }

    /// Serves a request from memory if it does not need the heads; returns whether it did.
    ///
    /// An ordered request overtakes no request, and no request overtakes a waiting ordered one.
    fn serve_from_memory(&mut self, now: Time, request: &Request, sectors: &Range<u64>) -> bool {
        let is_ordered = self.queue.honoured(request.tag) == Tag::Ordered;
        if is_ordered || self.queue.has_barrier() {
            return false;
        }
        match request.op {
            Op::Read => {
                let may = self.active.is_none() || self.cache.hits_while_busy;
                may && self.serve_read(now, now, request, sectors)
            }
            Op::Write => self.take_at_once(now, request, sectors),
        }
    }

    /// Takes a write into memory if there is room; otherwise the write waits for room.
    fn take_at_once(&mut self, now: Time, request: &Request, sectors: &Range<u64>) -> bool {
        let pending = self.pending_count;
        let Some(segment) = self.segment_for_write(request, sectors, now) else {
            if self.could_take(request, sectors) {
                self.waiting.push(Waiting { pending, request: *request, arrived: now });
            }
            return false;
        };
        self.take_write(now, (pending, now), request, sectors, segment);
        self.enqueue(now, *request, sectors);
        true
    }

    /// Starts the heads for commands that arrived while they were idle.
    fn set_out(&mut self) {
        if let Some(since) = self.waiting_since.take() {
            self.begin_next(since);
        }
    }

    /// Starts the next command if the heads are free.
    fn begin_next(&mut self, now: Time) {
        while self.active.is_none() {
            self.read_ahead(now);
            let next = self.next_flushed();
            let heads = FreeHeads::at(&self.mechanism, &self.reader, now);
            let next = next.or_else(|| self.queue.take(now, heads.arm.cylinder, &heads));
            let Some(pending) = next else { return };
            match pending.request.op {
                Op::Read => self.begin_read(now, &pending),
                Op::Write => self.begin_write(now, &pending),
            }
        }
    }

    /// Takes from the queue the oldest destage that a flush waits for; `None` if there is none.
    fn next_flushed(&mut self) -> Option<Pending> {
        let before = self.flushes.last()?.before;
        let destages = &self.destages;
        self.queue.take_oldest(|pending| {
            let is_this = |destage: &Destage| destage.pending == pending.number;
            destages.iter().any(|destage| destage.number < before && is_this(destage))
        })
    }

    /// Ends the heads' present command.
    fn finish(&mut self, active: Active) {
        self.active = None;
        if let Some(number) = active.destage {
            let index = self.destages.iter().position(|destage| destage.number == number);
            let destage = self.destages.swap_remove(index.expect("a destage ends once"));
            self.segments.clean(destage.segment);
            self.has_lost |= active.outcome == Outcome::Failed;
            self.complete_flushes(active.free_at);
            self.take_waiting(active.free_at);
        }
        self.begin_next(active.free_at);
    }

    fn complete_flushes(&mut self, now: Time) {
        let first_left = self.destages.iter().map(|destage| destage.number).min();
        let is_done = |flush: &Flush| first_left.is_none_or(|left| left >= flush.before);
        let done: Vec<Flush> = self.flushes.extract_if(.., |flush| is_done(flush)).collect();
        for flush in done {
            let outcome = if self.has_lost { Outcome::Failed } else { Outcome::Done };
            self.has_lost = false;
            self.complete(flush.id, now, outcome);
        }
    }
}

fn sectors_of(request: &Request) -> Range<u64> {
    let start = request.start.get();
    start..start.saturating_add(request.size.sectors_ceil())
}

impl Drive for MechanicalDrive {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        if self.waiting_since.is_some_and(|since| since < now) {
            self.set_out();
        }
        for request in batch {
            self.arrive(now, *request);
        }
        if self.active.is_none() && !self.queue.is_empty() {
            self.waiting_since.get_or_insert(now);
        }
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        self.hold_one();
        self.flushes.push(Flush { id, before: self.destage_count });
        self.complete_flushes(now);
    }

    fn next_event(&self) -> Option<Time> {
        let completion_at = self.completions.peek().map(|Reverse(completion)| completion.at);
        let heads_matter = self.outstanding_count as usize > self.completions.len();
        let free_at = self.active.map(|active| active.free_at).or(self.waiting_since);
        [completion_at, free_at.filter(|_| heads_matter)].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.set_out();
        loop {
            let completion_at = self.completions.peek().map(|Reverse(completion)| completion.at);
            // Heads that become free are handled first: they can add a completion at the same
            // instant.
            if let Some(active) = self.active
                && active.free_at <= now
                && completion_at.is_none_or(|at| active.free_at <= at)
            {
                self.finish(active);
                continue;
            }
            if completion_at.is_none_or(|at| at > now) {
                return;
            }
            let Reverse(PlannedCompletion { at, id, failed, .. }) =
                self.completions.pop().expect("just seen");
            self.outstanding_count -= 1;
            let outcome = if failed { Outcome::Failed } else { Outcome::Done };
            out.push(Completion { id, at, outcome });
        }
    }
}

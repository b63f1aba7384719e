// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A solid-state drive modelled from its parts: channels, dies and planes, a mapping table,
//! over-provisioned flash, a write cache, and garbage collection that interferes with reads.
//!
//! ```text
//!            link                              channels
//!   host ===========> write cache --- rows --------------> dies: read, program, erase
//!        <===========================  <--- pages --------
//! ```
//!
//! `tidegate_model::ssd::Ssd` documents the drive file's section. The model omits wear, read
//! errors and retries, the pages of the mapping table itself, and an SLC cache.
//! The passage of time alone never causes a program operation: data that do not fill a row wait
//! in the cache for more data, a flush, or a write that must be in flash.

mod agenda;
mod blocks;
mod cache;
pub(crate) mod ceiling;
mod collecting;
mod collector;
mod die;
mod geometry;
mod line;
mod mapping;
mod pace;
mod prefill;
mod reading;
mod requests;
mod row;
mod writing;

use std::collections::VecDeque;

use tidegate_model::ssd::{Ssd, SsdError};
use tidegate_model::{Bytes, Duration, Lba, Outcome, Request, RequestId, Time};

use self::agenda::{Agenda, Event, Stream};
use self::blocks::Blocks;
use self::cache::{Slot, WriteCache};
use self::collector::Collector;
use self::die::{DieQueue, Job, PageRead, Timing};
use self::geometry::{Geometry, Unit};
use self::line::{HostLink, SerialLine};
use self::mapping::{Mapping, UnitLocation};
use self::requests::{Active, RequestKind, Requests, Ticket};
use self::row::Row;
use crate::{Completion, Drive};

/// Counts a drive's operations since it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SsdCounters {
    /// Units written by hosts.
    pub units_written: u64,
    /// Rows of host data that were programmed, full or not.
    pub rows_written: u64,
    /// Units copied by garbage collection.
    pub units_copied: u64,
    /// Block erases; each erases one block in all planes of a die.
    pub blocks_erased: u64,
}

/// Whether a die accepts host data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteState {
    /// The die has no room until garbage collection frees some.
    Closed,
    /// The die waits for host data.
    Offered,
    /// The die writes a row.
    Writing,
}

#[derive(Debug, Clone)]
struct Die {
    queue: DieQueue,
    blocks: Blocks,
    collector: Collector,
    write_state: WriteState,
    /// The host row that is being written.
    row: Row<Slot>,
}

impl Die {
    fn new(blocks: Blocks) -> Self {
        Self {
            queue: DieQueue::default(),
            blocks,
            collector: Collector::default(),
            write_state: WriteState::Closed,
            row: Row::default(),
        }
    }
}

/// The constants of a drive.
#[derive(Debug, Clone)]
struct Params {
    geometry: Geometry,
    timing: Timing,
    overhead: Duration,
    stripe_dies: u32,
    write_back: bool,
    power_loss_protection: bool,
    background_blocks: u32,
    foreground_blocks: u32,
}

impl Params {
    fn new(ssd: &Ssd) -> Self {
        Self {
            geometry: Geometry::new(ssd),
            timing: Timing::new(ssd),
            overhead: Duration::from_ns(ssd.overhead_ns),
            stripe_dies: ssd.cache.stripe_dies,
            write_back: ssd.cache.write_back,
            power_loss_protection: ssd.cache.power_loss_protection,
            background_blocks: ssd.collection.background_blocks,
            foreground_blocks: ssd.collection.foreground_blocks,
        }
    }
}

/// A solid-state drive; see the module documentation.
///
/// A request beyond the capacity completes as [`Outcome::Failed`] after the command overhead. Reads
/// of units that were never written do not access flash, as on real drives. The drive ignores tags.
///
/// Garbage collection continues while the drive holds no request; it takes effect at the host's
/// next call, and [`Drive::next_event`] does not wake the host for it. While the drive holds
/// requests, `next_event` returns its next internal event, at the latest the next completion.
///
/// # Invariants
/// - A die is in `ready` if and only if its write state is `Offered`.
/// - A die in `stuck` needs garbage collection but found no block whose collection would have
///   gained a row.
///
/// # Complexity
/// Memory: the tables, 8 to 9 bytes for each unit of flash, and at most K requests; it does not
/// grow with the length of a run. An event takes O(log n) of the number of parts in flight;
/// choosing a block to collect takes O(blocks of a die).
#[derive(Debug, Clone)]
pub struct SsdDrive {
    params: Params,
    now: Time,
    agenda: Agenda,
    requests: Requests,
    mapping: Mapping,
    cache: WriteCache,
    dies: Vec<Die>,
    channels: Vec<SerialLine>,
    link: HostLink,
    /// Dies that wait for host data; the die that has waited longest comes first.
    ready: VecDeque<u32>,
    stuck: Vec<u32>,
    counters: SsdCounters,
    /// Completions that were not yet delivered.
    completions: Vec<Completion>,
    /// Scratch, empty between events.
    reads: Vec<PageRead>,
    /// Scratch, empty between events.
    chosen: Vec<u32>,
}

impl SsdDrive {
    /// Creates an idle drive that accepts `depth` requests; `seed` determines its prefilled data.
    ///
    /// # Errors
    /// [`SsdError`] if the section is wrong.
    ///
    /// # Panics
    /// If `depth` is 0.
    pub fn new(ssd: &Ssd, depth: u32, seed: u64) -> Result<Self, SsdError> {
        assert!(depth >= 1, "a drive must accept at least one request");
        ssd.check()?;
        let params = Params::new(ssd);
        let geometry = &params.geometry;
        let mut mapping = Mapping::new(geometry);
        let mut blocks: Vec<Blocks> =
            (0..geometry.dies).map(|die| Blocks::new(die, geometry.blocks_per_die)).collect();
        prefill::prefill(ssd, geometry, seed, &mut blocks, &mut mapping);
        let slots = ssd.cache.bytes / u64::from(ssd.unit_bytes);
        let mut drive = Self {
            now: Time::ZERO,
            agenda: Agenda::default(),
            requests: Requests::new(depth),
            mapping,
            cache: WriteCache::new(u32::try_from(slots).expect("a cache of at most 1 GiB")),
            dies: blocks.into_iter().map(Die::new).collect(),
            channels: vec![SerialLine::new(ssd.channel_bytes_per_s); ssd.channels as usize],
            link: HostLink::new(&ssd.link),
            ready: VecDeque::new(),
            stuck: Vec::new(),
            counters: SsdCounters::default(),
            completions: Vec::new(),
            reads: Vec::new(),
            chosen: Vec::new(),
            params,
        };
        (0..ssd.dies()).for_each(|die| drive.offer(die));
        Ok(drive)
    }

    /// Returns the capacity that hosts can address.
    pub fn capacity(&self) -> Bytes {
        let Geometry { units, unit_bytes, .. } = self.params.geometry;
        Bytes::new(u64::from(units) * u64::from(unit_bytes))
    }

    /// Returns the drive's operation counts since it was created.
    pub fn counters(&self) -> SsdCounters {
        self.counters
    }

    /// Discards these sectors: whole units among them hold nothing from now on. Sectors beyond
    /// the capacity are ignored.
    ///
    /// # Panics
    /// Never: a unit within the capacity has a number.
    pub fn trim(&mut self, start: Lba, size: Bytes) {
        let unit_bytes = u64::from(self.params.geometry.unit_bytes);
        let begin = start.get().saturating_mul(Lba::SECTOR_BYTES);
        let end = begin.saturating_add(size.get()).min(self.capacity().get());
        for unit in begin.div_ceil(unit_bytes)..end / unit_bytes {
            let unit = Unit(u32::try_from(unit).expect("a unit of the drive"));
            self.mapping.set(unit, UnitLocation::Nowhere);
        }
    }

    /// Checks that the drive is consistent. It reads all tables, so it is meant for tests.
    ///
    /// # Panics
    /// If it is inconsistent: a unit in two locations, a lost block, or wrong counts.
    pub fn audit(&self) {
        self.mapping.audit();
        self.cache.audit();
        for (index, die) in (0..).zip(&self.dies) {
            die.blocks.audit(die.collector.victim(), &self.mapping, &self.params.geometry);
            let is_ready = self.ready.contains(&index);
            assert_eq!(
                is_ready,
                die.write_state == WriteState::Offered,
                "the write state of die {index}"
            );
        }
    }

    fn accept(&mut self, active: Active) {
        let ticket = self.requests.hold(active);
        self.agenda.plan(self.now + self.params.overhead, Event::Begin(ticket));
    }

    /// Advances to `now`, at which a request is submitted.
    fn catch_up(&mut self, now: Time) {
        if self.requests.count() == 0 {
            self.run(now);
        }
        let is_delivered = self.agenda.next_at().is_none_or(|at| at > now);
        assert!(is_delivered && now >= self.now, "submitted before due events were delivered");
        self.now = now;
    }

    fn run(&mut self, now: Time) {
        while let Some((at, event)) = self.agenda.pop_due(now) {
            self.now = at;
            self.happen(event);
        }
        self.now = now;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Begin(ticket) => self.begin(ticket),
            Event::Die { die, turn } => self.end_job(die, turn),
            Event::Fetched { ticket, bytes } => self.take_fetched(ticket, bytes),
            Event::Gathered { die } => self.take_gathered(die),
            Event::Loaded { die, stream } => self.take_loaded(die, stream),
            Event::Received { ticket, units } => self.take_received(ticket, units),
            Event::Finish(ticket) => self.complete(ticket, Outcome::Done),
        }
    }

    fn begin(&mut self, ticket: Ticket) {
        let Active { kind, bytes, .. } = self.requests.get(ticket);
        if bytes.end > self.capacity().get() {
            return self.complete(ticket, Outcome::Failed);
        }
        match kind {
            RequestKind::Read => self.begin_read(ticket),
            RequestKind::Write { .. } => self.begin_write(ticket),
            RequestKind::Flush => self.begin_flush(ticket),
        }
    }

    fn complete(&mut self, ticket: Ticket, outcome: Outcome) {
        let id = self.requests.release(ticket);
        self.completions.push(Completion { id, at: self.now, outcome });
    }

    /// Starts the die's next job if the die is idle.
    fn start(&mut self, die: u32) {
        let Params { timing, geometry, .. } = &self.params;
        let queue = &mut self.dies[die as usize].queue;
        if let Some((at, turn)) = queue.start(self.now, timing, geometry) {
            self.agenda.plan(at, Event::Die { die, turn });
        }
    }

    fn end_job(&mut self, die: u32, turn: u32) {
        let Some(job) = self.dies[die as usize].queue.end(turn, &self.params.timing) else {
            return;
        };
        match job {
            Job::Read(read) => self.fetch(die, &read),
            Job::Collect(stripe) => self.fetch_valid(die, stripe),
            Job::Program(Stream::Host) => self.end_row(die),
            Job::Program(Stream::Copy) => self.end_copies(die),
            Job::Erase => self.end_erase(die),
        }
        self.start(die);
    }

    /// Appends a transfer between the controller and a die to the channel's queue; returns when it
    /// ends.
    fn cross_channel(&mut self, die: u32, bytes: u32) -> Time {
        let channel = self.params.geometry.channel(die);
        self.channels[channel].transfer(self.now, bytes.into(), Duration::ZERO)
    }
}

impl Drive for SsdDrive {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        if batch.is_empty() {
            return;
        }
        self.catch_up(now);
        let Params { write_back, power_loss_protection, .. } = self.params;
        for request in batch {
            let is_durable = !power_loss_protection && (request.fua || !write_back);
            self.accept(Active::new(request, is_durable));
        }
    }

    /// Begins a flush. It completes after the command overhead if the drive has power-loss
    /// protection, and otherwise when the present content of the cache is in flash.
    fn flush(&mut self, now: Time, id: RequestId) {
        self.catch_up(now);
        self.accept(Active::flush(id));
    }

    fn next_event(&self) -> Option<Time> {
        if self.requests.count() == 0 { None } else { self.agenda.next_at() }
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.run(now);
        out.append(&mut self.completions);
    }
}

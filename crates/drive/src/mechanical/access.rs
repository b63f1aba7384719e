// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host's model of a hard disk: where its heads are and how long a request will take.
//!
//! For one request the model repeats the drive's steps with the same parts: command, arm,
//! platter, bus, read-ahead. With one request in flight at a time it predicts the simulated
//! drive's completion to the nanosecond, except in two cases:
//! - A hit in a memory segment other than the one that the heads fill. It completes sooner than
//!   predicted; the model notices this afterwards and restores the heads' position.
//! - Writes that memory takes ([`WriteBack::On`]), and faults: the model cannot follow the heads.
//!   It predicts `None` after the first such write, and always if the description has faults.
//!
//! A real spindle drifts against the host's clock, and its phase is unknown at first. `clock.rs`
//! tracks the phase; while it is unknown, the model of a device predicts `None`.

mod clock;

use tidegate_model::access_time::{AccessTime, Target};
use tidegate_model::mechanics::{Bus, Cache, Mechanics, MechanicsError, WriteBack};
use tidegate_model::{Duration, Lba, Op, Request, Time};

use self::clock::PlatterClock;
use super::command::{Commands, Need};
use super::layout::Extent;
use super::mechanism::{Arm, Mechanism};
use super::reader::Reader;
use super::rotation::Angle;
use super::stream::{Stream, between};

/// The heads' predicted state.
#[derive(Debug, Clone)]
struct Heads {
    reader: Reader,
    /// The first sector of the segment that the reader fills.
    segment_start: u64,
}

/// The prediction for a request.
#[derive(Debug, Clone)]
struct Prediction {
    heads: Heads,
    completed_at: Time,
}

/// The request that the drive serves.
#[derive(Debug)]
struct InFlight {
    completed_at: Time,
    /// The instant at which the request would have completed from the drive's memory alone; `None`
    /// for a write, or if the drive has no read cache.
    hit_at: Option<Time>,
    /// The heads' state before the request.
    before: Heads,
}

/// A model of a hard disk for hosts; see the module documentation.
///
/// All instants except `host_now` are on the platter's clock.
#[derive(Debug)]
pub struct AccessModel {
    mechanism: Mechanism,
    commands: Commands,
    bus: Bus,
    cache: Cache,
    write_seek_min: Duration,
    clock: PlatterClock,
    heads: Heads,
    /// The instant last given to `advance`.
    now: Time,
    /// The same instant on the host's clock.
    host_now: Time,
    /// The arm's position, and when it can move for a read, not counting costs that depend on the
    /// read's position.
    read_from: (Arm, Time),
    /// Whether the drive's behaviour can be predicted.
    is_certain: bool,
    in_flight: Option<InFlight>,
    in_flight_count: u32,
}

impl AccessModel {
    /// Creates the model of an idle simulated drive: its heads are at the outermost cylinder, and
    /// the angle of its platter is known.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    pub fn new(mechanics: &Mechanics) -> Result<Self, MechanicsError> {
        Self::with_clock(mechanics, PlatterClock::new)
    }

    /// Creates the model of a device, whose platter is at an unknown angle. It predicts nothing
    /// until it has found the angle, and after a pause until it has confirmed the angle.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    pub fn of_device(mechanics: &Mechanics) -> Result<Self, MechanicsError> {
        Self::with_clock(mechanics, PlatterClock::of_unknown_phase)
    }

    fn with_clock(
        mechanics: &Mechanics,
        clock: impl FnOnce(Duration) -> PlatterClock,
    ) -> Result<Self, MechanicsError> {
        mechanics.check()?;
        let mechanism = Mechanism::new(mechanics)?;
        let clock = clock(mechanism.rotation.turn());
        Ok(Self {
            commands: Commands::new(&mechanics.overhead),
            bus: mechanics.bus.clone(),
            cache: mechanics.cache.clone().unwrap_or_default(),
            write_seek_min: Duration::from_ns(mechanics.write_seek_ns_min),
            heads: Heads {
                reader: Reader::new(None, 0, Arm::default(), Time::ZERO),
                segment_start: 0,
            },
            now: clock.platter_time(Time::ZERO),
            host_now: Time::ZERO,
            read_from: (Arm::default(), Time::ZERO),
            is_certain: mechanics.faults.is_none(),
            in_flight: None,
            in_flight_count: 0,
            mechanism,
            clock,
        })
    }

    /// Returns the number of sectors at the front of a read that the heads have already read ahead;
    /// `None` if the heads must seek for the read.
    fn read_ahead(&self, target: &Target) -> Option<u64> {
        let reader = &self.heads.reader;
        let is_ahead = self.cache.read && reader.is_ahead(target.start);
        is_ahead.then(|| (reader.next - target.start.get()).min(target.sectors))
    }

    fn overhead(&self, op: Op, need: Need, target: &Target) -> Duration {
        self.commands.overhead(op, need, target.start.get()) + self.commands.preparation()
    }

    /// Returns the arm's position and when it can move, for a read whose first sector on the
    /// medium is on this track. As in the drive, processing that takes longer than the seek
    /// delays the arm.
    fn heads_for_read(&self, target: &Target, cylinder: u32, head: u32) -> (Arm, Time) {
        let (arm, free_at) = self.read_from;
        let processing = self.commands.overhead(Op::Read, Need::Memory, target.start.get());
        let processed_at = self.now + processing;
        if processed_at <= free_at {
            return (arm, free_at);
        }
        let moving = self.mechanism.reposition(arm, cylinder, head, Op::Read);
        (arm, free_at + (processed_at - free_at).checked_sub(moving).unwrap_or_default())
    }

    fn write_begins_at(&self, target: &Target) -> Time {
        let takes = self.cache.write_back == WriteBack::On;
        let need = if takes { Need::Memory } else { Need::Heads };
        self.now + self.commands.overhead(Op::Write, need, target.start.get())
    }

    fn heads_for_write(&self, target: &Target) -> (Arm, Time) {
        let (arm, free_at) = self.heads.reader.stop(self.write_begins_at(target));
        if self.write_seek_min.is_zero() || self.heads.reader.next == target.start.get() {
            return (arm, free_at);
        }
        let moving = self.mechanism.reposition(arm, target.cylinder, target.head, Op::Write);
        (arm, free_at + self.write_seek_min.checked_sub(moving).unwrap_or_default())
    }

    /// Predicts a request sent now.
    fn predict(&self, target: &Target) -> Prediction {
        match target.op {
            _ if target.sectors == 0 => self.refusal(target),
            Op::Read => self.predict_read(target),
            Op::Write => self.predict_write(target),
        }
    }

    fn refusal(&self, target: &Target) -> Prediction {
        let overhead = self.commands.overhead(target.op, Need::Memory, target.start.get());
        Prediction { heads: self.heads.clone(), completed_at: self.now + overhead }
    }

    /// Returns the instant at which a read completes whose sectors are all in memory.
    fn hit_at(&self, target: &Target) -> Time {
        let begin_at = self.now + self.overhead(Op::Read, Need::Memory, target);
        let mut stream = Stream::new(begin_at, self.bus.read_sector_ps);
        stream.add(target.sectors, begin_at, begin_at);
        stream.end_at() + self.commands.completion(Op::Read)
    }

    fn predict_read(&self, target: &Target) -> Prediction {
        let (start, end) = (target.start.get(), target.start.get() + target.sectors);
        let ahead = self.read_ahead(target);
        let cached = ahead.unwrap_or(0);
        let mut heads = self.heads.clone();
        if cached == target.sectors {
            if !heads.reader.stands() || self.cache.read_ahead_after_hits {
                self.follow(&mut heads, end);
            }
            return Prediction { heads, completed_at: self.hit_at(target) };
        }
        let goes_on = ahead.is_some() && heads.reader.is_running(self.now);
        if !goes_on {
            heads = self.set_out(target, start + cached, (ahead.is_some(), cached));
        }
        let mut stream = self.stream(target, cached);
        heads.reader.read(&self.mechanism, (end, None), &mut stream);
        self.fill(&mut heads, target, cached);
        Prediction { heads, completed_at: stream.end_at() + self.commands.completion(Op::Read) }
    }

    /// Returns the state of the heads on their way to the sector `next`, for a read with `cached`
    /// sectors in memory.
    fn set_out(&self, target: &Target, next: u64, (_is_ahead, cached): (bool, u64)) -> Heads {
        let (cylinder, head) = if cached == 0 {
            (target.cylinder, target.head)
        } else {
            let first = self.mechanism.layout.extent(Lba::new(next), 1);
            (first.cylinder, first.head)
        };
        let (arm, free_at) = self.heads_for_read(target, cylinder, head);
        let segment = self.cache.read.then_some(0);
        let segment_start = if cached > 0 { self.heads.segment_start } else { next };
        Heads { reader: Reader::new(segment, next, arm, free_at), segment_start }
    }

    fn stream(&self, target: &Target, cached: u64) -> Stream {
        let sector_ps = self.bus.read_sector_ps;
        if cached > 0 {
            let begin_at = self.now + self.overhead(Op::Read, Need::Memory, target);
            let mut stream = Stream::new(begin_at, sector_ps);
            stream.add(cached, begin_at, begin_at);
            return stream;
        }
        let begin_at = self.now + self.overhead(Op::Read, Need::Heads, target);
        let share = u64::from(self.bus.read_watermark_ppm);
        let watermark = target.sectors.saturating_mul(share) / 1_000_000;
        let delay = self.commands.reconnect() + self.commands.preparation();
        Stream::gated(begin_at, sector_ps, watermark, delay)
    }

    /// Puts the read sectors into the segment, and lets the heads read ahead from their end.
    fn fill(&self, heads: &mut Heads, target: &Target, cached: u64) {
        if heads.reader.segment.is_none() {
            return;
        }
        let end = target.start.get() + target.sectors;
        let room_from = end.saturating_sub(u64::from(self.cache.segment_sectors));
        if self.cache.reads_on_arrival && cached == 0 {
            let before = heads.reader.passed_before(self.mechanism.rotation);
            let front = (target.start.get() - before).max(room_from);
            heads.segment_start = heads.segment_start.min(front);
        }
        heads.segment_start = heads.segment_start.max(room_from);
        self.follow(heads, end);
    }

    fn follow(&self, heads: &mut Heads, end: u64) {
        heads.reader.follow(&self.mechanism, &self.cache, (end, heads.segment_start));
        if self.cache.gives_up_read {
            heads.segment_start = heads.segment_start.max(end);
        }
    }

    fn predict_write(&self, target: &Target) -> Prediction {
        let begin_at = self.write_begins_at(target) + self.commands.preparation();
        let mut stream = Stream::new(begin_at, self.bus.write_sector_ps);
        stream.add(1, begin_at, begin_at);
        let first_at = stream.end_at();
        stream.add(target.sectors - 1, begin_at, begin_at);
        let ready = (first_at, stream.end_at());
        let (mut arm, mut free_at) = self.heads_for_write(target);
        let end = target.start.get() + target.sectors;
        let mut next = target.start.get();
        while next < end {
            let extent = self.mechanism.layout.extent(Lba::new(next), end - next);
            let first = next - target.start.get();
            let last = first + u64::from(extent.sectors) - 1;
            let [first, last] = [first, last].map(|index| between(ready, index, target.sectors));
            let piece = self.mechanism.piece_written(arm, free_at, extent, (first, last));
            next = piece.end();
            (arm, free_at) = (piece.arm(), piece.end_at);
        }
        let heads = Heads { reader: Reader::new(None, end, arm, free_at), segment_start: end };
        let ending = self.commands.reconnect() + self.commands.completion(Op::Write);
        Prediction { heads, completed_at: free_at + ending }
    }

    /// Learns from a completion how well the model fits the drive.
    fn learn(&mut self, now: Time, flight: InFlight) {
        let seen_at = self.clock.platter_time(now);
        let distance = |at: Time| at.ns().abs_diff(seen_at.ns());
        if flight.hit_at.is_some_and(|hit_at| distance(hit_at) < distance(flight.completed_at)) {
            self.heads = flight.before;
            return;
        }
        let lost = self.clock.correct(now, flight.completed_at);
        if !lost.is_zero() {
            self.heads.reader.delay(Time::ZERO, lost);
        }
    }
}

/// Returns the target as an extent. Positioning reads only the fields taken from the target; the
/// others are placeholders.
fn extent(target: &Target) -> Extent {
    Extent {
        start: target.start,
        sectors: 1,
        cylinder: target.cylinder,
        head: target.head,
        begin: Angle::from_units(target.angle),
        span: Angle::from_units(target.span),
        sectors_per_track: 1,
        track_begin: target.start,
        track_end: target.start,
    }
}

impl AccessTime for AccessModel {
    fn target(&self, request: &Request) -> Target {
        let (start, op) = (request.start, request.op);
        let sectors = request.size.sectors_ceil();
        let is_there = start.get().checked_add(sectors);
        let is_there = is_there.is_some_and(|end| end <= self.mechanism.layout.sectors());
        if sectors == 0 || !is_there {
            return Target { start, sectors: 0, op, cylinder: 0, head: 0, angle: 0, span: 0 };
        }
        let Extent { cylinder, head, begin, span, .. } =
            self.mechanism.layout.extent(start, sectors);
        Target { start, sectors, op, cylinder, head, angle: begin.units(), span: span.units() }
    }

    fn advance(&mut self, now: Time) {
        (self.now, self.host_now) = (self.clock.platter_time(now), now);
        if self.heads.reader.segment.is_some() && self.in_flight_count == 0 {
            self.heads.reader.read_ahead(&self.mechanism, &self.cache, self.now);
        }
        let (arm, free_at) = self.heads.reader.stop(self.now);
        let processing = self.commands.overhead(Op::Read, Need::Heads, 0);
        self.read_from = (arm, free_at.max(self.now + processing));
    }

    fn access(&self, target: &Target) -> Duration {
        if target.sectors == 0 || target.op == Op::Read && self.read_ahead(target).is_some() {
            return Duration::ZERO;
        }
        let (arm, from) = match target.op {
            Op::Read => self.heads_for_read(target, target.cylinder, target.head),
            Op::Write => self.heads_for_write(target),
        };
        (from - self.now) + self.mechanism.access(arm, from, &extent(target), target.op)
    }

    fn service(&self, target: &Target) -> Option<Duration> {
        let is_taken = target.op == Op::Write && self.cache.write_back == WriteBack::On;
        let is_unsettled = !self.clock.is_settled(self.host_now);
        let is_open = is_taken || !self.is_certain || is_unsettled || self.in_flight_count > 0;
        (!is_open).then(|| self.predict(target).completed_at - self.now)
    }

    fn dispatched(&mut self, now: Time, target: &Target) {
        self.advance(now);
        self.in_flight_count += 1;
        if target.op == Op::Write && self.cache.write_back == WriteBack::On {
            self.is_certain = false;
        }
        let Prediction { heads, completed_at } = self.predict(target);
        let before = std::mem::replace(&mut self.heads, heads);
        let hit_at = (target.op == Op::Read && target.sectors > 0).then(|| self.hit_at(target));
        let hit_at = hit_at.filter(|_| self.cache.read);
        if target.sectors > 0 {
            self.commands.served(target.op, target.start.get() + target.sectors);
        }
        let is_alone = self.in_flight_count == 1;
        self.in_flight = is_alone.then_some(InFlight { completed_at, hit_at, before });
    }

    /// # Panics
    /// If nothing is in flight.
    fn completed(&mut self, now: Time, _target: &Target) {
        self.in_flight_count =
            self.in_flight_count.checked_sub(1).expect("a completion must follow a dispatch");
        if let Some(flight) = self.in_flight.take() {
            self.learn(now, flight);
        }
    }
}

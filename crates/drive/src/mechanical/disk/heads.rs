// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The commands that need the heads: reads that memory cannot serve, destages, and writes that go
//! to the medium immediately.

use std::ops::Range;

use tidegate_model::mechanics::WriteBack;
use tidegate_model::{Duration, Lba, Op, Outcome, Time};

use super::{Active, Destage, MechanicalDrive, Need, Reader, sectors_of};
use crate::mechanical::faults::AccessFault;
use crate::mechanical::mechanism::Arm;
use crate::mechanical::queue::Pending;
use crate::mechanical::stream::{Stream, between};

impl MechanicalDrive {
    pub(super) fn begin_read(&mut self, now: Time, pending: &Pending) {
        let request = &pending.request;
        let sectors = sectors_of(request);
        if self.serve_read(now, pending.arrived, request, &sectors) {
            return;
        }
        let cached = self.resume_or_restart(now, pending.arrived, &sectors);
        let mut stream = self.stream_of_read(now, pending.arrived, &sectors, cached);
        let outcome = self.delay_by_fault(now);
        let known = Some(pending.target);
        self.reader.read(&self.mechanism, (sectors.end, known), &mut stream);
        self.fill_segment(&sectors, cached, outcome);
        self.commands.served(Op::Read, sectors.end);
        let at = stream.end_at() + self.commands.completion(Op::Read);
        self.complete(request.id, at, outcome);
        self.active = Some(Active { free_at: at, destage: None, outcome });
    }

    /// Returns the transfer of a read whose first `cached` sectors are in memory.
    fn stream_of_read(
        &self,
        now: Time,
        arrived: Time,
        sectors: &Range<u64>,
        cached: u64,
    ) -> Stream {
        let sector_ps = self.bus.read_sector_ps;
        if cached > 0 {
            let begin_at = now.max(arrived + self.overhead(Op::Read, Need::Memory, sectors));
            let mut stream = Stream::new(begin_at, sector_ps);
            stream.add(cached, begin_at, begin_at);
            return stream;
        }
        let begin_at = now.max(arrived + self.overhead(Op::Read, Need::Heads, sectors));
        let share = u64::from(self.bus.read_watermark_ppm);
        let watermark = (sectors.end - sectors.start).saturating_mul(share) / 1_000_000;
        let delay = self.commands.reconnect() + self.commands.preparation();
        Stream::gated(begin_at, sector_ps, watermark, delay)
    }

    /// Starts the heads for the sectors that are not in memory yet; returns how many of the read's
    /// first sectors are in memory.
    fn resume_or_restart(&mut self, now: Time, arrived: Time, sectors: &Range<u64>) -> u64 {
        let hit = self.cache.read.then(|| self.segments.find(sectors)).flatten();
        let hit = hit.filter(|hit| !self.segments.get(hit.index).is_written);
        // Without a hit, the read may begin at the heads' position: then nothing of it is in memory
        // yet.
        let cached = hit.map_or(0, |hit| hit.sectors);
        let segment = hit.map_or(self.reader.segment, |hit| Some(hit.index));
        let is_next = self.reader.next == sectors.start + cached;
        let is_same = segment.is_some() && segment == self.reader.segment;
        if is_next && is_same && self.reader.is_running(now) {
            return cached;
        }
        let (segment, cached) = match hit {
            Some(hit) => (Some(hit.index), hit.sectors),
            None if self.cache.read => (self.take_for_read(sectors.start), 0),
            None => (None, 0),
        };
        let (arm, free_at) = self.heads_for_read(now, arrived, sectors.start + cached, sectors);
        self.reader = Reader::new(segment, sectors.start + cached, arm, free_at);
        cached
    }

    /// Returns the arm's position, and the earliest time at which it can begin to move for a read
    /// from `start` on.
    ///
    /// Seek curves as a host measures them include the command's processing. If the heads hardly
    /// move, the processing time of a hit, which needs no heads, still delays the read.
    fn heads_for_read(
        &self,
        now: Time,
        arrived: Time,
        start: u64,
        sectors: &Range<u64>,
    ) -> (Arm, Time) {
        let (arm, free_at) = self.reader.stop(now);
        let free_at =
            free_at.max(arrived + self.commands.overhead(Op::Read, Need::Heads, sectors.start));
        let processed_at = arrived + self.commands.overhead(Op::Read, Need::Memory, sectors.start);
        if processed_at <= free_at {
            return (arm, free_at);
        }
        let target = self.mechanism.layout.extent(Lba::new(start), 1);
        let moving = self.mechanism.reposition(arm, target.cylinder, target.head, Op::Read);
        let rest = (processed_at - free_at).checked_sub(moving).unwrap_or_default();
        (arm, free_at + rest)
    }

    /// Puts the read sectors into their segment, and lets the heads read ahead from their end.
    fn fill_segment(&mut self, sectors: &Range<u64>, cached: u64, outcome: Outcome) {
        let Some(segment) = self.reader.segment else { return };
        if outcome == Outcome::Failed {
            self.segments.forget(segment);
            self.reader.segment = None;
            return;
        }
        self.segments.extend(segment, sectors.end);
        if self.cache.reads_on_arrival && cached == 0 {
            let before = self.reader.passed_before(self.mechanism.rotation);
            self.segments.extend_front(segment, sectors.start - before);
        }
        let start = self.segments.get(segment).sectors.start;
        self.reader.follow(&self.mechanism, &self.cache, (sectors.end, start));
        self.keep(segment, sectors.end);
    }

    pub(super) fn begin_write(&mut self, now: Time, pending: &Pending) {
        let request = &pending.request;
        let sectors = sectors_of(request);
        self.waiting.retain(|waiting| waiting.pending != pending.number);
        let find = |drive: &Self| {
            drive.destages.iter().copied().find(|destage| destage.pending == pending.number)
        };
        if find(self).is_none()
            && let Some(segment) = self.segment_for_write(request, &sectors, now)
        {
            let of = (pending.number, pending.arrived);
            self.take_write(now, of, request, &sectors, segment);
        }
        match find(self) {
            Some(destage) => self.begin_destage(now, pending, &destage),
            None => self.begin_write_through(now, pending),
        }
    }

    fn begin_destage(&mut self, now: Time, pending: &Pending, destage: &Destage) {
        let sectors = sectors_of(&pending.request);
        let overhead = self.commands.overhead(Op::Write, Need::Memory, sectors.start);
        let begin_at = now.max(pending.arrived + overhead);
        let ready = (destage.first_at, destage.last_at);
        let (free_at, outcome) = self.write(begin_at, &sectors, ready);
        self.active = Some(Active { free_at, destage: Some(destage.number), outcome });
    }

    fn begin_write_through(&mut self, now: Time, pending: &Pending) {
        let sectors = sectors_of(&pending.request);
        // A write-back drive processes every write as if memory took it.
        let takes = self.cache.write_back == WriteBack::On;
        let need = if takes { Need::Memory } else { Need::Heads };
        let overhead = self.commands.overhead(Op::Write, need, sectors.start);
        let begin_at = now.max(pending.arrived + overhead);
        let ready = self.receive(begin_at + self.commands.preparation(), &sectors);
        self.make_stale(&sectors, None);
        let (written_at, outcome) = self.write(begin_at, &sectors, ready);
        let at = written_at + self.commands.reconnect() + self.commands.completion(Op::Write);
        self.complete(pending.request.id, at, outcome);
        self.commands.served(Op::Write, sectors.end);
        self.active = Some(Active { free_at: at, destage: None, outcome });
    }

    /// Writes these sectors, the first of which is in memory at `ready.0` and the last at
    /// `ready.1`; returns when the last is on the medium, and the outcome.
    fn write(
        &mut self,
        begin_at: Time,
        sectors: &Range<u64>,
        ready: (Time, Time),
    ) -> (Time, Outcome) {
        let (mut arm, mut free_at) = self.heads_for_write(begin_at, sectors);
        let (delay, outcome) = self.draw_fault();
        free_at += delay;
        let count = sectors.end - sectors.start;
        let mut next = sectors.start;
        while next < sectors.end {
            let extent = self.mechanism.layout.extent(Lba::new(next), sectors.end - next);
            let first = between(ready, next - sectors.start, count);
            let last = next + u64::from(extent.sectors) - 1;
            let last = between(ready, last - sectors.start, count);
            let piece = self.mechanism.piece_written(arm, free_at, extent, (first, last));
            next = piece.end();
            (arm, free_at) = (piece.arm(), piece.end_at);
        }
        self.reader = Reader::new(None, sectors.end, arm, free_at);
        (free_at, outcome)
    }

    /// Returns the arm's position, and the earliest time at which it can begin to move for a write
    /// of `sectors`.
    fn heads_for_write(&self, begin_at: Time, sectors: &Range<u64>) -> (Arm, Time) {
        let (arm, free_at) = self.reader.stop(begin_at);
        if self.write_seek_min.is_zero() || self.reader.next == sectors.start {
            return (arm, free_at);
        }
        let target = self.mechanism.layout.extent(Lba::new(sectors.start), 1);
        let moving = self.mechanism.reposition(arm, target.cylinder, target.head, Op::Write);
        (arm, free_at + self.write_seek_min.checked_sub(moving).unwrap_or_default())
    }

    /// Draws the faults of this read, which delay the heads.
    fn delay_by_fault(&mut self, now: Time) -> Outcome {
        let (delay, outcome) = self.draw_fault();
        if !delay.is_zero() {
            self.reader.delay(now, delay);
        }
        outcome
    }

    fn draw_fault(&mut self) -> (Duration, Outcome) {
        let AccessFault { turns, recalibration, outcome } = self.faults.draw();
        (recalibration + self.mechanism.rotation.turn() * u64::from(turns), outcome)
    }
}

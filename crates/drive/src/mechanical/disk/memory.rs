// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's memory: reads served from it, writes taken into it, and read-ahead.

use std::ops::Range;

use tidegate_model::mechanics::WriteBack;
use tidegate_model::{Op, Outcome, Request, Time};

use super::{Destage, MechanicalDrive, Need, Reader, Waiting, sectors_of};
use crate::mechanical::segments::Hit;
use crate::mechanical::stream::Stream;

impl MechanicalDrive {
    /// Serves a read whose sectors are all in memory; returns whether they are.
    pub(super) fn serve_read(
        &mut self,
        now: Time,
        arrived: Time,
        request: &Request,
        sectors: &Range<u64>,
    ) -> bool {
        if !self.cache.read {
            return false;
        }
        self.read_ahead(now);
        // Sectors that the heads are passing now are not in memory yet.
        let is_there = |segment| self.active.is_none() || self.reader.segment != Some(segment);
        let is_whole = |hit: &Hit| hit.sectors == sectors.end - sectors.start;
        let hit = self.segments.find(sectors);
        let Some(hit) = hit.filter(|hit| is_whole(hit) && is_there(hit.index)) else {
            return false;
        };
        let processed_at = arrived + self.overhead(Op::Read, Need::Memory, sectors);
        let begin_at = now.max(processed_at).max(self.bus_free_at);
        let mut stream = Stream::new(begin_at, self.bus.read_sector_ps);
        stream.add(hit.sectors, begin_at, begin_at);
        self.bus_free_at = stream.end_at();
        let at = stream.end_at() + self.commands.completion(Op::Read);
        self.complete(request.id, at, Outcome::Done);
        self.commands.served(Op::Read, sectors.end);
        self.read_on_after_hit(now, hit.index, sectors.end);
        self.keep(hit.index, sectors.end);
        true
    }

    /// Returns the processing time of a command before its transfer begins.
    pub(super) fn overhead(
        &self,
        op: Op,
        need: Need,
        sectors: &Range<u64>,
    ) -> tidegate_model::Duration {
        self.commands.overhead(op, need, sectors.start) + self.commands.preparation()
    }

    /// Records that a segment was read up to `end`; a drive that gives up read sectors drops them.
    pub(super) fn keep(&mut self, segment: usize, end: u64) {
        self.segments.touch(segment);
        if self.cache.gives_up_read {
            self.segments.give_up(segment, end);
        }
    }

    /// Lets the heads read ahead after a read that memory has just served.
    fn read_on_after_hit(&mut self, now: Time, segment: usize, end: u64) {
        if self.active.is_some() {
            return;
        }
        let sectors = self.segments.get(segment).sectors.clone();
        let sets_out = self.cache.read_ahead_after_hits && !self.segments.get(segment).is_written;
        let is_under_way = self.reader.segment == Some(segment) && !self.reader.stands();
        if !is_under_way && !sets_out {
            return;
        }
        if self.reader.segment != Some(segment) {
            let (arm, free_at) = self.reader.stop(now);
            self.reader = Reader::new(Some(segment), sectors.end, arm, free_at);
        }
        self.reader.follow(&self.mechanism, &self.cache, (end, sectors.start));
    }

    /// Advances the read-ahead to `now`.
    pub(super) fn read_ahead(&mut self, now: Time) {
        let Some(segment) = self.reader.segment.filter(|_| self.active.is_none()) else { return };
        self.reader.read_ahead(&self.mechanism, &self.cache, now);
        self.segments.extend(segment, self.reader.next);
    }

    /// Returns whether memory takes this write once it has room.
    pub(super) fn could_take(&self, request: &Request, sectors: &Range<u64>) -> bool {
        let fits = sectors.end - sectors.start <= self.segments.sectors_max();
        self.cache.write_back == WriteBack::On && !request.fua && fits
    }

    /// Takes the writes that wait for room, oldest first, while there is room.
    pub(super) fn take_waiting(&mut self, now: Time) {
        while let Some(&Waiting { pending, request, arrived }) = self.waiting.first() {
            let sectors = sectors_of(&request);
            let Some(segment) = self.segment_for_write(&request, &sectors, now) else { return };
            self.take_write(now, (pending, arrived), &request, &sectors, segment);
            self.waiting.remove(0);
        }
    }

    /// Returns the segment that takes this write immediately; `None` if memory cannot take it now.
    pub(super) fn segment_for_write(
        &mut self,
        request: &Request,
        sectors: &Range<u64>,
        now: Time,
    ) -> Option<usize> {
        if !self.could_take(request, sectors) {
            return None;
        }
        self.read_ahead(now);
        let count = sectors.end - sectors.start;
        let append = self.segments.find_append(sectors.start, count);
        let is_busy = self.active.is_some() && !self.cache.writes_while_busy;
        let is_full = self.segments.dirty_segment_count() >= self.cache.write_segments as usize;
        if append.is_some() || is_busy || is_full {
            return append;
        }
        let segment = self.segments.take_for_write(sectors)?;
        self.forget_reader_of(segment);
        Some(segment)
    }

    /// Takes a segment for a read from `start` on: an empty one, or else the least recently used
    /// one. Returns `None` while all segments hold data that are not on the medium yet.
    pub(super) fn take_for_read(&mut self, start: u64) -> Option<usize> {
        let segment = self.segments.take_for_read(start)?;
        self.forget_reader_of(segment);
        Some(segment)
    }

    /// Drops data that a write makes stale, including data being read ahead.
    pub(super) fn make_stale(&mut self, written: &Range<u64>, kept: Option<usize>) {
        self.segments.invalidate(written, kept);
        let held = self.reader.segment.map(|segment| self.segments.get(segment));
        if held.is_some_and(|segment| segment.sectors.is_empty()) || self.reader.may_take(written) {
            self.reader.segment = None;
        }
    }

    fn forget_reader_of(&mut self, segment: usize) {
        if self.reader.segment == Some(segment) {
            self.reader.segment = None;
        }
    }

    /// Takes a write into memory and completes it; `pending` is its number in the queue.
    pub(super) fn take_write(
        &mut self,
        now: Time,
        (pending, arrived): (u64, Time),
        request: &Request,
        sectors: &Range<u64>,
        segment: usize,
    ) {
        let processed_at = arrived + self.overhead(Op::Write, Need::Memory, sectors);
        let (first_at, last_at) = self.receive(now.max(processed_at), sectors);
        self.complete(request.id, last_at + self.commands.completion(Op::Write), Outcome::Done);
        self.make_stale(sectors, Some(segment));
        self.segments.extend(segment, sectors.end);
        self.segments.add_dirty(segment);
        self.segments.touch(segment);
        self.commands.served(Op::Write, sectors.end);
        let number = self.destage_count;
        self.destage_count += 1;
        self.destages.push(Destage { pending, number, segment, first_at, last_at });
    }

    /// Returns the instants at which the first and the last sector of a write arrive from the host,
    /// if the drive is ready at `ready_at`.
    pub(super) fn receive(&mut self, ready_at: Time, sectors: &Range<u64>) -> (Time, Time) {
        let begin_at = ready_at.max(self.bus_free_at);
        let mut stream = Stream::new(begin_at, self.bus.write_sector_ps);
        stream.add(1, begin_at, begin_at);
        let first_at = stream.end_at();
        stream.add(sectors.end - sectors.start - 1, begin_at, begin_at);
        self.bus_free_at = stream.end_at();
        (first_at, stream.end_at())
    }
}

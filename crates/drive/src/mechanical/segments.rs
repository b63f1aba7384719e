// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's memory: segments, each with one run of sectors.
//!
//! A segment is found by the sectors in it and given up when it is the one whose use is
//! longest ago. What is not on the medium yet is never given up.

use std::ops::Range;

use model::mechanics::Cache;

/// One run of sectors in memory, by number.
///
/// # Invariants
/// - `sectors.start <= sectors.end`, at most the segment's size apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// What is in it.
    pub(crate) sectors: Range<u64>,
    /// It holds written data.
    pub(crate) is_written: bool,
    /// How many writes into it are not on the medium yet.
    dirty_count: u32,
    /// When it was used last: a counter, not a time.
    used: u64,
}

impl Segment {
    fn overlaps(&self, sectors: &Range<u64>) -> bool {
        self.sectors.start < sectors.end && sectors.start < self.sectors.end
    }
}

/// How much of a read is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The segment.
    pub(crate) index: usize,
    /// How many sectors of the read, from its first, it holds.
    pub(crate) sectors: u64,
}

/// All segments of a drive.
///
/// # Complexity
/// Every look is linear in the number of segments.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    list: Vec<Segment>,
    sectors_max: u64,
    uses: u64,
    hits_on_writes: bool,
    /// The first segment is for writes alone.
    write_apart: bool,
}

impl Segments {
    /// The empty segments of a drive's memory.
    pub(crate) fn new(cache: &Cache) -> Self {
        let empty = Segment { sectors: 0..0, is_written: false, dirty_count: 0, used: 0 };
        Self {
            list: vec![empty; cache.segments as usize],
            sectors_max: u64::from(cache.segment_sectors),
            uses: 0,
            hits_on_writes: cache.read_hits_on_writes,
            write_apart: cache.write_segment_apart && cache.segments > 1,
        }
    }

    /// Sectors that a segment holds.
    pub(crate) fn sectors_max(&self) -> u64 {
        self.sectors_max
    }

    /// The segment of this index.
    pub(crate) fn get(&self, index: usize) -> &Segment {
        &self.list[index]
    }

    /// How many segments hold what is not on the medium yet.
    pub(crate) fn dirty_segment_count(&self) -> usize {
        self.list.iter().filter(|segment| segment.dirty_count > 0).count()
    }

    /// The segment that holds the first sectors of `read`, and the most of them.
    pub(crate) fn find(&self, read: &Range<u64>) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for (index, segment) in self.list.iter().enumerate() {
            let holds = segment.sectors.contains(&read.start);
            if holds && (self.hits_on_writes || !segment.is_written) {
                let sectors = segment.sectors.end.min(read.end) - read.start;
                if best.is_none_or(|hit| sectors > hit.sectors) {
                    best = Some(Hit { index, sectors });
                }
            }
        }
        best
    }

    /// The segment with unwritten data that `start` goes on from, if `sectors` more fit.
    pub(crate) fn find_append(&self, start: u64, sectors: u64) -> Option<usize> {
        self.list.iter().position(|segment| {
            segment.dirty_count > 0
                && segment.sectors.end == start
                && start + sectors - segment.sectors.start <= self.sectors_max
        })
    }

    /// Notes that this segment was used just now.
    pub(crate) fn touch(&mut self, index: usize) {
        self.uses += 1;
        self.list[index].used = self.uses;
    }

    /// Takes a segment for what is read from `start` on; none while all hold what is not on
    /// the medium yet.
    pub(crate) fn take_for_read(&mut self, start: u64) -> Option<usize> {
        let first = usize::from(self.write_apart);
        let index = self.oldest(first..self.list.len())?;
        Some(self.take(index, start, false))
    }

    /// Takes a segment for a write: one that the write makes stale anyway, or the oldest.
    pub(crate) fn take_for_write(&mut self, sectors: &Range<u64>) -> Option<usize> {
        let allowed = if self.write_apart { 0..1 } else { 0..self.list.len() };
        let is_stale = |&index: &usize| {
            let segment = &self.list[index];
            segment.dirty_count == 0 && segment.overlaps(sectors)
        };
        let index = allowed.clone().find(is_stale).or_else(|| self.oldest(allowed))?;
        Some(self.take(index, sectors.start, true))
    }

    /// The empty segment, or else the one whose use is longest ago, of those that are clean.
    fn oldest(&self, allowed: Range<usize>) -> Option<usize> {
        let clean = allowed.filter(|&index| self.list[index].dirty_count == 0);
        clean.min_by_key(|&index| {
            let segment = &self.list[index];
            (!segment.sectors.is_empty(), segment.used)
        })
    }

    fn take(&mut self, index: usize, start: u64, is_written: bool) -> usize {
        self.list[index] = Segment { sectors: start..start, is_written, dirty_count: 0, used: 0 };
        self.touch(index);
        index
    }

    /// The segment now holds everything up to `end`; what was longest in it goes if there is
    /// no room.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let sectors = &mut self.list[index].sectors;
        sectors.end = sectors.end.max(end);
        sectors.start = sectors.start.max(sectors.end.saturating_sub(self.sectors_max));
    }

    /// The segment holds what lies before it too, from `start` on, as far as there is room.
    pub(crate) fn extend_front(&mut self, index: usize, start: u64) {
        let sectors = &mut self.list[index].sectors;
        let room_from = sectors.end.saturating_sub(self.sectors_max);
        sectors.start = sectors.start.min(start.max(room_from));
    }

    /// The host has everything up to `end`: it is not kept.
    pub(crate) fn give_up(&mut self, index: usize, end: u64) {
        let sectors = &mut self.list[index].sectors;
        sectors.start = sectors.start.max(end.min(sectors.end));
    }

    /// Nothing of what is in this segment is right.
    pub(crate) fn forget(&mut self, index: usize) {
        let sectors = &mut self.list[index].sectors;
        sectors.end = sectors.start;
    }

    /// One more write into this segment is not on the medium yet.
    pub(crate) fn add_dirty(&mut self, index: usize) {
        self.list[index].dirty_count += 1;
    }

    /// A write into this segment is on the medium.
    pub(crate) fn clean(&mut self, index: usize) {
        self.list[index].dirty_count -= 1;
    }

    /// Forgets what a write makes stale, in all segments but `kept`.
    pub(crate) fn invalidate(&mut self, written: &Range<u64>, kept: Option<usize>) {
        for (index, segment) in self.list.iter_mut().enumerate() {
            if Some(index) != kept && segment.dirty_count == 0 && segment.overlaps(written) {
                segment.sectors = segment.sectors.start..segment.sectors.start;
            }
        }
    }
}

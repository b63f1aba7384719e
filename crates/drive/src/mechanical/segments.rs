// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's memory: segments, each with one run of sectors.
//!
//! A segment is found by its sectors; the least recently used one is replaced. Data that are not
//! on the medium yet are never discarded.
//!
//! A disk has up to hundreds of segments, and each request searches them several times: two
//! orders, by first sector and by use, avoid searching all segments.

mod by_start;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::mem;
use std::ops::Range;

use tidegate_model::mechanics::Cache;

use self::by_start::ByStart;

/// One run of sectors in memory, by number.
///
/// # Invariants
/// - `sectors.start <= sectors.end`, at most the segment's size apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The sectors that the segment holds.
    pub(crate) sectors: Range<u64>,
    /// Whether the segment holds written data.
    pub(crate) is_written: bool,
    /// The number of writes to this segment that are not on the medium yet.
    dirty_count: u32,
}

impl Segment {
    fn overlaps(&self, sectors: &Range<u64>) -> bool {
        self.sectors.start < sectors.end && sectors.start < self.sectors.end
    }
}

/// The part of a read that is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The segment's index.
    pub(crate) index: usize,
    /// The number of the read's sectors, from its first, that the segment holds.
    pub(crate) sectors: u64,
}

/// All segments of a drive.
///
/// # Complexity
/// [`Segments::find`] bisects. [`Segments::take_for_read`] examines the dirty segments that were
/// used less recently than the one that it takes; it examines all segments only while some are
/// empty. Queries for writes are linear in the number of segments.
///
/// # Invariants
/// - `by_use` has every index once.
/// - `by_start` has the indices of non-empty segments.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    list: Vec<Segment>,
    /// The least recently used segment comes first; segments never used are in the order of
    /// indices.
    by_use: Vec<usize>,
    by_start: ByStart,
    sectors_max: u64,
    hits_on_writes: bool,
    /// Whether the first segment is for writes only.
    write_apart: bool,
}

impl Segments {
    /// Creates the empty segments of a drive's memory.
    pub(crate) fn new(cache: &Cache) -> Self {
        let empty = Segment { sectors: 0..0, is_written: false, dirty_count: 0 };
        let count = cache.segments as usize;
        Self {
            list: vec![empty; count],
            by_use: (0..count).collect(),
            by_start: ByStart::default(),
            sectors_max: u64::from(cache.segment_sectors),
            hits_on_writes: cache.read_hits_on_writes,
            write_apart: cache.write_segment_apart && cache.segments > 1,
        }
    }

    /// Returns the number of sectors that a segment can hold.
    pub(crate) fn sectors_max(&self) -> u64 {
        self.sectors_max
    }

    /// Returns the segment with this index.
    pub(crate) fn get(&self, index: usize) -> &Segment {
        &self.list[index]
    }

    /// Returns the number of segments with data that are not on the medium yet.
    pub(crate) fn dirty_segment_count(&self) -> usize {
        self.list.iter().filter(|segment| segment.dirty_count > 0).count()
    }

    /// Returns the segment that holds the most sectors of `read`, counted from its first sector;
    /// among equals, the one with the lowest index.
    pub(crate) fn find(&self, read: &Range<u64>) -> Option<Hit> {
        let near = self.by_start.near(read.start, self.sectors_max);
        let hits = near.filter_map(|index| {
            let Segment { ref sectors, is_written, .. } = self.list[index];
            let is_hit = sectors.contains(&read.start) && (self.hits_on_writes || !is_written);
            is_hit.then(|| Hit { index, sectors: sectors.end.min(read.end) - read.start })
        });
        hits.max_by_key(|hit| (hit.sectors, Reverse(hit.index)))
    }

    /// Returns the dirty segment that ends at `start` and has room for `sectors` more.
    pub(crate) fn find_append(&self, start: u64, sectors: u64) -> Option<usize> {
        self.list.iter().position(|segment| {
            segment.dirty_count > 0
                && segment.sectors.end == start
                && start + sectors - segment.sectors.start <= self.sectors_max
        })
    }

    /// Records that this segment was used just now.
    pub(crate) fn touch(&mut self, index: usize) {
        // The search begins at the end, because a segment is usually used again soon.
        let place = self.by_use.iter().rposition(|&each| each == index);
        self.by_use[place.expect("every segment is in it")..].rotate_left(1);
    }

    /// Takes a segment for a read from `start` on; `None` while all segments hold data that are not
    /// on the medium yet.
    pub(crate) fn take_for_read(&mut self, start: u64) -> Option<usize> {
        let first = usize::from(self.write_apart);
        let index = self.oldest(&(first..self.list.len()))?;
        Some(self.take(index, start, false))
    }

    /// Takes a segment for a write: one that the write makes stale, or the least recently used.
    pub(crate) fn take_for_write(&mut self, sectors: &Range<u64>) -> Option<usize> {
        let allowed = if self.write_apart { 0..1 } else { 0..self.list.len() };
        let is_stale = |&index: &usize| {
            let segment = &self.list[index];
            segment.dirty_count == 0 && segment.overlaps(sectors)
        };
        let index = allowed.clone().find(is_stale).or_else(|| self.oldest(&allowed))?;
        Some(self.take(index, sectors.start, true))
    }

    /// Returns an empty segment, or else the least recently used one, among the clean segments.
    fn oldest(&self, allowed: &Range<usize>) -> Option<usize> {
        let is_clean = |index: &usize| self.list[*index].dirty_count == 0;
        let clean =
            || self.by_use.iter().copied().filter(|it| allowed.contains(it) && is_clean(it));
        let has_empty = self.by_start.len() < self.list.len();
        let empty = has_empty.then(|| clean().find(|&index| self.list[index].sectors.is_empty()));
        empty.flatten().or_else(|| clean().next())
    }

    fn take(&mut self, index: usize, start: u64, is_written: bool) -> usize {
        self.set(index, start..start);
        self.list[index].is_written = is_written;
        // The search begins at the front, because a segment that is taken was used long ago.
        let place = self.by_use.iter().position(|&each| each == index);
        self.by_use[place.expect("every segment is in it")..].rotate_left(1);
        index
    }

    /// Changes the sectors that a segment holds. Every change uses this method, so that `by_start`
    /// stays correct.
    fn set(&mut self, index: usize, sectors: Range<u64>) {
        let before = mem::replace(&mut self.list[index].sectors, sectors);
        self.by_start.change(index, &before, &self.list[index].sectors);
    }

    /// Extends the segment to `end`; if there is no room, its oldest sectors are dropped.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let Range { start, end: known } = self.list[index].sectors;
        let end = end.max(known);
        self.set(index, start.max(end.saturating_sub(self.sectors_max))..end);
    }

    /// Extends the segment backwards to `start`, as far as there is room.
    pub(crate) fn extend_front(&mut self, index: usize, start: u64) {
        let Range { start: known, end } = self.list[index].sectors;
        let room_from = end.saturating_sub(self.sectors_max);
        self.set(index, known.min(start.max(room_from))..end);
    }

    /// Drops the sectors up to `until`, which the host has received.
    pub(crate) fn give_up(&mut self, index: usize, until: u64) {
        let Range { start, end } = self.list[index].sectors;
        self.set(index, start.max(until.min(end))..end);
    }

    /// Drops all sectors of this segment.
    pub(crate) fn forget(&mut self, index: usize) {
        let start = self.list[index].sectors.start;
        self.set(index, start..start);
    }

    /// Counts one more write into this segment that is not on the medium yet.
    pub(crate) fn add_dirty(&mut self, index: usize) {
        self.list[index].dirty_count += 1;
    }

    /// Records that a write into this segment is on the medium.
    pub(crate) fn clean(&mut self, index: usize) {
        self.list[index].dirty_count -= 1;
    }

    /// Drops sectors that a write makes stale, in all segments except `kept`.
    pub(crate) fn invalidate(&mut self, written: &Range<u64>, kept: Option<usize>) {
        for index in 0..self.list.len() {
            let segment = &self.list[index];
            if Some(index) != kept && segment.dirty_count == 0 && segment.overlaps(written) {
                self.forget(index);
            }
        }
    }
}

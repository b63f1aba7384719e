// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's memory: segments, each with one run of sectors.
//!
//! A segment is found by the sectors in it and given up when it is the one whose use is
//! longest ago. What is not on the medium yet is never given up.
//!
//! A disk has up to hundreds of segments, and each request looks for one several times: two
//! orders, of first sectors and of uses, are kept so that none of these looks goes through
//! all segments.

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
    /// What is in it.
    pub(crate) sectors: Range<u64>,
    /// It holds written data.
    pub(crate) is_written: bool,
    /// How many writes into it are not on the medium yet.
    dirty_count: u32,
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
/// [`Segments::find`] bisects. [`Segments::take_for_read`] looks at what is not on the medium
/// yet and was used before the segment that it takes; at all only where some hold nothing.
/// What writes ask for is linear in the number of segments.
///
/// # Invariants
/// - `by_use` has every index once.
/// - `by_start` has those whose segments hold something.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    list: Vec<Segment>,
    /// The one whose use is longest ago comes first; those never used in order.
    by_use: Vec<usize>,
    by_start: ByStart,
    sectors_max: u64,
    hits_on_writes: bool,
    /// The first segment is for writes alone.
    write_apart: bool,
}

impl Segments {
    /// The empty segments of a drive's memory.
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

    /// The segment that holds the first sectors of `read`, and the most of them; of equals,
    /// the one with the lowest index.
    pub(crate) fn find(&self, read: &Range<u64>) -> Option<Hit> {
        let near = self.by_start.near(read.start, self.sectors_max);
        let hits = near.filter_map(|index| {
            let Segment { ref sectors, is_written, .. } = self.list[index];
            let is_hit = sectors.contains(&read.start) && (self.hits_on_writes || !is_written);
            is_hit.then(|| Hit { index, sectors: sectors.end.min(read.end) - read.start })
        });
        hits.max_by_key(|hit| (hit.sectors, Reverse(hit.index)))
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
        // Most are used again soon.
        let place = self.by_use.iter().rposition(|&each| each == index);
        self.by_use[place.expect("every segment is in it")..].rotate_left(1);
    }

    /// Takes a segment for what is read from `start` on; none while all hold what is not on
    /// the medium yet.
    pub(crate) fn take_for_read(&mut self, start: u64) -> Option<usize> {
        let first = usize::from(self.write_apart);
        let index = self.oldest(&(first..self.list.len()))?;
        Some(self.take(index, start, false))
    }

    /// Takes a segment for a write: one that the write makes stale anyway, or the oldest.
    pub(crate) fn take_for_write(&mut self, sectors: &Range<u64>) -> Option<usize> {
        let allowed = if self.write_apart { 0..1 } else { 0..self.list.len() };
        let is_stale = |&index: &usize| {
            let segment = &self.list[index];
            segment.dirty_count == 0 && segment.overlaps(sectors)
        };
        let index = allowed.clone().find(is_stale).or_else(|| self.oldest(&allowed))?;
        Some(self.take(index, sectors.start, true))
    }

    /// The empty segment, or else the one whose use is longest ago, of those that are clean.
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
        // What is taken was used long ago.
        let place = self.by_use.iter().position(|&each| each == index);
        self.by_use[place.expect("every segment is in it")..].rotate_left(1);
        index
    }

    /// All changes of what a segment holds go through here.
    fn set(&mut self, index: usize, sectors: Range<u64>) {
        let before = mem::replace(&mut self.list[index].sectors, sectors);
        self.by_start.change(index, &before, &self.list[index].sectors);
    }

    /// The segment now holds everything up to `end`; what was longest in it goes if there is
    /// no room.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let Range { start, end: known } = self.list[index].sectors;
        let end = end.max(known);
        self.set(index, start.max(end.saturating_sub(self.sectors_max))..end);
    }

    /// The segment holds what lies before it too, from `start` on, as far as there is room.
    pub(crate) fn extend_front(&mut self, index: usize, start: u64) {
        let Range { start: known, end } = self.list[index].sectors;
        let room_from = end.saturating_sub(self.sectors_max);
        self.set(index, known.min(start.max(room_from))..end);
    }

    /// The host has everything up to `until`: it is not kept.
    pub(crate) fn give_up(&mut self, index: usize, until: u64) {
        let Range { start, end } = self.list[index].sectors;
        self.set(index, start.max(until.min(end))..end);
    }

    /// Nothing of what is in this segment is right.
    pub(crate) fn forget(&mut self, index: usize) {
        let start = self.list[index].sectors.start;
        self.set(index, start..start);
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
        for index in 0..self.list.len() {
            let segment = &self.list[index];
            if Some(index) != kept && segment.dirty_count == 0 && segment.overlaps(written) {
                self.forget(index);
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks that the two sorted orders find the same segments as a search of all segments.

use tidegate_model::Random;

use super::*;

/// The number of segments. The memory is small, so that segments overlap, are emptied and are
/// reused.
const SEGMENTS: u32 = 7;
/// The largest number of sectors in a segment and in a request.
const SECTORS_MAX: u32 = 12;
/// The number of sectors on the disk at which requests start.
const DISK: u64 = 60;

fn cache(is_apart: bool, hits_on_writes: bool) -> Cache {
    Cache {
        segments: SEGMENTS,
        segment_sectors: SECTORS_MAX,
        write_segment_apart: is_apart,
        read_hits_on_writes: hits_on_writes,
        ..Cache::default()
    }
}

/// The segments and their last uses, for a plain search.
struct PlainSegments {
    segments: Segments,
    used: Vec<u64>,
    uses: u64,
}

impl PlainSegments {
    fn new(cache: &Cache) -> Self {
        Self { segments: Segments::new(cache), used: vec![0; SEGMENTS as usize], uses: 0 }
    }

    fn note_use(&mut self, index: usize) {
        self.uses += 1;
        self.used[index] = self.uses;
    }

    /// Returns the first of the segments that hold the most of a read.
    fn plain_find(&self, read: &Range<u64>) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for (index, segment) in self.segments.list.iter().enumerate() {
            let is_usable = self.segments.hits_on_writes || !segment.is_written;
            if is_usable && segment.sectors.contains(&read.start) {
                let sectors = segment.sectors.end.min(read.end) - read.start;
                if best.is_none_or(|hit| sectors > hit.sectors) {
                    best = Some(Hit { index, sectors });
                }
            }
        }
        best
    }

    /// Returns the clean segment with the smallest key: empty ones first, then the least recently
    /// used.
    fn plain_oldest(&self, allowed: Range<usize>) -> Option<usize> {
        let clean = allowed.filter(|&index| self.segments.list[index].dirty_count == 0);
        clean.min_by_key(|&index| (!self.segments.list[index].sectors.is_empty(), self.used[index]))
    }

    /// Makes one random change that a drive can make; checks that [`Segments`] takes the segment
    /// that the plain search finds.
    fn change(&mut self, random: &mut Random) {
        let index = random.index(SEGMENTS as usize);
        let start = random.below(DISK);
        let sectors = start..start + 1 + random.below(u64::from(SECTORS_MAX));
        let end = self.segments.get(index).sectors.end;
        match random.below(9) {
            0 | 1 => {
                let first = usize::from(self.segments.write_apart);
                let expected = self.plain_oldest(first..SEGMENTS as usize);
                let taken = self.segments.take_for_read(start);
                assert_eq!(taken, expected);
                self.fill(taken, sectors.end);
            }
            2 => {
                let taken = self.segments.take_for_write(&sectors);
                self.fill(taken, sectors.end);
            }
            3 => self.segments.extend(index, end + random.below(4)),
            4 => self.segments.extend_front(index, start.min(end)),
            5 => self.segments.give_up(index, start),
            6 => self.segments.invalidate(&sectors, Some(index)),
            7 if self.segments.get(index).dirty_count > 0 => self.segments.clean(index),
            7 => self.segments.add_dirty(index),
            _ => {
                self.segments.touch(index);
                self.note_use(index);
            }
        }
    }

    fn fill(&mut self, taken: Option<usize>, end: u64) {
        if let Some(index) = taken {
            self.note_use(index);
            self.segments.extend(index, end);
        }
    }
}

#[test]
fn sorted_orders_find_the_same_as_a_full_search() {
    let mut random = Random::new(11, 0);
    let (mut hit_count, mut overlap_count) = (0, 0);
    for history in 0_u32..200 {
        let mut plain = PlainSegments::new(&cache(history % 2 == 1, history % 4 < 2));
        for _ in 0..200 {
            plain.change(&mut random);
            for start in 0..DISK {
                let read = start..start + 1 + random.below(8);
                let found = plain.segments.find(&read);
                assert_eq!(found, plain.plain_find(&read), "{read:?} in {:?}", plain.segments);
                let holds = |segment: &&Segment| segment.sectors.contains(&start);
                hit_count += u32::from(found.is_some());
                overlap_count += u32::from(plain.segments.list.iter().filter(holds).count() > 1);
            }
        }
    }
    // Canary: the histories do contain hits and overlaps.
    assert!(hit_count > 100_000 && overlap_count > 10_000, "{hit_count} {overlap_count}");
}

#[test]
fn both_orders_hold_every_segment_once() {
    let mut random = Random::new(12, 0);
    let mut plain = PlainSegments::new(&cache(false, true));
    for _ in 0..5_000 {
        plain.change(&mut random);
        let Segments { list, by_use, by_start, .. } = &plain.segments;
        let mut used = by_use.clone();
        used.sort_unstable();
        assert!(used.into_iter().eq(0..SEGMENTS as usize), "{by_use:?}");
        let holding = list.iter().filter(|segment| !segment.sectors.is_empty()).count();
        assert_eq!(by_start.len(), holding);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where consecutive tracks begin, and so how long they are.
//!
//! Of each begin is known between which two blocks it lies. All tracks of a zone are equally
//! long, so the begins of two tracks that are n apart bound the length to an n-th of what is
//! unsure of them: with blocks of several sectors, too, it becomes exact. Now and then one is a
//! little shorter, where spare sectors end a cylinder or some were slipped: there the ladder
//! begins anew.

/// Of known lengths one is believed when less than this part of it is unsure.
const CLOSE: u64 = 100;

/// A track may be shorter than others by this part.
const SHORTER: u64 = 64;

/// Where a track begins: with a sector after `off`, and not after the last of the block at `on`. Of
/// a block on two tracks the drive may read either part first, so it may seem to be on either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) off: u64,
    pub(super) on: u64,
}

/// Begins of consecutive tracks, from above.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    block: u64,
    /// The first and the last sector with which each may begin.
    begins: Vec<(u64, u64)>,
    /// Sectors of each track, at least and at most.
    least: u64,
    most: u64,
}

impl Ladder {
    /// Of tracks whose length is unsure.
    pub(super) fn new((least, most): (u64, u64), block: u64) -> Self {
        Self { block, begins: Vec::new(), least, most }
    }

    /// The begin of the next track below.
    pub(super) fn add(&mut self, edge: Edge) {
        let (first, last) = (edge.off + 1, edge.on + self.block - 1);
        for (&(first_above, last_above), apart) in self.begins.iter().rev().zip(1..) {
            self.least = self.least.max(first_above.saturating_sub(last).div_ceil(apart));
            self.most = self.most.min(last_above.saturating_sub(first) / apart);
        }
        self.begins.push((first, last));
        if self.least > self.most && self.begins.len() > 1 {
            // A shorter track is among them: what was known before holds for the others, or
            // nearly so.
            let shorter = self.most.div_ceil(SHORTER);
            (self.least, self.most) = (self.most - shorter, self.least + shorter);
            self.begins = vec![(first, last)];
        }
    }

    /// Forgets the begins so far, but not how long tracks were; how much shorter than that one may
    /// be, in sectors.
    pub(super) fn anew(&mut self) -> u64 {
        self.begins.clear();
        self.most.div_ceil(SHORTER)
    }

    /// Between which blocks the next track below begins: the first surely belongs to it.
    pub(super) fn below(&self) -> Option<(u64, u64)> {
        let &(first, last) = self.begins.last()?;
        let top = last.checked_sub(self.least)?.next_multiple_of(self.block);
        let bottom = first.checked_sub(self.most)? / self.block * self.block;
        Some((top, bottom.min(top)))
    }

    /// Where the lowest track begins; none if tracks of one length do not begin like that.
    pub(super) fn begin(&self) -> Option<u64> {
        if self.least > self.most {
            return None;
        }
        let (mut low, mut high) = *self.begins.last()?;
        for (&(first, last), apart) in self.begins.iter().rev().zip(0..) {
            low = low.max(first.saturating_sub(apart * self.most));
            high = high.min(last.saturating_sub(apart * self.least));
        }
        (low <= high).then(|| u64::midpoint(low, high))
    }

    /// The one of some lengths that is left, if little is unsure.
    pub(super) fn known(&self, known: &[u64]) -> Option<u64> {
        let is_close = self.most.checked_sub(self.least)? * CLOSE <= self.least;
        let mut left = known.iter().filter(|&&length| (self.least..=self.most).contains(&length));
        let (first, second) = (left.next(), left.next());
        first.copied().filter(|_| is_close && second.is_none())
    }

    /// The length, if no other is left and the lowest begin is known as well as blocks allow.
    pub(super) fn exact(&self, edge: Edge) -> Option<u64> {
        (self.least == self.most && edge.on - edge.off <= self.block).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tracks of 783 sectors, read in blocks of 8: few begin with a block, but all together say
    /// how long they are. Blocks on two tracks seem to be on either by turns.
    #[test]
    fn blocks_of_several_sectors_tell_the_length_in_the_end() {
        let mut ladder = Ladder::new((750, 800), 8);
        let mut lengths = Vec::new();
        for track in 0..40 {
            let begin = 1_000_003 - 783 * track;
            // The first block that has some of the track, or the first that is whole on it.
            let on = (begin - 7_u64 * (track % 2)).div_ceil(8) * 8;
            let edge = Edge { off: on - 8, on };
            ladder.add(edge);
            assert!(ladder.begin().is_some_and(|found| found.abs_diff(begin) < 8));
            lengths.push(ladder.exact(edge));
        }
        assert_eq!(lengths.last(), Some(&Some(783)));
    }

    /// A track that is shorter by 1: of what was known before, some is given up, and the next
    /// ones tell the length again.
    #[test]
    fn a_shorter_track_begins_a_new_ladder() {
        let mut ladder = Ladder::new((90, 110), 1);
        let mut lengths = Vec::new();
        for begin in [1_000, 900, 801, 701, 601] {
            let edge = Edge { off: begin - 1, on: begin };
            ladder.add(edge);
            lengths.push(ladder.exact(edge));
        }
        assert_eq!(lengths, [None, Some(100), None, Some(100), Some(100)]);
        assert_eq!(ladder.begin(), Some(601));
    }
}

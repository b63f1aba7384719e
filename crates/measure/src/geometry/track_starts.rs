// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds where consecutive tracks begin, and from this how many sectors they have.
//!
//! For each track, two blocks are known between which it begins. Nearly all tracks of a zone are
//! equally long. So if two beginnings are n tracks apart, the uncertainty of the length is an n-th
//! of theirs, and the length becomes exact even with blocks of several sectors. Some tracks are
//! slightly shorter, because spare sectors end a cylinder or sectors were slipped; there the search
//! starts again.

/// The largest accepted uncertainty of a known length, as a part (1/100) of the length.
const CLOSE: u64 = 100;

/// A track can be shorter than others by this part (1/64) of its length.
const SHORTER: u64 = 64;

/// The limits on where a track begins: after sector `off`, and no later than the last sector of the
/// block at `on`. If a block is on two tracks, the drive may read either part first, so the block
/// can seem to be on either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) off: u64,
    pub(super) on: u64,
}

/// The beginnings of consecutive tracks, in descending order.
#[derive(Debug, Clone)]
pub(super) struct TrackStarts {
    block: u64,
    /// The first and the last sector at which each track can begin.
    begins: Vec<(u64, u64)>,
    /// The limits on the number of sectors of a track that is not short.
    least: u64,
    most: u64,
}

impl TrackStarts {
    /// Returns an empty list for tracks whose length is within these limits.
    pub(super) fn new((least, most): (u64, u64), block: u64) -> Self {
        Self { block, begins: Vec::new(), least, most }
    }

    /// Adds the beginning of the next track below.
    pub(super) fn add(&mut self, edge: Edge) {
        let (first, last) = (edge.off + 1, edge.on + self.block - 1);
        for (&(first_above, last_above), apart) in self.begins.iter().rev().zip(1..) {
            self.least = self.least.max(first_above.saturating_sub(last).div_ceil(apart));
            self.most = self.most.min(last_above.saturating_sub(first) / apart);
        }
        self.begins.push((first, last));
        if self.least > self.most && self.begins.len() > 1 {
            // One of the tracks is shorter. The earlier limits hold for the others, apart from a
            // small margin.
            let shorter = self.most.div_ceil(SHORTER);
            (self.least, self.most) = (self.most - shorter, self.least + shorter);
            self.begins = vec![(first, last)];
        }
    }

    /// Drops the beginnings so far, but keeps the limits on the length. Returns the largest length.
    pub(super) fn anew(&mut self) -> u64 {
        self.begins.clear();
        self.most
    }

    /// Returns the first sectors of two blocks between which the next track below begins. The first
    /// of them is certainly on that track.
    pub(super) fn below(&self) -> Option<(u64, u64)> {
        let &(first, last) = self.begins.last()?;
        let top = last.checked_sub(self.least)?.next_multiple_of(self.block);
        let bottom = first.checked_sub(self.most)? / self.block * self.block;
        Some((top, bottom.min(top)))
    }

    /// Returns the first sector of the lowest track; `None` if tracks of equal length cannot begin
    /// at these places.
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

    /// Returns the length in `known` that is within the limits, if it is the only one and the
    /// limits are close together.
    pub(super) fn known(&self, known: &[u64]) -> Option<u64> {
        let is_close = self.most.checked_sub(self.least)? * CLOSE <= self.least;
        let mut left = known.iter().filter(|&&length| (self.least..=self.most).contains(&length));
        let (first, second) = (left.next(), left.next());
        first.copied().filter(|_| is_close && second.is_none())
    }

    /// Returns the length if the limits leave only one, and the beginning of the lowest track is
    /// known to within a block.
    pub(super) fn exact(&self, edge: Edge) -> Option<u64> {
        (self.least == self.most && edge.on - edge.off <= self.block).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses tracks of 783 sectors in blocks of 8: few tracks begin with a block, but together they
    /// determine the length. Blocks on two tracks seem to be on either track alternately.
    #[test]
    fn blocks_of_several_sectors_tell_the_length_in_the_end() {
        let mut starts = TrackStarts::new((750, 800), 8);
        let mut lengths = Vec::new();
        for track in 0..40 {
            let begin = 1_000_003 - 783 * track;
            // The first block that is partly on the track, or the first that is entirely on it, by
            // turns.
            let on = (begin - 7_u64 * (track % 2)).div_ceil(8) * 8;
            let edge = Edge { off: on - 8, on };
            starts.add(edge);
            assert!(starts.begin().is_some_and(|found| found.abs_diff(begin) < 8));
            lengths.push(starts.exact(edge));
        }
        assert_eq!(lengths.last(), Some(&Some(783)));
    }

    /// A track that is shorter by 1 widens the limits, and the following tracks narrow them again.
    #[test]
    fn a_shorter_track_begins_a_new_ladder() {
        let mut starts = TrackStarts::new((90, 110), 1);
        let mut lengths = Vec::new();
        for begin in [1_000, 900, 801, 701, 601] {
            let edge = Edge { off: begin - 1, on: begin };
            starts.add(edge);
            lengths.push(starts.exact(edge));
        }
        assert_eq!(lengths, [None, Some(100), None, Some(100), Some(100)]);
        assert_eq!(starts.begin(), Some(601));
    }
}

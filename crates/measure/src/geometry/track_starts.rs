// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds where consecutive tracks begin, and hence how many sectors they have.
//!
//! The beginning of each track is known to lie between two blocks. Nearly all tracks of a zone are
//! equally long, so the beginnings of two tracks that are n apart bound the length to an n-th of
//! their uncertainty: the length becomes exact even with blocks of several sectors. Some tracks are
//! a little shorter, because spare sectors end a cylinder or sectors were slipped; there the search
//! starts again.

/// A known length is accepted when the uncertainty is less than this part of it.
const CLOSE: u64 = 100;

/// A track may be shorter than others by this part of its length.
const SHORTER: u64 = 64;

/// Where a track begins: after sector `off`, and not after the last sector of the block at `on`.
/// The drive may read either part of a block on two tracks first, so such a block may seem to be on
/// either.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) off: u64,
    pub(super) on: u64,
}

/// The beginnings of consecutive tracks, from the highest down.
#[derive(Debug, Clone)]
pub(super) struct TrackStarts {
    block: u64,
    /// The first and the last sector with which each may begin.
    begins: Vec<(u64, u64)>,
    /// The limits on the number of sectors of a track.
    least: u64,
    most: u64,
}

impl TrackStarts {
    /// Returns an empty list, for tracks whose length lies between these limits.
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
            // One of the tracks is shorter: the earlier limits hold for the others, or nearly so.
            let shorter = self.most.div_ceil(SHORTER);
            (self.least, self.most) = (self.most - shorter, self.least + shorter);
            self.begins = vec![(first, last)];
        }
    }

    /// Forgets the beginnings so far, but not the lengths of tracks. Returns the largest length.
    pub(super) fn anew(&mut self) -> u64 {
        self.begins.clear();
        self.most
    }

    /// Returns the two blocks between which the next track below begins; the first certainly
    /// belongs to it.
    pub(super) fn below(&self) -> Option<(u64, u64)> {
        let &(first, last) = self.begins.last()?;
        let top = last.checked_sub(self.least)?.next_multiple_of(self.block);
        let bottom = first.checked_sub(self.most)? / self.block * self.block;
        Some((top, bottom.min(top)))
    }

    /// Returns where the lowest track begins; `None` if tracks of one length cannot begin like
    /// that.
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

    /// Returns the only known length within the limits, if the limits are close.
    pub(super) fn known(&self, known: &[u64]) -> Option<u64> {
        let is_close = self.most.checked_sub(self.least)? * CLOSE <= self.least;
        let mut left = known.iter().filter(|&&length| (self.least..=self.most).contains(&length));
        let (first, second) = (left.next(), left.next());
        first.copied().filter(|_| is_close && second.is_none())
    }

    /// Returns the length, if the limits leave only one and the lowest beginning is known as
    /// precisely as blocks allow.
    pub(super) fn exact(&self, edge: Edge) -> Option<u64> {
        (self.least == self.most && edge.on - edge.off <= self.block).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tracks of 783 sectors, read in blocks of 8: few tracks begin with a block, but together they
    /// determine the length. Blocks on two tracks seem to be on one or the other alternately.
    #[test]
    fn blocks_of_several_sectors_tell_the_length_in_the_end() {
        let mut starts = TrackStarts::new((750, 800), 8);
        let mut lengths = Vec::new();
        for track in 0..40 {
            let begin = 1_000_003 - 783 * track;
            // The first block with a part on the track, or the first that lies entirely on it.
            let on = (begin - 7_u64 * (track % 2)).div_ceil(8) * 8;
            let edge = Edge { off: on - 8, on };
            starts.add(edge);
            assert!(starts.begin().is_some_and(|found| found.abs_diff(begin) < 8));
            lengths.push(starts.exact(edge));
        }
        assert_eq!(lengths.last(), Some(&Some(783)));
    }

    /// A track that is shorter by 1 widens the limits, and the next ones narrow them again.
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

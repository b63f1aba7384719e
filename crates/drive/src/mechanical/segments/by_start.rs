// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the segments that can hold a sector: the segments that begin at the sector, or less than a
//! segment's size before it.
//!
//! ```text
//!   order of first sectors    [--2--]   [---0---]   [-3-]     [----1----]
//!   candidates for sector x               :<- size - 1 ->x      here 0 and 3
//! ```
//! Segments can overlap, so several can hold one sector, but few segments begin that near.

use std::ops::Range;

/// The non-empty segments, in the order of their first sectors.
///
/// # Invariants
/// - `entries` ascend by first sector; every index appears at most once.
#[derive(Debug, Clone, Default)]
pub(super) struct ByStart {
    /// The first sector and the index of each segment.
    entries: Vec<(u64, usize)>,
}

impl ByStart {
    /// Returns the number of non-empty segments.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Records that a segment's sectors changed from `before` to `after`.
    ///
    /// # Complexity
    /// O(1) if the first sector stays; otherwise bisection and a move of the later entries.
    pub(super) fn change(&mut self, index: usize, before: &Range<u64>, after: &Range<u64>) {
        if before.start == after.start && before.is_empty() == after.is_empty() {
            return;
        }
        if !before.is_empty() {
            let from = self.first_from(before.start);
            let place = self.entries[from..].iter().position(|&(_, each)| each == index);
            self.entries.remove(from + place.expect("what holds something is here"));
        }
        if !after.is_empty() {
            self.entries.insert(self.first_from(after.start), (after.start, index));
        }
    }

    fn first_from(&self, sector: u64) -> usize {
        self.entries.partition_point(|&(start, _)| start < sector)
    }

    /// Returns the segments that begin at `sector` or less than `sectors_max` before it, the last
    /// one first.
    pub(super) fn near(&self, sector: u64, sectors_max: u64) -> impl Iterator<Item = usize> + '_ {
        let end = self.entries.partition_point(|&(start, _)| start <= sector);
        let is_near = move |&&(start, _): &&(u64, usize)| sector - start < sectors_max;
        self.entries[..end].iter().rev().take_while(is_near).map(|&(_, index)| index)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which segments may hold a sector: those that begin at most a segment's size before it.
//!
//! ```text
//!   order of first sectors    [--2--]   [---0---]   [-3-]     [----1----]
//!   those asked for                     :<- size - 1 ->x      here 0 and 3
//! ```
//! Segments may overlap, so that several of them may hold one sector. There are few that
//! begin so near.

use std::ops::Range;

/// The segments that hold something, in the order in which they begin.
///
/// # Invariants
/// - `entries` ascend by their first sectors; no index is in it twice.
#[derive(Debug, Clone, Default)]
pub(super) struct ByStart {
    /// First sector and index.
    entries: Vec<(u64, usize)>,
}

impl ByStart {
    /// How many hold something.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Notes that what this segment holds is not `before` any more but `after`.
    ///
    /// # Complexity
    /// O(1) where the first sector stays; otherwise bisection and the move of what is behind.
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

    /// Those that begin at `sector` or less than `sectors_max` before it, the last one first.
    pub(super) fn near(&self, sector: u64, sectors_max: u64) -> impl Iterator<Item = usize> + '_ {
        let end = self.entries.partition_point(|&(start, _)| start <= sector);
        let is_near = move |&&(start, _): &&(u64, usize)| sector - start < sectors_max;
        self.entries[..end].iter().rev().take_while(is_near).map(|&(_, index)| index)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sets of sectors, stored as ranges: the remaining sectors of a bio or of a completion.

use std::ops::Range;

/// The remaining sectors of an extent, as ranges without overlap: usually one range or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sectors(Vec<Range<u64>>);

impl Sectors {
    /// Returns the set of all sectors in a range.
    pub(crate) fn of(range: Range<u64>) -> Self {
        Self(if range.is_empty() { Vec::new() } else { vec![range] })
    }

    /// Returns whether no sector remains.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of remaining sectors.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns whether exactly this range remains.
    pub(crate) fn is(&self, range: &Range<u64>) -> bool {
        self.0.first() == Some(range) && self.0.len() == 1
    }

    /// Removes the common sectors from both sets. Returns whether there were any.
    pub(crate) fn cancel(&mut self, other: &mut Self) -> bool {
        let mine = self.0.iter();
        let shared: Vec<_> =
            mine.flat_map(|a| other.0.iter().filter_map(|b| overlap(a, b))).collect();
        for range in &shared {
            self.remove(range);
            other.remove(range);
        }
        !shared.is_empty()
    }

    /// Adds the sectors that are in both `range` and `whole`, and are not in the set yet.
    pub(crate) fn restore(&mut self, range: &Range<u64>, whole: &Range<u64>) {
        if let Some(range) = overlap(range, whole) {
            self.remove(&range);
            self.0.push(range);
        }
    }

    fn remove(&mut self, gone: &Range<u64>) {
        let parts = self.0.iter().flat_map(|range| {
            [range.start..range.end.min(gone.start), range.start.max(gone.end)..range.end]
        });
        self.0 = parts.filter(|part| part.start < part.end).collect();
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> Option<Range<u64>> {
    let shared = a.start.max(b.start)..a.end.min(b.end);
    (shared.start < shared.end).then_some(shared)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn members(sectors: &Sectors) -> Vec<u64> {
        let mut all: Vec<_> = sectors.0.iter().cloned().flatten().collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// Goal: ranges behave like sets. Method: does the same removals on sets of single sectors.
        #[test]
        fn shared_sectors_leave_both(
            ranges in prop::collection::vec((0_u64..40, 0_u64..12), 1..8),
        ) {
            let mut left = Sectors::of(0..40);
            let mut expected: Vec<u64> = (0..40).collect();
            for (start, length) in ranges {
                let mut other = Sectors::of(start..start + length);
                let shared: Vec<_> =
                    expected.iter().copied().filter(|it| (start..start + length).contains(it)).collect();
                prop_assert_eq!(left.cancel(&mut other), !shared.is_empty());
                expected.retain(|it| !shared.contains(it));
                let rest: Vec<_> = (start..start + length).filter(|it| !shared.contains(it)).collect();
                prop_assert_eq!(members(&left), expected.clone());
                prop_assert_eq!(members(&other), rest);
            }
            left.restore(&(0..100), &(0..40));
            prop_assert_eq!(members(&left), (0..40).collect::<Vec<_>>());
        }
    }
}

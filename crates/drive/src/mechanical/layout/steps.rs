// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the place of a number in a sorted list: a table narrows the range, bisection does the
//! rest.
//!
//! The starts of zones, slips and index rows are looked up for every request, and a full index
//! has tens of thousands of them.

use std::ops::Range;

/// A table of ranges in a sorted list, which the caller keeps.
///
/// # Invariants
/// - `pieces[p]` numbers are below `p << shift`; the last piece is the list's length.
#[derive(Debug, Clone)]
pub(in crate::mechanical) struct Table {
    shift: u32,
    pieces: Vec<u32>,
}

impl Table {
    /// Creates the table for fewer than 2^32 ascending numbers; equal numbers are allowed.
    ///
    /// # Complexity
    /// Linear in time and in memory: at most four pieces for each number.
    pub(in crate::mechanical) fn new(numbers: &[u64]) -> Self {
        let last = numbers.last().copied().unwrap_or(0);
        let pieces_max = 4 * numbers.len() as u64 + 1;
        let mut shift = 0;
        while last >> shift >= pieces_max {
            shift += 1;
        }
        let count = |below: usize| u32::try_from(below).expect("fewer than 2^32 numbers");
        let mut pieces = Vec::new();
        let mut below = 0;
        for piece in 0..=last >> shift {
            while numbers.get(below).is_some_and(|&each| each >> shift < piece) {
                below += 1;
            }
            pieces.push(count(below));
        }
        pieces.push(count(numbers.len()));
        Self { shift, pieces }
    }

    /// Returns a range of indices: all numbers before the range are at most `number`, and all
    /// numbers after it are greater.
    pub(in crate::mechanical) fn range(&self, number: u64) -> Range<usize> {
        let last = self.pieces.len() - 2;
        let piece = usize::try_from(number >> self.shift).map_or(last, |piece| piece.min(last));
        self.pieces[piece] as usize..self.pieces[piece + 1] as usize
    }
}

/// A sorted list of numbers; equal numbers are allowed.
#[derive(Debug, Clone)]
pub(in crate::mechanical) struct Steps {
    numbers: Vec<u64>,
    table: Table,
}

impl Steps {
    /// Creates the list from fewer than 2^32 ascending numbers.
    pub(in crate::mechanical) fn new(numbers: Vec<u64>) -> Self {
        Self { table: Table::new(&numbers), numbers }
    }

    /// Returns the number at `index`.
    pub(in crate::mechanical) fn get(&self, index: usize) -> u64 {
        self.numbers[index]
    }

    /// Returns the count of numbers that are at most `number`.
    pub(in crate::mechanical) fn count_up_to(&self, number: u64) -> usize {
        let range = self.table.range(number);
        range.start + self.numbers[range].partition_point(|&each| each <= number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_below_anything_in_an_empty_list() {
        let steps = Steps::new(Vec::new());
        assert_eq!(steps.count_up_to(0), 0);
        assert_eq!(steps.count_up_to(u64::MAX), 0);
    }

    #[test]
    fn table_of_one_huge_number_is_small() {
        let steps = Steps::new(vec![u64::MAX]);
        assert!(steps.table.pieces.len() <= 6, "{:?}", steps.table);
        assert_eq!(steps.count_up_to(u64::MAX - 1), 0);
        assert_eq!(steps.count_up_to(u64::MAX), 1);
    }

    proptest! {
        #[test]
        fn count_is_that_of_a_linear_search(
            mut numbers in proptest::collection::vec(0_u64..200, 0..40),
            scale in 0_u32..50,
            asked in 0_u64..210,
            off_by in 0_u64..3,
        ) {
            numbers.sort_unstable();
            let numbers: Vec<u64> = numbers.iter().map(|each| each << scale).collect();
            let asked = ((asked << scale) + off_by).saturating_sub(1);
            let expected = numbers.iter().filter(|&&each| each <= asked).count();
            prop_assert_eq!(Steps::new(numbers).count_up_to(asked), expected);
        }
    }
}

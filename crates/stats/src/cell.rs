// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identifies one list of samples of an experiment.

use std::fmt;

/// One list of samples of an experiment: the samples of one table entry or, if an entry is
/// measured in several ways (drains from several starts), the samples of one of these ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The entry's index, from 0.
    pub entry: usize,
    /// The way's index, from 0.
    pub way: usize,
    /// The number of ways in which each entry is measured.
    pub ways: usize,
}

impl Cell {
    /// Returns the cell with this index, where the cells of one entry are adjacent.
    ///
    /// # Panics
    /// If `ways` is 0.
    pub fn of(index: usize, ways: usize) -> Self {
        assert!(ways > 0, "an entry is measured in at least one way");
        Self { entry: index / ways, way: index % ways, ways }
    }
}

/// Formats the cell for readers, with entries and ways numbered from 1.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", self.entry + 1)?;
        if self.ways > 1 {
            write!(f, " (way {} of {})", self.way + 1, self.ways)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a table of drains from three starts, the 83rd list belongs to entry 28.
    #[test]
    fn lists_of_several_ways_are_named_by_entry_and_way() {
        assert_eq!(Cell::of(82, 3).to_string(), "entry 28 (way 2 of 3)");
        assert_eq!(Cell::of(82, 1).to_string(), "entry 83");
    }
}

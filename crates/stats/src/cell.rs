// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which samples of an experiment are spoken of.

use std::fmt;

/// One of the lists of samples of an experiment: that of an entry of its table, or, where an
/// entry is measured in several ways (drains from several starts), that of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Which entry, from 0.
    pub entry: usize,
    /// In which way, from 0.
    pub way: usize,
    /// In how many ways each entry is measured.
    pub ways: usize,
}

impl Cell {
    /// The cell of that index, when those of an entry lie side by side.
    ///
    /// # Panics
    /// When an entry is measured in no way.
    pub fn of(index: usize, ways: usize) -> Self {
        assert!(ways > 0, "an entry is measured in one way at least");
        Self { entry: index / ways, way: index % ways, ways }
    }
}

/// Counted from 1, as in tables.
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

    /// The 83rd list of a table of drains from three starts is about 28 requests.
    #[test]
    fn lists_of_several_ways_are_named_by_entry_and_way() {
        assert_eq!(Cell::of(82, 3).to_string(), "entry 28 (way 2 of 3)");
        assert_eq!(Cell::of(82, 1).to_string(), "entry 83");
    }
}

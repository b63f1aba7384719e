// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A row on its way to flash: its units and the pages that still have to cross the channel.

use super::geometry::{Address, Geometry};

/// A row that is being written; if it is not full, the units at its end stay empty.
#[derive(Debug, Clone)]
pub(super) struct Row<T> {
    start: Address,
    content: Vec<T>,
    pages_left: u32,
}

impl<T> Default for Row<T> {
    fn default() -> Self {
        Self { start: Address(0), content: Vec::new(), pages_left: 0 }
    }
}

impl<T> Row<T> {
    /// Begins an empty row at `start`; reuses the memory of the last row.
    pub(super) fn begin(&mut self, start: Address, geometry: &Geometry) {
        self.start = start;
        self.content.clear();
        self.pages_left = geometry.pages_per_row;
    }

    pub(super) fn push(&mut self, unit: T) {
        self.content.push(unit);
    }

    /// Records a page that crossed the channel; returns whether it was the last.
    pub(super) fn note_page(&mut self) -> bool {
        self.pages_left -= 1;
        self.pages_left == 0
    }

    /// Returns the content with its addresses.
    pub(super) fn placed(&self) -> impl Iterator<Item = (Address, &T)> {
        let start = self.start;
        (0..).zip(&self.content).map(move |(index, unit)| (start.plus(index), unit))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A row on its way to flash: what goes where, and what of it is still to cross the channel.

use super::geometry::{Address, Geometry};

/// A row that is being written; what is missing at its end stays empty.
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
    /// Begins an empty row at this address; the memory of the last one is used again.
    pub(super) fn begin(&mut self, start: Address, geometry: &Geometry) {
        self.start = start;
        self.content.clear();
        self.pages_left = geometry.pages_per_row;
    }

    pub(super) fn push(&mut self, unit: T) {
        self.content.push(unit);
    }

    /// A page has crossed the channel; whether it was the last.
    pub(super) fn note_page(&mut self) -> bool {
        self.pages_left -= 1;
        self.pages_left == 0
    }

    /// The content with its addresses.
    pub(super) fn placed(&self) -> impl Iterator<Item = (Address, &T)> {
        let start = self.start;
        (0..).zip(&self.content).map(move |(index, unit)| (start.plus(index), unit))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The blocks of a die: free, being written, full.
//!
//! ```text
//!   free --> open (one for the host's data, one for copies) --> full --> victim --> free
//! ```

use std::collections::VecDeque;

use super::agenda::Stream;
use super::geometry::{Address, Geometry};
use super::mapping::Mapping;

/// A block that is being written, row by row.
#[derive(Debug, Clone, Copy)]
struct Open {
    block: u32,
    rows_begun: u32,
}

/// The blocks of a die.
///
/// # Invariants
/// - Every block is in exactly one of `free`, `host`, `copies` and `full`, or held by the
///   collector.
/// - A block stays open until its last row is programmed, and is not collected before that.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    die: u32,
    free: VecDeque<u32>,
    host: Option<Open>,
    copies: Option<Open>,
    full: Vec<u32>,
}

impl Blocks {
    /// Creates the blocks of a die, all free.
    pub(super) fn new(die: u32, count: u32) -> Self {
        Self { die, free: (0..count).collect(), host: None, copies: None, full: Vec::new() }
    }

    pub(super) fn free_count(&self) -> u32 {
        u32::try_from(self.free.len()).expect("a die has few blocks")
    }

    /// Returns whether a host row can begin: in an open block, or in a new one that leaves a
    /// block for copies. Copies never need more than one block before another is free again.
    pub(super) fn has_row(&self) -> bool {
        self.host.is_some() || self.free_count() > 1
    }

    fn open_mut(&mut self, stream: Stream) -> &mut Option<Open> {
        match stream {
            Stream::Host => &mut self.host,
            Stream::Copy => &mut self.copies,
        }
    }

    /// Begins a row and returns the address of its first unit. A stream writes one row at a time.
    ///
    /// # Panics
    /// If no block is free.
    pub(super) fn begin_row(&mut self, stream: Stream, geometry: &Geometry) -> Address {
        let open = match *self.open_mut(stream) {
            Some(open) => open,
            None => Open { block: self.take_free(), rows_begun: 0 },
        };
        *self.open_mut(stream) = Some(Open { rows_begun: open.rows_begun + 1, ..open });
        geometry.block_start(self.die, open.block).plus(open.rows_begun * geometry.units_per_row)
    }

    /// Records that the last begun row is programmed.
    ///
    /// # Panics
    /// If no row was begun.
    pub(super) fn end_row(&mut self, stream: Stream, geometry: &Geometry) {
        let open = self.open_mut(stream).expect("a row was begun");
        if open.rows_begun == geometry.rows_per_block {
            *self.open_mut(stream) = None;
            self.full.push(open.block);
        }
    }

    fn take_free(&mut self) -> u32 {
        self.free.pop_front().expect("one block is kept free for copies")
    }

    /// Removes the full block with the fewest valid units, if collecting it gains a row.
    pub(super) fn take_victim(&mut self, mapping: &Mapping, geometry: &Geometry) -> Option<u32> {
        let valid_count = |block: u32| mapping.valid_count(geometry.block(self.die, block));
        let candidates = self.full.iter().enumerate();
        let least = candidates.min_by_key(|&(_, &block)| valid_count(block))?;
        let (index, &block) = least;
        if valid_count(block) > geometry.units_per_block - geometry.units_per_row {
            return None;
        }
        self.full.swap_remove(index);
        Some(block)
    }

    /// Frees an erased block.
    pub(super) fn give_back(&mut self, block: u32) {
        self.free.push_back(block);
    }

    /// Takes a free block for prefilled data.
    pub(super) fn take_full(&mut self) -> u32 {
        let block = self.take_free();
        self.full.push(block);
        block
    }

    /// Checks that every block is in exactly one state, that the collector holds `victim`, and
    /// that free blocks hold no unit.
    ///
    /// # Panics
    /// If a check fails.
    pub(super) fn audit(&self, victim: Option<u32>, mapping: &Mapping, geometry: &Geometry) {
        let open = [self.host, self.copies].into_iter().flatten().map(|open| open.block);
        let all = self.free.iter().chain(&self.full).copied().chain(open).chain(victim);
        let mut all: Vec<u32> = all.collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..geometry.blocks_per_die), "blocks of die {}", self.die);
        for &block in &self.free {
            let valid_count = mapping.valid_count(geometry.block(self.die, block));
            assert_eq!(valid_count, 0, "units in free block {block} of die {}", self.die);
        }
    }
}

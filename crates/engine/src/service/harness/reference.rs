// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The expected reply to each call, if writes take effect in the order of their arrival.
//!
//! A read must return, for each block, the last write that arrived before it. If that write failed,
//! or its result is unknown, the block's earlier data is correct too, back to the last write that
//! succeeded.

use super::promises::Durable;

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    /// Any part of the data can have been written.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Written {
    arrival: u64,
    stamp: u32,
}

/// The reference model of the store's contents.
pub(super) struct Reference {
    /// The writes of each block of the store, in the order of arrival.
    history: Vec<Vec<Written>>,
    /// The results of the calls, indexed by arrival number.
    fates: Vec<Option<Fate>>,
    /// The blocks that were reported written and are not known to be durable, with their stamps.
    written: Vec<(usize, u32)>,
    next_stamp: u32,
    zeroed: Vec<usize>,
    pub(super) durable: Vec<Durable>,
    /// Whether faults are injected; without faults, a write without a reply is still executed.
    pub(super) has_faults: bool,
}

impl Reference {
    pub(super) fn new(blocks: usize) -> Self {
        Self {
            history: vec![Vec::new(); blocks],
            fates: Vec::new(),
            written: Vec::new(),
            next_stamp: 1,
            zeroed: Vec::new(),
            durable: Vec::new(),
            has_faults: false,
        }
    }

    /// Adds a call; returns its arrival number.
    pub(super) fn arrive(&mut self) -> u64 {
        self.fates.push(None);
        self.fates.len() as u64 - 1
    }

    /// Records that the call writes; returns the blocks' stamps.
    pub(super) fn write(&mut self, arrival: u64, first: usize, count: usize) -> Vec<u32> {
        let stamps: Vec<u32> = (self.next_stamp..).take(count).collect();
        self.next_stamp += u32::try_from(count).expect("a few");
        for (history, &stamp) in self.history[first..].iter_mut().zip(&stamps) {
            history.push(Written { arrival, stamp });
        }
        stamps
    }

    /// Records that the call writes zeroes. Zeroes have no stamps, so the age of these blocks is
    /// unknown.
    pub(super) fn zero(&mut self, arrival: u64, first: usize, count: usize) {
        for (block, history) in self.history.iter_mut().enumerate().skip(first).take(count) {
            history.push(Written { arrival, stamp: 0 });
            self.zeroed.push(block);
        }
    }

    /// Returns the promises of durability, except for blocks that were ever zeroed.
    pub(super) fn promises(&mut self) -> Vec<Durable> {
        let mut promises = std::mem::take(&mut self.durable);
        for promise in &mut promises {
            promise.blocks.retain(|(block, _)| !self.zeroed.contains(block));
        }
        promises
    }

    /// Returns the blocks that a flush arriving now covers.
    pub(super) fn covered(&self) -> Vec<(usize, u32)> {
        self.written.clone()
    }

    /// Records a write's result.
    pub(super) fn settle(&mut self, arrival: u64, fate: Fate) {
        self.fates[usize::try_from(arrival).expect("a few")] = Some(fate);
    }

    /// Records that a write was reported complete.
    pub(super) fn acknowledged(&mut self, first: usize, stamps: &[u32]) {
        self.written.extend((first..).zip(stamps.iter().copied()));
    }

    /// Returns whether a read with this arrival number can return this stamp for this block.
    pub(super) fn may_see(&self, arrival: u64, block: usize, stamp: u32) -> bool {
        let before = self.history[block].iter().rev().filter(|written| written.arrival < arrival);
        for written in before {
            if written.stamp == stamp {
                return true;
            }
            let fate = self.fates[usize::try_from(written.arrival).expect("a few")];
            if fate == Some(Fate::Done) || !self.has_faults {
                return false;
            }
        }
        stamp == 0
    }
}

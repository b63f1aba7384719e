// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What each call must be answered: writes take effect in the order of their arrival.
//!
//! A read must see, of each block, the last write that came before it. Where a write failed, or
//! nobody heard what became of it, what was there before is right too; and so on from there.

use super::promises::Durable;

/// What became of a write's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    /// Any part of it may be written.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Written {
    arrival: u64,
    stamp: u32,
}

/// See the module's text.
pub(super) struct Reference {
    /// Of each block of the store, in the order of arrival.
    history: Vec<Vec<Written>>,
    /// By arrival.
    fates: Vec<Option<Fate>>,
    /// Blocks answered as written and not known to be durable, with their stamps.
    written: Vec<(usize, u32)>,
    next_stamp: u32,
    zeroed: Vec<usize>,
    pub(super) durable: Vec<Durable>,
    /// While no fault was made, what is not answered is written all the same.
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

    /// Another call; its arrival.
    pub(super) fn arrive(&mut self) -> u64 {
        self.fates.push(None);
        self.fates.len() as u64 - 1
    }

    /// Such a call writes: the stamps, one for each block.
    pub(super) fn write(&mut self, arrival: u64, first: usize, count: usize) -> Vec<u32> {
        let stamps: Vec<u32> = (self.next_stamp..).take(count).collect();
        self.next_stamp += u32::try_from(count).expect("a few");
        for (history, &stamp) in self.history[first..].iter_mut().zip(&stamps) {
            history.push(Written { arrival, stamp });
        }
        stamps
    }

    /// It writes zeroes: they have no stamps, so of these blocks nobody can tell what is older.
    pub(super) fn zero(&mut self, arrival: u64, first: usize, count: usize) {
        for (block, history) in self.history.iter_mut().enumerate().skip(first).take(count) {
            history.push(Written { arrival, stamp: 0 });
            self.zeroed.push(block);
        }
    }

    /// What was promised of blocks that were never zeroed.
    pub(super) fn promises(&mut self) -> Vec<Durable> {
        let mut promises = std::mem::take(&mut self.durable);
        for promise in &mut promises {
            promise.blocks.retain(|(block, _)| !self.zeroed.contains(block));
        }
        promises
    }

    /// What a flush that comes now covers.
    pub(super) fn covered(&self) -> Vec<(usize, u32)> {
        self.written.clone()
    }

    /// What became of a write.
    pub(super) fn settle(&mut self, arrival: u64, fate: Fate) {
        self.fates[usize::try_from(arrival).expect("a few")] = Some(fate);
    }

    /// A write was acknowledged.
    pub(super) fn acknowledged(&mut self, first: usize, stamps: &[u32]) {
        self.written.extend((first..).zip(stamps.iter().copied()));
    }

    /// Whether a read that came then may see this stamp in that block.
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

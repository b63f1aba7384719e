// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The replenishment queue of a sporadic server: chunks of its budget, each with the instant from
//! which it may be used.

use std::collections::VecDeque;

use tidegate_model::{Duration, Time};

/// A chunk of a server's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replenishment {
    /// The instant from which the chunk may be used.
    pub at: Time,
    /// The amount, never zero.
    pub amount: Duration,
}

/// Chunks in order of time; chunks with the same instant are in order of insertion.
///
/// # Invariants
/// - The queue is never empty, is sorted, and has no chunk of zero (correction 4: a zero chunk at
///   the head would make the loop of Budget_Check endless).
#[derive(Debug, Clone)]
pub(super) struct ReplenishmentQueue {
    chunks: VecDeque<Replenishment>,
}

impl ReplenishmentQueue {
    /// Creates the queue with one chunk, available from the start, and room for
    /// `replenishments_max`.
    pub(super) fn new(budget: Duration, replenishments_max: u32) -> Self {
        let room = usize::try_from(replenishments_max).expect("a u32 is a usize");
        let mut chunks = VecDeque::with_capacity(room);
        chunks.push_back(Replenishment { at: Time::ZERO, amount: budget });
        Self { chunks }
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn head(&self) -> Replenishment {
        self.chunks[0]
    }

    pub(super) fn set_head(&mut self, head: Replenishment) {
        assert!(!head.amount.is_zero(), "a chunk of zero");
        self.chunks[0] = head;
    }

    /// Returns the chunk after the head.
    pub(super) fn next(&self) -> Option<Replenishment> {
        self.chunks.get(1).copied()
    }

    pub(super) fn last(&self) -> Replenishment {
        self.chunks[self.chunks.len() - 1]
    }

    /// Removes the head; the caller must insert a chunk before the next access.
    pub(super) fn pop(&mut self) -> Replenishment {
        self.chunks.pop_front().expect("a server has its budget")
    }

    /// Inserts a chunk in order of time, behind chunks of the same instant.
    pub(super) fn insert(&mut self, chunk: Replenishment) {
        assert!(!chunk.amount.is_zero(), "a chunk of zero");
        let later = self.chunks.iter().rev().take_while(|known| known.at > chunk.at).count();
        self.chunks.insert(self.chunks.len() - later, chunk);
    }

    /// Moves the head to a later instant, behind the chunks that are then earlier.
    pub(super) fn postpone_head(&mut self, at: Time) {
        let head = self.pop();
        self.insert(Replenishment { at, ..head });
    }

    /// Merges the head and the next chunk, which must exist, into one chunk that is available from
    /// `at` on.
    pub(super) fn merge_head(&mut self, at: Time) {
        let first = self.pop();
        let second = self.head();
        self.set_head(Replenishment { at, amount: first.amount + second.amount });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Replenishment> {
        self.chunks.iter().copied()
    }
}

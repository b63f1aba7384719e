// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The write cache: host data that are not in flash yet.
//!
//! ```text
//!   room --> promised --> pending --> being programmed --> room
//! ```
//!
//! Overwriting a pending unit needs no further room.

mod flushes;

use std::collections::VecDeque;

use self::flushes::{Flushes, Round};
use super::geometry::Unit;
use super::requests::Ticket;

/// A slot in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// A unit in the cache.
#[derive(Debug, Clone, Copy)]
struct Cached {
    unit: Unit,
    /// The write that completes only when the unit is programmed, if any.
    waiter: Option<Ticket>,
    round: Round,
    is_pending: bool,
}

/// A unit that was programmed, and the write that waits for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Released {
    pub(super) unit: Unit,
    pub(super) waiter: Option<Ticket>,
}

/// The write cache.
///
/// # Invariants
/// - A slot is free or in use; `promised` of the free ones are reserved.
/// - `pending` has the slots in use that are not being programmed, oldest first; the first
///   `forced` of them are programmed even if they do not fill a row.
#[derive(Debug, Clone)]
pub(super) struct WriteCache {
    slots: Vec<Option<Cached>>,
    free: Vec<Slot>,
    promised: u32,
    pending: VecDeque<Slot>,
    forced: usize,
    flushes: Flushes,
    /// Writes that wait for room, oldest first.
    waiting: VecDeque<Ticket>,
}

impl WriteCache {
    /// Creates an empty cache of `units` units.
    pub(super) fn new(units: u32) -> Self {
        Self {
            slots: vec![None; units as usize],
            free: (0..units).rev().map(Slot).collect(),
            promised: 0,
            pending: VecDeque::new(),
            forced: 0,
            flushes: Flushes::default(),
            waiting: VecDeque::new(),
        }
    }

    /// Queues a write that needs room.
    pub(super) fn await_room(&mut self, ticket: Ticket) {
        self.waiting.push_back(ticket);
    }

    /// Returns the write that has waited longest for room, if there is room.
    pub(super) fn next_to_admit(&self) -> Option<Ticket> {
        self.waiting.front().copied().filter(|_| self.room() > 0)
    }

    /// Reserves room for `units` units of the write that has waited longest, or for those that fit;
    /// returns the number reserved. The write stops waiting once all its units have room.
    pub(super) fn promise(&mut self, units: u32) -> u32 {
        let promised = units.min(self.room());
        self.promised += promised;
        if promised == units {
            self.waiting.pop_front();
        }
        promised
    }

    fn room(&self) -> u32 {
        u32::try_from(self.free.len()).expect("as many as slots") - self.promised
    }

    /// Returns whether writes wait for room.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the number of units in the cache that are not being programmed.
    pub(super) fn pending_count(&self) -> u32 {
        u32::try_from(self.pending.len()).expect("as many as slots")
    }

    /// Puts a unit into reserved room.
    pub(super) fn insert(&mut self, unit: Unit, waiter: Option<Ticket>) -> Slot {
        self.promised -= 1;
        let slot = self.free.pop().expect("room was promised");
        let round = self.flushes.enter();
        self.slots[slot.0 as usize] = Some(Cached { unit, waiter, round, is_pending: true });
        self.pending.push_back(slot);
        slot
    }

    /// Overwrites a unit in its slot if it is pending, which frees the reserved room; returns
    /// whether it did. Writes that wait for the slot to be programmed keep waiting.
    pub(super) fn overwrite(&mut self, slot: Slot) -> bool {
        let is_possible = self.cached(slot).is_pending;
        self.promised -= u32::from(is_possible);
        is_possible
    }

    /// Marks all pending units to be programmed even if they do not fill a row.
    pub(super) fn force(&mut self) {
        self.forced = self.pending.len();
    }

    pub(super) fn is_forced(&self) -> bool {
        self.forced > 0
    }

    /// Takes the oldest pending unit for programming.
    ///
    /// # Panics
    /// If nothing is pending.
    pub(super) fn take_pending(&mut self) -> Slot {
        let slot = self.pending.pop_front().expect("something is pending");
        self.forced = self.forced.saturating_sub(1); // possibly none is forced
        self.slots[slot.0 as usize].as_mut().expect("in use").is_pending = false;
        slot
    }

    /// Frees the slot of a unit that was programmed.
    pub(super) fn release(&mut self, slot: Slot) -> Released {
        let Cached { unit, waiter, round, .. } = self.cached(slot);
        self.slots[slot.0 as usize] = None;
        self.free.push(slot);
        self.flushes.leave(round);
        Released { unit, waiter }
    }

    fn cached(&self, slot: Slot) -> Cached {
        self.slots[slot.0 as usize].expect("a slot in use")
    }

    /// Begins a flush: it completes when the present content of the cache has been programmed.
    pub(super) fn flush(&mut self, ticket: Ticket) {
        self.force();
        self.flushes.begin(ticket);
    }

    /// Removes a completed flush.
    pub(super) fn flushed(&mut self) -> Option<Ticket> {
        self.flushes.take_complete()
    }

    /// Checks that every slot is free or in use.
    ///
    /// # Panics
    /// If a slot is neither or both.
    pub(super) fn audit(&self) {
        let used = self.slots.iter().flatten().count();
        assert_eq!(used + self.free.len(), self.slots.len(), "slots of the cache");
        let is_pending = |slot: &Slot| self.cached(*slot).is_pending;
        assert!(self.pending.iter().all(is_pending), "a slot is pending and programmed");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tracks the units that each flush waits for.
//!
//! Units enter the cache in rounds; a flush ends the round. The flush is complete when all units
//! of its round and of earlier rounds have left, in any order.

use std::collections::VecDeque;

use super::super::requests::Ticket;

/// The interval between two flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Round(u64);

#[derive(Debug, Clone, Default)]
struct Units {
    count: u32,
    /// The flush that ended the round; `None` for the present round.
    ended_by: Option<Ticket>,
}

/// The rounds that are not complete.
///
/// # Invariants
/// - The last round is the present one and always exists; all rounds before it have ended.
#[derive(Debug, Clone)]
pub(super) struct Flushes {
    first: Round,
    rounds: VecDeque<Units>,
}

impl Default for Flushes {
    fn default() -> Self {
        Self { first: Round::default(), rounds: VecDeque::from([Units::default()]) }
    }
}

impl Flushes {
    fn units_mut(&mut self, round: Round) -> &mut Units {
        let index = usize::try_from(round.0 - self.first.0).expect("at most K flushes");
        &mut self.rounds[index]
    }

    /// Records that a unit enters the cache.
    pub(super) fn enter(&mut self) -> Round {
        let present = self.rounds.len() as u64 - 1;
        let round = Round(self.first.0 + present);
        self.units_mut(round).count += 1;
        round
    }

    /// Records that a unit of `round` leaves the cache.
    pub(super) fn leave(&mut self, round: Round) {
        self.units_mut(round).count -= 1;
    }

    /// Ends the present round with a flush.
    pub(super) fn begin(&mut self, ticket: Ticket) {
        self.rounds.back_mut().expect("there is a present round").ended_by = Some(ticket);
        self.rounds.push_back(Units::default());
    }

    /// Removes the oldest flush if all units for which it waited have left.
    pub(super) fn take_complete(&mut self) -> Option<Ticket> {
        let ticket = self.rounds.front().filter(|units| units.count == 0)?.ended_by?;
        self.rounds.pop_front();
        self.first.0 += 1;
        Some(ticket)
    }
}

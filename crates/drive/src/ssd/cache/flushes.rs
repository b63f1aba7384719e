// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which flush waits for what.
//!
//! Units enter the cache in rounds; a flush ends the round. It is complete when all units of
//! its round and of those before have left, in whatever order they do.

use std::collections::VecDeque;

use super::super::requests::Ticket;

/// The time between two flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Round(u64);

#[derive(Debug, Clone, Default)]
struct Units {
    count: u32,
    /// What ended the round; none: it is the present one.
    ended_by: Option<Ticket>,
}

/// Rounds that are not over.
///
/// # Invariants
/// - There is at least the present round, the last; all before it were ended.
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

    /// A unit enters the cache.
    pub(super) fn enter(&mut self) -> Round {
        let present = self.rounds.len() as u64 - 1;
        let round = Round(self.first.0 + present);
        self.units_mut(round).count += 1;
        round
    }

    /// A unit of a round leaves the cache.
    pub(super) fn leave(&mut self, round: Round) {
        self.units_mut(round).count -= 1;
    }

    /// A flush ends the present round.
    pub(super) fn begin(&mut self, ticket: Ticket) {
        self.rounds.back_mut().expect("there is a present round").ended_by = Some(ticket);
        self.rounds.push_back(Units::default());
    }

    /// Takes out the oldest flush if all that it waited for has left.
    pub(super) fn take_complete(&mut self) -> Option<Ticket> {
        let ticket = self.rounds.front().filter(|units| units.count == 0)?.ended_by?;
        self.rounds.pop_front();
        self.first.0 += 1;
        Some(ticket)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which flush makes which requests durable.
//!
//! Of each batch, the writes that must be durable and the flushes that clients asked for share
//! one flush, sent when those writes are done. A flush covers what came back before it was sent,
//! so it may come later than it was asked for, never sooner.

use std::collections::HashMap;

use tidegate_model::RequestId;

/// Names of flushes are told from those of requests by this bit.
const FLUSH: u64 = 1 << 63;

#[derive(Debug, Default)]
struct Round {
    members: Vec<RequestId>,
    writes_left: usize,
}

/// Batches with something to make durable; see the module's text.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// That of the batch that is being formed.
    forming: Round,
    under_way: HashMap<u64, Round>,
    /// Rounds of writes that are not done.
    of_write: HashMap<RequestId, u64>,
    next: u64,
}

impl Rounds {
    /// Whether nothing waits for a flush.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// A request of the batch that is being formed asks for durability.
    pub(crate) fn add(&mut self, id: RequestId, is_flush: bool) {
        self.forming.members.push(id);
        if !is_flush {
            self.forming.writes_left += 1;
            self.of_write.insert(id, self.next);
        }
    }

    /// The batch is complete; the name of its flush if that may be sent at once.
    pub(crate) fn close(&mut self) -> Option<RequestId> {
        if self.forming.members.is_empty() {
            return None;
        }
        let round = std::mem::take(&mut self.forming);
        let (number, is_ready) = (self.next, round.writes_left == 0);
        self.next += 1;
        self.under_way.insert(number, round);
        is_ready.then_some(RequestId(FLUSH | number))
    }

    /// A write is done; the name of its batch's flush if it was the last.
    pub(crate) fn written(&mut self, id: RequestId) -> Option<RequestId> {
        let number = self.of_write.remove(&id).expect("a durable write has a round");
        let round = self.under_way.get_mut(&number).expect("a round outlives its writes");
        round.writes_left -= 1;
        (round.writes_left == 0).then_some(RequestId(FLUSH | number))
    }

    /// What was made durable by the flush of that name; none if it is no flush.
    pub(crate) fn flushed(&mut self, id: RequestId) -> Option<Vec<RequestId>> {
        let number = id.0.checked_sub(FLUSH)?;
        let round = self.under_way.remove(&number).expect("a flush comes back once");
        Some(round.members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flush_follows_the_last_write_of_its_batch() {
        let mut rounds = Rounds::default();
        let [first, second, asked] = [1, 2, 3].map(RequestId);
        rounds.add(first, false);
        rounds.add(asked, true);
        rounds.add(second, false);
        assert_eq!(rounds.close(), None);
        assert_eq!(rounds.written(second), None);
        let flush = rounds.written(first).expect("both are written");
        assert_eq!(rounds.flushed(first), None);
        assert_eq!(rounds.flushed(flush), Some(vec![first, asked, second]));
        assert!(rounds.is_empty());
    }

    #[test]
    fn a_flush_alone_is_sent_at_once_and_a_batch_without_needs_none() {
        let mut rounds = Rounds::default();
        assert_eq!(rounds.close(), None);
        rounds.add(RequestId(7), true);
        let flush = rounds.close().expect("nothing to wait for");
        assert_eq!(rounds.flushed(flush), Some(vec![RequestId(7)]));
    }
}

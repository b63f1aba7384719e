// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What real-time requests wait in, and the simplest of it: a bounded first-in first-out
//! queue of request names, shared by the FIFO policies.

use std::collections::VecDeque;

use tidegate_model::{BatchCost, Plan, Request, RequestId};

use crate::Full;

/// Real-time requests that are released and not dispatched, in the order of a policy, bounded.
pub(crate) trait RealTimeQueue {
    /// Takes a request in, or answers [`Full`].
    fn push(&mut self, request: &Request) -> Result<(), Full>;

    /// Takes out the one that goes next.
    fn pop(&mut self) -> Option<RequestId>;

    /// Removes a request from anywhere; whether it was there. O(queued).
    fn cancel(&mut self, id: RequestId) -> bool;

    /// A smaller bound than what is queued loses nothing: it only refuses what comes.
    fn reconfigure(&mut self, plan: &Plan);

    /// How many are queued.
    fn len(&self) -> u32;

    /// What of those that go next one batch may hold: at most `most` requests, limited by cost as
    /// well where the queue knows what its requests cost.
    fn prefix(&self, most: u32, cost: Option<&BatchCost>) -> Prefix {
        assert!(cost.is_none(), "only batches in order of release are limited by cost");
        Prefix { count: self.len().min(most), cost_ns: 0 }
    }
}

/// The requests that go next, so many of them, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) count: u32,
    /// In ns; 0 where nothing is limited by cost.
    pub(crate) cost_ns: u64,
}

/// Requests that are released and not dispatched, oldest first, at most `queued_max`.
#[derive(Debug)]
pub(crate) struct FifoQueue {
    requests: VecDeque<RequestId>,
    queued_max: u32,
}

impl FifoQueue {
    /// An empty queue. Room grows on demand up to the bound and is then kept.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { requests: VecDeque::new(), queued_max }
    }

    pub(crate) fn push(&mut self, id: RequestId) -> Result<(), Full> {
        if self.requests.len() >= self.queued_max as usize {
            return Err(Full);
        }
        self.requests.push_back(id);
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Option<RequestId> {
        self.requests.pop_front()
    }

    /// Removes a request from anywhere in the queue; whether it was there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> bool {
        let position = self.requests.iter().position(|&queued| queued == id);
        position.and_then(|position| self.requests.remove(position)).is_some()
    }

    /// A smaller bound than what is queued loses nothing: it only refuses what comes.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of queues for real-time requests, and its simplest implementation: a bounded
//! first-in first-out queue of request ids, shared by the FIFO policies.

use std::collections::VecDeque;

use tidegate_model::{BatchCost, Plan, Request, RequestId};

use crate::Full;

/// A bounded queue of released, undispatched real-time requests in the order of a policy.
pub(crate) trait RealTimeQueue {
    /// Adds a request, or returns [`Full`].
    fn push(&mut self, request: &Request) -> Result<(), Full>;

    /// Removes and returns the next request.
    fn pop(&mut self) -> Option<RequestId>;

    /// Removes a request from anywhere in the queue and returns whether it was there. O(queued).
    fn cancel(&mut self, id: RequestId) -> bool;

    /// Applies a plan's bound. If the queue is already longer, it drops nothing and only refuses
    /// new requests.
    fn reconfigure(&mut self, plan: &Plan);

    /// Returns the number of queued requests.
    fn len(&self) -> u32;

    /// Returns the part of the queue's front that one batch may hold: at most `most` requests, also
    /// limited by cost if the queue knows its requests' costs.
    fn prefix(&self, most: u32, cost: Option<&BatchCost>) -> Prefix {
        assert!(cost.is_none(), "only batches in order of release are limited by cost");
        Prefix { count: self.len().min(most), cost_ns: 0 }
    }
}

/// The number and the cost of the requests at a queue's front.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) count: u32,
    /// The cost in ns; 0 if batches are not limited by cost.
    pub(crate) cost_ns: u64,
}

/// A queue of released, undispatched requests, oldest first, at most `queued_max`.
#[derive(Debug)]
pub(crate) struct FifoQueue {
    requests: VecDeque<RequestId>,
    queued_max: u32,
}

impl FifoQueue {
    /// Returns an empty queue. It grows on demand up to the bound and keeps its capacity.
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

    /// Removes a request from anywhere in the queue and returns whether it was there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> bool {
        let position = self.requests.iter().position(|&queued| queued == id);
        position.and_then(|position| self.requests.remove(position)).is_some()
    }

    /// Sets the bound. If the queue is already longer, it drops nothing and only refuses new
    /// requests.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A bounded first-in first-out queue that keeps each request's operation and size, so that batches
//! can be limited by cost.
//!
//! The queue does not keep the cost itself, because a new plan may charge queued requests
//! differently.

use std::collections::VecDeque;

use tidegate_model::{BatchCost, Bytes, Op, Plan, Request, RequestId};

use crate::Full;
use crate::queue::{Prefix, RealTimeQueue};

/// A waiting request.
#[derive(Debug, Clone, Copy)]
struct Queued {
    id: RequestId,
    op: Op,
    size: Bytes,
}

/// A queue of released, undispatched requests, oldest first, at most `queued_max`.
#[derive(Debug)]
pub(crate) struct KindQueue {
    requests: VecDeque<Queued>,
    queued_max: u32,
}

impl KindQueue {
    /// Returns an empty queue. It grows on demand up to the bound and keeps its capacity.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { requests: VecDeque::new(), queued_max }
    }

    /// Returns the oldest requests, at most `most`, that together cost at most `room_ns`.
    ///
    /// # Complexity
    /// O(log sizes) per request that fits, and for one more.
    fn within(&self, most: u32, room_ns: u64, cost: &BatchCost) -> Prefix {
        let mut prefix = Prefix::default();
        for queued in self.requests.iter().take(most as usize) {
            let charged = prefix.cost_ns.checked_add(cost.charge_ns(queued.op, queued.size));
            let Some(cost_ns) = charged.filter(|&cost_ns| cost_ns <= room_ns) else { break };
            prefix = Prefix { count: prefix.count + 1, cost_ns };
        }
        prefix
    }
}

impl RealTimeQueue for KindQueue {
    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.requests.len() >= self.queued_max as usize {
            return Err(Full);
        }
        let &Request { id, op, size, .. } = request;
        self.requests.push_back(Queued { id, op, size });
        Ok(())
    }

    fn pop(&mut self) -> Option<RequestId> {
        self.requests.pop_front().map(|queued| queued.id)
    }

    fn cancel(&mut self, id: RequestId) -> bool {
        let position = self.requests.iter().position(|queued| queued.id == id);
        position.and_then(|position| self.requests.remove(position)).is_some()
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.queued_max = plan.queued_max;
    }

    fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("bounded by queued_max")
    }

    fn prefix(&self, most: u32, cost: Option<&BatchCost>) -> Prefix {
        let Some(cost) = cost else {
            return Prefix { count: self.len().min(most), cost_ns: 0 };
        };
        let prefix = self.within(most, cost.cost_max.ns(), cost);
        match self.requests.front() {
            // A request that costs more than Z is outside every contract; sent alone, it delays the
            // others least.
            Some(first) if prefix.count == 0 && most > 0 => {
                Prefix { count: 1, cost_ns: cost.charge_ns(first.op, first.size) }
            }
            _ => prefix,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: batches limited by cost stay within the proof's charges
//! (`docs/theory/requests-of-different-kinds.md` section 11).
//!
//! - Several real-time requests cost at most Z together.
//! - A batch that leaves a real-time request queued contains z requests, or would cost more than Z
//!   with the oldest queued request; and it contains no best effort.
//! - A batch with best effort costs at most F in total.

use std::collections::VecDeque;

use tidegate_model::{BatchCost, Plan, Request, RequestId, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that batches stay within their cost; see the module documentation.
#[derive(Debug)]
pub struct CostKept {
    cost: BatchCost,
    batch_max: u64,
    /// The maximum number of requests that a policy can hold; the host holds back any others.
    queued_max: usize,
    /// Waiting real-time requests, oldest first, with their cost.
    waiting: VecDeque<(RequestId, u64)>,
    log: ViolationLog,
}

impl CostKept {
    /// Creates the checker of a plan that limits batches by cost; `None` for other plans.
    pub fn of(plan: &Plan) -> Option<Self> {
        Some(Self {
            cost: plan.batch_cost.clone()?,
            batch_max: u64::from(plan.batch_max),
            queued_max: plan.queued_max as usize,
            waiting: VecDeque::new(),
            log: ViolationLog::default(),
        })
    }

    fn charge_ns(&self, request: &Request) -> u64 {
        self.cost.charge_ns(request.op, request.size)
    }

    fn forget(&mut self, request: &Request) {
        self.waiting.retain(|&(waiting, _)| waiting != request.id);
    }

    /// Returns the total cost of these requests.
    fn sum_ns<'a>(&self, requests: impl Iterator<Item = &'a Request>) -> u64 {
        requests.map(|request| self.charge_ns(request)).sum()
    }
}

keeps_log!(CostKept);

impl Observer for CostKept {
    fn released(&mut self, _now: Time, request: &Request) {
        if !is_best_effort(request) {
            let charge_ns = self.charge_ns(request);
            self.waiting.push_back((request.id, charge_ns));
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let are_all_told = self.waiting.len() <= self.queued_max;
        for request in batch {
            self.forget(request);
        }
        let (filling, real_time): (Vec<Request>, Vec<Request>) =
            batch.iter().copied().partition(is_best_effort);
        let real_time_ns = self.sum_ns(real_time.iter());
        let cost_ns = real_time_ns + self.sum_ns(filling.iter());
        let cost_ns_max = match (real_time.len(), filling.is_empty()) {
            (_, false) => self.cost.best_effort_fill.ns(),
            // One request is dispatched at any cost.
            (0 | 1, true) => u64::MAX,
            (_, true) => self.cost.cost_max.ns(),
        };
        if cost_ns > cost_ns_max {
            self.log.add(now, Breach::BatchTooDear { cost_ns, cost_ns_max });
        }
        let left = self.waiting.front().filter(|_| are_all_told).copied();
        let Some((waiting, next_ns)) = left else { return };
        let is_full = count(real_time.len()) >= self.batch_max
            || real_time_ns.saturating_add(next_ns) > self.cost.cost_max.ns();
        if !is_full || !filling.is_empty() {
            self.log.add(now, Breach::BatchCutShort { waiting, cost_ns: real_time_ns });
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }
}

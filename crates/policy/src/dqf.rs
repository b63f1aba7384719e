// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `dqf`: dual-queue FIFO.
//!
//! Rule: requests wait in the host's FIFO. A batch of at most z of the oldest requests goes to the
//! drive only when the drive is idle. Best effort has its own queue and fills a batch that holds j
//! real-time requests up to f(j) = max(j, beta) in total. It therefore never delays a batch and
//! costs no more than the proof charged. A plan may also limit batches by cost. `dual_queue` forms
//! the batches.
//!
//! Source: dissertation chapter 9 (definition: 9.2.2); best effort:
//! `docs/theory/dual-queue-fifo.md` section 5. Bounds: `tidegate_analysis::dqf`, by cost
//! `tidegate_analysis::cost_limited`.

use tidegate_model::{Plan, Time};

use crate::dual_queue::DualQueue;
use crate::kind_queue::KindQueue;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy};

/// Dual-queue FIFO; see the module documentation.
#[derive(Debug)]
pub struct Dqf {
    batches: DualQueue<KindQueue>,
}

impl Dqf {
    /// Returns a policy with batches of at most `batch_max` (z) requests, filled with best effort
    /// up to `best_effort_fill` (beta) requests. It holds at most `queued_max` requests of each
    /// kind. With beta = 0 best effort is never served: the proof allows none.
    ///
    /// # Panics
    /// If `batch_max` is 0 or `best_effort_fill` exceeds it.
    pub fn new(batch_max: u32, best_effort_fill: u32, queued_max: u32) -> Self {
        let real_time = KindQueue::new(queued_max);
        Self { batches: DualQueue::new(real_time, batch_max, best_effort_fill, queued_max) }
    }

    /// Returns the policy for `plan`. After a batch that takes longer than the plan's table says,
    /// best effort is held back for as long as the batch was late. If the plan limits batches by
    /// cost, A and the costs replace the table.
    pub fn of(plan: &Plan) -> Self {
        let mut policy = Self::new(plan.batch_max, plan.best_effort_fill, plan.queued_max);
        policy.batches.mind_overruns(plan.table.clone());
        policy.batches.limit_cost(plan.batch_cost.clone());
        policy
    }

    /// Returns whether the next round may begin a batch.
    pub(crate) fn is_idle(&self) -> bool {
        self.batches.is_idle()
    }

    /// Returns the number of real-time requests that wait for a batch.
    pub(crate) fn real_time_queued(&self) -> u32 {
        self.batches.real_time_queued()
    }

    /// Sets z, which must be at least beta, from the next batch on.
    pub(crate) fn set_batch_max(&mut self, batch_max: u32) {
        self.batches.set_batch_max(batch_max);
    }
}

impl OrdersBestEffort for Dqf {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.batches.best_effort_mut()
    }
}

impl Policy for Dqf {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.batches.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.batches.decide(now)
    }
}

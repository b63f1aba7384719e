// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `dq-edf`: dual-queue EDF, which forms batches in order of deadline.
//!
//! Rule: requests wait in the host in order of their absolute deadlines, ties in order of release.
//! A batch of at most z requests with the earliest deadlines goes to the drive only when the drive
//! is idle. Best effort fills batches up to beta as in `dqf`; `dual_queue` forms the batches.
//!
//! Source: the extension that the dissertation proposes in 9.5. `tidegate_analysis::dq_edf` gives
//! the bound and says when this policy helps. While every pending request fits into a batch, this
//! policy behaves like `dqf`.

use tidegate_model::{Plan, Time};

use crate::dual_queue::DualQueue;
use crate::edf::DueQueue;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy};

/// Dual-queue EDF; see the module documentation.
#[derive(Debug)]
pub struct DqEdf {
    batches: DualQueue<DueQueue>,
}

impl DqEdf {
    /// Returns a policy with batches of at most `batch_max` (z) requests, filled with best effort
    /// up to `best_effort_fill` (beta) requests. It holds at most `queued_max` requests of each
    /// kind. With beta = 0 best effort is never served: the proof allows none.
    ///
    /// # Panics
    /// If `batch_max` is 0 or `best_effort_fill` exceeds it.
    pub fn new(batch_max: u32, best_effort_fill: u32, queued_max: u32) -> Self {
        let real_time = DueQueue::new(queued_max);
        Self { batches: DualQueue::new(real_time, batch_max, best_effort_fill, queued_max) }
    }

    /// Returns the policy for `plan`. After a batch that takes longer than the plan's table says,
    /// best effort is held back for as long as the batch was late.
    pub fn of(plan: &Plan) -> Self {
        let mut policy = Self::new(plan.batch_max, plan.best_effort_fill, plan.queued_max);
        policy.batches.mind_overruns(plan.table.clone());
        policy
    }
}

impl OrdersBestEffort for DqEdf {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.batches.best_effort_mut()
    }
}

impl Policy for DqEdf {
    fn observe(&mut self, now: Time, mut event: Event) -> Result<(), Full> {
        if let Event::Reconfigure(plan) = &mut event {
            // Only batches in release order can be limited by cost.
            plan.batch_cost = None;
        }
        self.batches.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.batches.decide(now)
    }
}

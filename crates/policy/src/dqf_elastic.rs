// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `dqf-elastic`: dual-queue FIFO whose batches grow while an overload lasts.
//!
//! Rule: `dqf` with z, as long as no more real-time requests are queued than the contracts allow. A
//! longer queue is an overload. During an overload a batch takes all queued requests, at most as
//! many as the batch table and the drive's depth allow, until one batch takes the last of them.
//!
//! ```text
//!             more than N queued
//!   Usual z ----------------------> batches up to the table's end --+
//!      ^                                                            |
//!      +---------- a batch takes all queued requests ---------------+
//! ```
//!
//! Source: dissertation 9.3.4 and 10.4, which propose it without saying when to grow.

use tidegate_model::{Plan, Time};

use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Dqf, Event, Full, Policy};

/// Dual-queue FIFO that grows its batches in an overload; see the module documentation.
///
/// # Bound
/// The bound of `dqf` with the same z, while tasks keep their contracts and the bounds R are within
/// the deadlines. At a round at t, the jobs released up to `t - R_i` are complete (completions are
/// observed first). So at most `N = sum e_i ceil(d_i / p_i)` real-time requests are pending, or
/// fewer if tasks limit their outstanding jobs. The first batch beyond z would need more than N.
#[derive(Debug)]
pub struct DqfElastic {
    dqf: Dqf,
    /// z: the largest number of requests in a batch while there is no overload.
    batch_max: u32,
    /// The largest number of requests in a batch during an overload: the largest size in the batch
    /// table, or the drive's depth if that is less.
    batch_max_in_overload: u32,
    /// N: more queued real-time requests than this are an overload.
    queued_max_in_contract: u64,
    is_overloaded: bool,
}

impl DqfElastic {
    /// Returns the policy for `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            // The proof covers only batches that are limited by count.
            dqf: Dqf::of(&Plan { batch_cost: None, ..plan.clone() }),
            batch_max: plan.batch_max,
            batch_max_in_overload: plan.table.batch_max().min(plan.depth),
            queued_max_in_contract: plan.real_time_pending_max(),
            is_overloaded: false,
        }
    }

    /// Returns z for the batch that an idle drive gets now.
    fn next_batch_max(&mut self) -> u32 {
        let queued = self.dqf.real_time_queued();
        self.is_overloaded |= u64::from(queued) > self.queued_max_in_contract;
        if !self.is_overloaded {
            return self.batch_max;
        }
        self.is_overloaded = queued > self.batch_max_in_overload;
        self.batch_max_in_overload
    }
}

impl OrdersBestEffort for DqfElastic {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.dqf.best_effort_mut()
    }
}

impl Policy for DqfElastic {
    fn observe(&mut self, now: Time, mut event: Event) -> Result<(), Full> {
        if let Event::Reconfigure(plan) = &mut event {
            plan.batch_cost = None;
            self.batch_max = plan.batch_max;
            self.batch_max_in_overload = plan.table.batch_max().min(plan.depth);
            self.queued_max_in_contract = plan.real_time_pending_max();
        }
        self.dqf.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.dqf.is_idle() {
            let batch_max = self.next_batch_max();
            self.dqf.set_batch_max(batch_max);
        }
        self.dqf.decide(now)
    }
}

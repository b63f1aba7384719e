// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `noop`: FIFO up to the drive's depth.
//!
//! Rule: whenever the drive holds fewer than K requests, send it the oldest. All classes share one
//! queue. The drive serves its requests in an order of its own, and new requests keep joining, so
//! no bound follows from b(i). This is the baseline: most systems use a drive with a queue this
//! way.
//!
//! Source: the Linux scheduler of the same name (now `none`), dissertation section 9.3.4.

use tidegate_model::Time;

use crate::queue::FifoQueue;
use crate::{Decision, Event, Full, Policy, Tag};

/// FIFO up to the drive's depth; see the module documentation.
///
/// # Invariants
/// - `in_flight_count` exceeds `depth` only after a `Reconfigure` to a smaller depth.
#[derive(Debug)]
pub struct Noop {
    queue: FifoQueue,
    in_flight_count: u32,
    depth: u32,
}

impl Noop {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self { queue: FifoQueue::new(queued_max), in_flight_count: 0, depth }
    }
}

impl Policy for Noop {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queue.push(request.id)?,
            Event::Complete { .. } => {
                self.in_flight_count = self
                    .in_flight_count
                    .checked_sub(1)
                    .expect("the completed request was in flight");
            }
            Event::Cancel(id) => {
                self.queue.cancel(id);
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.depth = plan.depth;
                self.queue.set_queued_max(plan.queued_max);
            }
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.in_flight_count >= self.depth {
            return Decision::AwaitEvent;
        }
        match self.queue.pop() {
            Some(id) => {
                self.in_flight_count += 1;
                Decision::Dispatch { id, tag: Tag::Simple }
            }
            None => Decision::AwaitEvent,
        }
    }
}

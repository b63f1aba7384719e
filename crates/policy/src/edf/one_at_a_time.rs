// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sends one request at a time: real-time requests in the order of a queue, and best effort in an
//! order of its own while no real-time request is queued.
//!
//! ```text
//!          something is queued
//!   idle ----------------------> busy
//!     ^                            |
//!     +----------------------------+
//!           the request completes
//! ```

use tidegate_model::{Class, Lba, Request};

use crate::order::OrderedQueue;
use crate::queue::RealTimeQueue;
use crate::{Decision, Event, Full, Tag};

/// A queue whose order may depend on the position of the drive's head.
pub(crate) trait PlacedQueue: RealTimeQueue {
    /// Records that a best-effort request, which this queue did not hold, was sent.
    fn note_sent(&mut self, _best_effort: &Request) {}
}

/// Returns the head's position after this request.
pub(crate) fn end_of(start: Lba, sectors: u64) -> Lba {
    // Saturation is intended: no drive has 2^64 sectors, so such a request ends at the last one.
    Lba::new(start.get().saturating_add(sectors))
}

/// One request at a time; see the module documentation.
#[derive(Debug)]
pub(crate) struct OneAtATime<Q> {
    real_time: Q,
    best_effort: OrderedQueue,
    is_busy: bool,
}

impl<Q: PlacedQueue> OneAtATime<Q> {
    /// Returns a state with an idle drive and at most `queued_max` best-effort requests queued.
    pub(crate) fn new(real_time: Q, queued_max: u32) -> Self {
        let best_effort = OrderedQueue::first_come(queued_max);
        Self { real_time, best_effort, is_busy: false }
    }

    /// Returns the queue of best effort.
    pub(crate) fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        &mut self.best_effort
    }

    /// Handles an event, as [`crate::Policy::observe`] describes.
    pub(crate) fn observe(&mut self, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) if request.class == Class::BestEffort => {
                self.best_effort.push(request)?;
            }
            Event::Release(request) => self.real_time.push(&request)?,
            Event::Complete { .. } => {
                assert!(self.is_busy, "completion while nothing is on the drive");
                self.is_busy = false;
            }
            Event::Cancel(id) => {
                if !self.real_time.cancel(id) {
                    self.best_effort.cancel(id);
                }
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.best_effort.set_queued_max(plan.queued_max);
                self.real_time.reconfigure(&plan);
            }
        }
        Ok(())
    }

    /// Returns the next decision, as [`crate::Policy::decide`] describes.
    pub(crate) fn decide(&mut self) -> Decision {
        if self.is_busy {
            return Decision::AwaitEvent;
        }
        let next = self.real_time.pop().or_else(|| {
            let request = self.best_effort.pop()?;
            self.real_time.note_sent(&request);
            Some(request.id)
        });
        let Some(id) = next else {
            return Decision::AwaitEvent;
        };
        self.is_busy = true;
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

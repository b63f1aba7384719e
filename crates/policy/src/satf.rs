// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `satf`: shortest access time first, one request on the drive at a time.
//!
//! Rule: whenever the drive is idle, send it the request whose data, according to a model of the
//! drive, will be under the heads first. All classes share one queue. A longer queue is better, and
//! a driver's queue may be longer than any drive's. Requests far from the heads wait while nearer
//! ones keep arriving, so there is no bound.
//!
//! Source: L. Reuther and M. Pohlack, "Using SATF Scheduling in Real-Time Systems", section 2;
//! D. Jacobson and J. Wilkes, "Disk Scheduling Algorithms Based on Rotational Position",
//! HPL-CSP-91-7, 1991.

use tidegate_model::{AccessTime, Duration, RequestId, Target, Time};

use crate::placed_queue::{Placed, PlacedQueue};
use crate::{Decision, Event, Full, Policy, Tag};

/// Shortest access time first; see the module documentation.
///
/// # Complexity
/// One estimate per queued request at each decision.
#[derive(Debug)]
pub struct Satf {
    queue: PlacedQueue,
    access: Box<dyn AccessTime>,
    in_flight: Option<(RequestId, Target)>,
    released_count: u64,
}

impl Satf {
    /// Returns a policy that holds at most `queued_max` requests; `access` models the drive.
    pub fn new(access: Box<dyn AccessTime>, queued_max: u32) -> Self {
        Self { queue: PlacedQueue::new(queued_max), access, in_flight: None, released_count: 0 }
    }

    /// Returns the index in the queue of the request with the shortest access time.
    fn soonest(&self) -> Option<usize> {
        let mut best: Option<(Duration, u64, usize)> = None;
        for (index, placed) in self.queue.as_slice().iter().enumerate() {
            let key = (self.access.access(&placed.target), placed.number, index);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(_, _, index)| index)
    }
}

impl Policy for Satf {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                let target = self.access.target(&request);
                self.queue.push(Placed { number: self.released_count, id: request.id, target })?;
                self.released_count += 1;
            }
            Event::Complete { id, .. } => {
                let (in_flight, target) = self.in_flight.take().expect("it is in flight");
                assert_eq!(in_flight, id, "the completed request was not in flight");
                self.access.completed(now, &target);
            }
            Event::Cancel(id) => self.queue.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.queue.set_queued_max(plan.queued_max),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight.is_some() {
            return Decision::AwaitEvent;
        }
        self.access.advance(now);
        let Some(index) = self.soonest() else { return Decision::AwaitEvent };
        let Placed { id, target, .. } = self.queue.take(index);
        self.access.dispatched(now, &target);
        self.in_flight = Some((id, target));
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

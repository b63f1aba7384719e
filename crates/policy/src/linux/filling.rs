// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common part of `deadline`, `mq-deadline` and `cfq-grouped`: while the drive has room it gets
//! the next request of the policy's own order, and the policy never idles.

use tidegate_model::{Request, RequestId, Time};

use super::room::Room;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// Queued requests in a policy's order.
pub(super) trait Order: Default {
    /// Adds a request.
    fn push(&mut self, now: Time, request: Request);

    /// Takes the next request; `None` if none may join the requests on the drive.
    fn pop(&mut self, now: Time, on_drive: &InFlight) -> Option<Request>;

    /// Removes and returns a request from anywhere in the queue, if it is there.
    fn cancel(&mut self, id: RequestId) -> Option<Request>;
}

/// Fills the drive in the order of `O`; see the module documentation.
#[derive(Debug)]
pub(super) struct Filling<O> {
    order: O,
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl<O: Order> Filling<O> {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub(super) fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            order: O::default(),
            room: Room::new(queued_max),
            in_flight: InFlight::with_room(depth),
            depth,
        }
    }
}

impl<O: Order> Policy for Filling<O> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.order.push(now, request);
            }
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
            }
            Event::Cancel(id) => {
                if let Some(request) = self.order.cancel(id) {
                    self.room.leave(request.class);
                }
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.depth = plan.depth;
                self.room.set_queued_max(plan.queued_max);
            }
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight.len() >= self.depth {
            return Decision::AwaitEvent;
        }
        let next = self.order.pop(now, &self.in_flight);
        let Some(request) = next else { return Decision::AwaitEvent };
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

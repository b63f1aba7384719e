// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `deadline`: a model of the Linux scheduler of that name.
//!
//! Rule: as long as the drive has room it gets the next request of the order that
//! [`super::expiring`] keeps. The "deadline" is the time after which a request is *sent*
//! out of order of position; it is the same for all, priorities are not looked at, and what
//! the drive does with the request is nobody's concern.
//!
//! Not modelled: merging, front merges, zoned devices, more than one hardware queue.
//!
//! Source: RTAS'08 section 4 and figure 12; dissertation 8.4; the kernel's documentation.

use model::Time;

use super::expiring::Expiring;
use super::room::Room;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// A model of Linux `deadline`; see the module's text.
#[derive(Debug)]
pub struct Deadline {
    queued: Expiring,
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl Deadline {
    /// A policy for a drive that accepts `depth` requests, holding at most `queued_max` of
    /// each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            queued: Expiring::default(),
            room: Room::new(queued_max),
            in_flight: InFlight::with_room(depth),
            depth,
        }
    }
}

impl Policy for Deadline {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.queued.push(now, request);
            }
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
            }
            Event::Cancel(id) => {
                if let Some(request) = self.queued.cancel(id) {
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
        let Some(request) = self.queued.pop(now) else { return Decision::AwaitEvent };
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `cfq-grouped`: Linux `cfq` as RTAS'08 patched it, two groups in place of one for each
//! thread.
//!
//! Rule: as long as the drive has room it gets a request; one of the real-time group if there
//! is any, else one of best effort; inside a group the next by rising position. Nothing
//! idles and nothing is held back, so best effort keeps joining on the drive what a real-time
//! request waits for there, sorted, hence cheaper for the drive than that request.
//!
//! Not modelled: merging, and whatever of time slices the patch left in place.
//!
//! Source: RTAS'08 section 4 and figure 14; dissertation 8.4 and figure 8.13.

use model::{Class, Time};

use super::room::Room;
use super::sorted::Sorted;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// A model of Linux `cfq` with two groups; see the module's text.
#[derive(Debug)]
pub struct CfqGrouped {
    real_time: Sorted,
    best_effort: Sorted,
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl CfqGrouped {
    /// A policy for a drive that accepts `depth` requests, holding at most `queued_max` of
    /// each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            real_time: Sorted::default(),
            best_effort: Sorted::default(),
            room: Room::new(queued_max),
            in_flight: InFlight::with_room(depth),
            depth,
        }
    }
}

impl Policy for CfqGrouped {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                match request.class {
                    Class::BestEffort => self.best_effort.push(request),
                    Class::Hard | Class::Soft | Class::Interactive => self.real_time.push(request),
                }
            }
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
            }
            Event::Cancel(id) => {
                let cancelled = self.real_time.cancel(id).or_else(|| self.best_effort.cancel(id));
                if let Some(request) = cancelled {
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

    fn decide(&mut self, _now: Time) -> Decision {
        if self.in_flight.len() >= self.depth {
            return Decision::AwaitEvent;
        }
        let next = self.real_time.pop().or_else(|| self.best_effort.pop());
        let Some(request) = next else { return Decision::AwaitEvent };
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `mq-deadline`: a model of the Linux scheduler of that name, with its priorities.
//!
//! Rule: [`super::expiring`] once for each I/O priority class. Only the highest class that has
//! a request queued or on the drive is served, unless one of a lower class has waited for
//! 10 s: so a request of the highest class drains the drive, which `deadline` never does.
//! Hard tasks are of the kernel's class "real time", soft and interactive ones of "best
//! effort", and best-effort loads "idle": the strongest separation that it offers.
//!
//! Not modelled: merging, zoned devices, the bound on asynchronous requests (`async_depth`).
//!
//! Source: the kernel's documentation of I/O priorities and of `prio_aging_expire`; that what
//! is on the drive counts is its documented behaviour since 5.15 (lower priorities are
//! ignored while requests of a higher one are pending).

use model::{Class, Duration, Request, Time};

use super::expiring::Expiring;
use super::room::Room;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// `prio_aging_expire`.
const AGING_EXPIRE: Duration = Duration::from_ms(10_000);

/// A model of Linux `mq-deadline`; see the module's text.
#[derive(Debug)]
pub struct MqDeadline {
    /// The highest priority first.
    classes: [Expiring; 3],
    room: Room,
    in_flight: InFlight,
    depth: u32,
}

impl MqDeadline {
    /// A policy for a drive that accepts `depth` requests, holding at most `queued_max` of
    /// each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self {
            classes: Default::default(),
            room: Room::new(queued_max),
            in_flight: InFlight::with_room(depth),
            depth,
        }
    }

    fn pop(&mut self, now: Time) -> Option<Request> {
        if let Some(aged) = self.pop_aged(now) {
            return Some(aged);
        }
        let queued = self.classes.iter().position(|class| !class.is_empty())?;
        let on_drive = self.in_flight.iter().map(|request| priority(request.class)).min();
        let is_preceded = on_drive.is_some_and(|on_drive| on_drive < queued);
        if is_preceded { None } else { self.classes[queued].pop(now) }
    }

    /// Of a class below the highest whose oldest request has waited too long.
    fn pop_aged(&mut self, now: Time) -> Option<Request> {
        let has_aged = |class: &Expiring| {
            class.oldest().is_some_and(|oldest| now.since(oldest) >= AGING_EXPIRE)
        };
        self.classes[1..].iter_mut().find(|class| has_aged(class))?.pop(now)
    }
}

const fn priority(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft | Class::Interactive => 1,
        Class::BestEffort => 2,
    }
}

impl Policy for MqDeadline {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.room.enter(request.class)?;
                self.classes[priority(request.class)].push(now, request);
            }
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
            }
            Event::Cancel(id) => {
                if let Some(request) = self.classes.iter_mut().find_map(|class| class.cancel(id)) {
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
        let Some(request) = self.pop(now) else { return Decision::AwaitEvent };
        self.room.leave(request.class);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

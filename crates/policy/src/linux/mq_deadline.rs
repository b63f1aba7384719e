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

use model::{Class, Duration, Request, RequestId, Time};

use super::expiring::Expiring;
use super::filling::{Filling, Order};
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy};

/// `prio_aging_expire`.
const AGING_EXPIRE: Duration = Duration::from_ms(10_000);

/// A model of Linux `mq-deadline`; see the module's text.
#[derive(Debug)]
pub struct MqDeadline(Filling<ByClass>);

impl MqDeadline {
    /// A policy for a drive that accepts `depth` requests, holding at most `queued_max` of
    /// each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self(Filling::new(depth, queued_max))
    }
}

/// The requests of each priority class, the highest first.
#[derive(Debug, Default)]
struct ByClass([Expiring; 3]);

impl ByClass {
    /// Of a class below the highest whose oldest request has waited too long.
    fn pop_aged(&mut self, now: Time, on_drive: &InFlight) -> Option<Request> {
        let has_aged = |class: &Expiring| {
            class.oldest().is_some_and(|oldest| now.since(oldest) >= AGING_EXPIRE)
        };
        self.0[1..].iter_mut().find(|class| has_aged(class))?.pop(now, on_drive)
    }
}

impl Order for ByClass {
    fn push(&mut self, now: Time, request: Request) {
        self.0[priority(request.class)].push(now, request);
    }

    fn pop(&mut self, now: Time, on_drive: &InFlight) -> Option<Request> {
        if let Some(aged) = self.pop_aged(now, on_drive) {
            return Some(aged);
        }
        let queued = self.0.iter().position(|class| !class.is_empty())?;
        let highest = on_drive.iter().map(|request| priority(request.class)).min();
        let is_preceded = highest.is_some_and(|highest| highest < queued);
        if is_preceded { None } else { self.0[queued].pop(now, on_drive) }
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.0.iter_mut().find_map(|class| class.cancel(id))
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
        self.0.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `mq-deadline`: a model of the Linux scheduler of the same name, with its priorities.
//!
//! Rule: each I/O priority class keeps its requests by position and by arrival, as in
//! [`super::expiring`]. The current batch, its direction and the count of starved writes are shared
//! by all classes. A class is served only while no higher one has a request queued or on the drive:
//! so a request of the highest class drains the drive, which `deadline` never does.
//!
//! Before it applies this rule, and while several classes have requests, the policy looks at the
//! next request of each class but the highest, and sends it if it arrived at least 10 s ago. The
//! next request is the next one by position, or the oldest if that has expired when a batch ends;
//! the 10 s count from the arrival of that request itself. A batch that was begun for a request
//! that had not aged stays current.
//!
//! Hard tasks are in the kernel's class "real time", soft and interactive ones in "best effort",
//! and best-effort loads in "idle": the strongest separation that it offers.
//!
//! Not modelled: merging, zoned devices, the bound on asynchronous requests (`async_depth`),
//! insertion at the head, jiffies.
//!
//! Source: `block/mq-deadline.c` of recent Linux kernels, which age individual requests and share
//! one batch among all classes (older ones did neither); the kernel's documentation of I/O
//! priorities and of `prio_aging_expire`.

use tidegate_model::{Class, Duration, Request, RequestId, Time};

use super::expiring::{Batch, Directions};
use super::filling::{Filling, Order};
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy};

/// The kernel's `prio_aging_expire`: the wait after which a request of a lower class is sent first.
const AGING_EXPIRE: Duration = Duration::from_ms(10_000);

/// A model of Linux `mq-deadline`; see the module documentation.
#[derive(Debug)]
pub struct MqDeadline(Filling<ByClass>);

impl MqDeadline {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self(Filling::new(depth, queued_max))
    }
}

/// The requests of each priority class, the highest first, and the batch that they share.
#[derive(Debug)]
pub(super) struct ByClass {
    classes: [Directions; 3],
    batch: Batch,
    /// The kernel's `prio_aging_expire`: the wait after which a request of a lower class is sent
    /// first.
    aging_expire: Duration,
    /// The function that gives the index of a class in `classes`.
    priority: fn(Class) -> usize,
}

impl Default for ByClass {
    fn default() -> Self {
        Self::new(AGING_EXPIRE, priority)
    }
}

impl ByClass {
    /// Returns empty queues.
    pub(super) fn new(aging_expire: Duration, priority: fn(Class) -> usize) -> Self {
        let (classes, batch) = (Default::default(), Batch::of_writes());
        Self { classes, batch, aging_expire, priority }
    }

    /// Returns empty queues in which the next request is found as Linux 6.1 does.
    pub(super) fn remembering(aging_expire: Duration, priority: fn(Class) -> usize) -> Self {
        let classes = std::array::from_fn(|_| Directions::remembering());
        Self { classes, ..Self::new(aging_expire, priority) }
    }

    /// Changes the age from which a request of a lower class is sent first.
    pub(super) const fn set_aging_expire(&mut self, aging_expire: Duration) {
        self.aging_expire = aging_expire;
    }

    /// Takes the next request; `None` if none may join the requests that have left the queues and
    /// are not complete.
    pub(super) fn pop_beside<'a, I: Iterator<Item = &'a Request>>(
        &mut self,
        now: Time,
        outstanding: impl Fn() -> I,
    ) -> Option<Request> {
        let is_outstanding = [0, 1, 2].map(|class| {
            !self.classes[class].is_empty()
                || outstanding().any(|request| (self.priority)(request.class) == class)
        });
        if let Some(aged) = self.pop_aged(now, is_outstanding) {
            return Some(aged);
        }
        let highest = is_outstanding.into_iter().position(|is_outstanding| is_outstanding)?;
        self.batch.pop(&mut self.classes[highest], now, Some(now))
    }

    /// Takes the next request of a class below the highest, if it has waited too long.
    fn pop_aged(&mut self, now: Time, is_outstanding: [bool; 3]) -> Option<Request> {
        if is_outstanding.into_iter().filter(|&is_outstanding| is_outstanding).count() < 2 {
            return None;
        }
        let latest = now.ns().checked_sub(self.aging_expire.ns()).map(Time::from_ns);
        let Self { classes, batch, .. } = self;
        classes[1..].iter_mut().find_map(|class| batch.pop(class, now, latest))
    }
}

impl Order for ByClass {
    fn push(&mut self, now: Time, request: Request) {
        self.classes[(self.priority)(request.class)].push(now, request);
    }

    fn pop(&mut self, now: Time, on_drive: &InFlight) -> Option<Request> {
        self.pop_beside(now, || on_drive.iter())
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.classes.iter_mut().find_map(|class| class.cancel(id))
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

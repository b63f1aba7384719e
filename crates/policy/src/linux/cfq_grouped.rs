// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `cfq-grouped`: Linux `cfq` with the patch of RTAS'08, which keeps two groups of requests instead
//! of a queue per thread.
//!
//! Rule: while the drive has room it gets a request, from the real-time group if that has any,
//! otherwise from best effort; within a group, the next in ascending order of position. The policy
//! never idles and holds nothing back. While a real-time request waits on the drive, best-effort
//! requests therefore keep joining it there; they are sorted, and therefore cheaper for the drive
//! than that request.
//!
//! Not modelled: merging, and the parts of time slices that the patch left in place.
//!
//! Source: RTAS'08 section 4 and figure 14; dissertation 8.4 and figure 8.13.

use tidegate_model::{Class, Request, RequestId, Time};

use super::filling::{Filling, Order};
use super::sorted::Sorted;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy};

/// A model of Linux `cfq` with two groups; see the module documentation.
#[derive(Debug)]
pub struct CfqGrouped(Filling<Groups>);

impl CfqGrouped {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self(Filling::new(depth, queued_max))
    }
}

/// The requests of each group, by position.
#[derive(Debug, Default)]
struct Groups {
    real_time: Sorted,
    best_effort: Sorted,
}

impl Order for Groups {
    fn push(&mut self, _now: Time, request: Request) {
        match request.class {
            Class::BestEffort => self.best_effort.push(request),
            Class::Hard | Class::Soft | Class::Interactive => self.real_time.push(request),
        }
    }

    fn pop(&mut self, _now: Time, _on_drive: &InFlight) -> Option<Request> {
        self.real_time.pop().or_else(|| self.best_effort.pop())
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.real_time.cancel(id).or_else(|| self.best_effort.cancel(id))
    }
}

impl Policy for CfqGrouped {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.0.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

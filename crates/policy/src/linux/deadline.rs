// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `deadline`: a model of the Linux scheduler of the same name.
//!
//! Rule: while the drive has room it gets the next request in the order that [`super::expiring`]
//! keeps. The "deadline" is the time after which a request is *sent* out of position order. It is
//! the same for all requests, priorities are ignored, and it does not bound the time on the drive.
//!
//! Not modelled: merging, front merges, zoned devices, more than one hardware queue.
//!
//! Source: RTAS'08 section 4 and figure 12; dissertation 8.4; the kernel's documentation.

use tidegate_model::Time;

use super::expiring::Expiring;
use super::filling::Filling;
use crate::{Decision, Event, Full, Policy};

/// A model of Linux `deadline`; see the module documentation.
#[derive(Debug)]
pub struct Deadline(Filling<Expiring>);

impl Deadline {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub fn new(depth: u32, queued_max: u32) -> Self {
        Self(Filling::new(depth, queued_max))
    }
}

impl Policy for Deadline {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.0.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

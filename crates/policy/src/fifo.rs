// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `fifo`: first in, first out, one request on the drive at a time.
//!
//! Rule: whenever the drive is idle, send it the oldest request of any class. The drive never has a
//! choice, so every request costs at most b(1), and the drive's own scheduling gains nothing. With
//! equal relative deadlines this is also non-preemptive EDF. Bound: `tidegate_analysis::fifo`.

use tidegate_model::Time;

use crate::{Decision, Event, Full, Noop, Policy};

/// One request at a time in release order; see the module documentation.
#[derive(Debug)]
pub struct Fifo {
    /// FIFO with a depth of one.
    one_at_a_time: Noop,
}

impl Fifo {
    /// Returns a policy that holds at most `queued_max` requests.
    pub fn new(queued_max: u32) -> Self {
        Self { one_at_a_time: Noop::new(1, queued_max) }
    }
}

impl Policy for Fifo {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        if let Event::Reconfigure(mut plan) = event {
            plan.depth = 1;
            return self.one_at_a_time.observe(now, Event::Reconfigure(plan));
        }
        self.one_at_a_time.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.one_at_a_time.decide(now)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A wrapper around a policy that can record, change, add or withhold the events from the host.

use tidegate_model::Time;
use tidegate_policy::{Decision, Event, Full, Policy};

/// Passes each event to a function, which decides what the inner policy observes. Decisions are the
/// inner policy's.
#[derive(Debug)]
pub struct Between<P, F> {
    /// The inner policy.
    pub inner: P,
    /// Called for each event with the inner policy, the instant and the event.
    pub observe: F,
}

impl<P, F> Policy for Between<P, F>
where
    P: Policy,
    F: FnMut(&mut P, Time, Event) -> Result<(), Full>,
{
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        (self.observe)(&mut self.inner, now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.inner.decide(now)
    }
}

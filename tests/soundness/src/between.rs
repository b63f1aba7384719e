// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A policy between the host and another policy, which may hear, change, add or withhold events.

use tidegate_model::Time;
use tidegate_policy::{Decision, Event, Full, Policy};

/// Passes each event to a function instead of the inner policy; decides as the inner policy.
#[derive(Debug)]
pub struct Between<P, F> {
    /// The inner policy.
    pub inner: P,
    /// Gets the inner policy, the instant and the event.
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

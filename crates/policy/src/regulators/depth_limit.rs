// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `depth-limit`: no more than so many requests on the drive.
//!
//! Rule: the wrapped policy is told of a drive that accepts no more than the limit, so it is
//! the policy that decides what waits. A regulator that held back what a policy had dispatched
//! already would tear its batches apart and leave it with a wrong idea of the drive.
//!
//! Source: RTAS'08 section 3.4, which limits the effective depth of the drive's queue.

use std::num::NonZeroU32;

use tidegate_model::{Plan, Time};

use crate::{Decision, Event, Full, Policy};

/// A drive that seems smaller; see the module's text.
///
/// # Assumptions
/// The wrapped policy keeps to the depths and the batch size of its plan, as every policy of
/// this crate does.
#[derive(Debug)]
pub struct DepthLimit<P> {
    inner: P,
}

impl<P: Policy> DepthLimit<P> {
    /// `inner`, which has seen nothing yet, under the limit that the plan's parameters name.
    ///
    /// # Panics
    /// When `inner` answers `Full` to a new plan, which no policy may.
    pub fn new(mut inner: P, plan: &Plan) -> Self {
        let event = Event::Reconfigure(Box::new(limited(plan)));
        inner.observe(Time::ZERO, event).expect("a policy is full to releases only");
        Self { inner }
    }
}

/// The plan for a drive that accepts no more than the limit; without one, the plan.
fn limited(plan: &Plan) -> Plan {
    let in_flight_max = plan.parameters.depth_limit.in_flight_max;
    let in_flight_max = in_flight_max.map_or(plan.depth, NonZeroU32::get);
    let batch_max = plan.batch_max.min(in_flight_max);
    Plan {
        depth: plan.depth.min(in_flight_max),
        batch_max,
        best_effort_fill: plan.best_effort_fill.min(batch_max),
        best_effort_depth: plan.best_effort_depth.min(in_flight_max),
        table: plan.table.truncated(in_flight_max),
        ..plan.clone()
    }
}

impl<P: Policy> Policy for DepthLimit<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Reconfigure(plan) => {
                self.inner.observe(now, Event::Reconfigure(Box::new(limited(&plan))))
            }
            Event::Release(_)
            | Event::Complete { .. }
            | Event::Cancel(_)
            | Event::Notice { .. } => self.inner.observe(now, event),
        }
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.inner.decide(now)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `depth-limit`: limits the number of requests on the drive.
//!
//! Rule: the wrapped policy gets a plan for a drive that accepts no more than the limit, so the
//! policy decides which requests wait. A regulator that held back dispatched requests would split
//! the policy's batches and leave the policy with a wrong view of the drive.
//!
//! Source: RTAS'08 section 3.4, which limits the effective depth of the drive's queue.

use std::num::NonZeroU32;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{Plan, Time};

use crate::{Decision, Event, Full, Policy};

/// Wraps a policy for a drive with a smaller depth; see the module documentation.
///
/// # Assumptions
/// The wrapped policy respects the depths and the batch size of its plan, as every policy of this
/// crate does.
#[derive(Debug)]
pub struct DepthLimit<P> {
    inner: P,
}

impl<P: Policy> DepthLimit<P> {
    /// Wraps `inner`, which has seen no event, with the limit of the plan's parameters.
    ///
    /// # Panics
    /// If `inner` returns `Full` for a new plan, which no policy may do.
    pub fn new(mut inner: P, plan: &Plan) -> Self {
        let event = Event::Reconfigure(Box::new(limited(plan)));
        inner.observe(Time::ZERO, event).expect("a full policy refuses only releases");
        Self { inner }
    }
}

/// Returns the plan for a drive that accepts no more than the limit, or `plan` if there is no
/// limit.
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

    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.inner.tokens_per_s()
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Duration, Workload};

    use super::*;

    #[test]
    fn every_depth_of_the_plan_is_limited() {
        let times: Vec<Duration> = (1..=8).map(Duration::from_ms).collect();
        let table = BatchTable::new(&times).unwrap();
        let plan = Plan {
            best_effort_fill: 7,
            best_effort_depth: 6,
            ..Plan::of(&Workload::new("test", 8, table.clone()))
        };
        assert_eq!(limited(&plan), plan, "there is no limit yet");
        let mut plan = Plan { batch_max: 8, ..plan };
        plan.parameters.depth_limit.in_flight_max = NonZeroU32::new(3);
        let expected = Plan {
            depth: 3,
            batch_max: 3,
            best_effort_fill: 3,
            best_effort_depth: 3,
            table: table.truncated(3),
            ..plan.clone()
        };
        assert_eq!(limited(&plan), expected);
    }
}

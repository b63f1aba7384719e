// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `deadline-drain`: `deadline`, with one more rule: it drains the drive for a request that the
//! drive keeps too long.
//!
//! Rule: as [`super::Deadline`], but nothing is sent while a request has been on the drive for
//! `drain_after` or longer.
//!
//! A request is therefore on the drive for at most `drain_after` + drain(depth): from `drain_after`
//! on, nothing joins it. Its time in the queue has no such bound, because the order is that of
//! `deadline`: real time waits behind best effort.
//!
//! Source: dissertation 8.4, which proposes the rule and does not try it. It leaves the time open.

use std::collections::VecDeque;

use tidegate_model::parameters::DeadlineDrainParameters;
use tidegate_model::{Duration, RequestId, Time};

use super::deadline::Deadline;
use crate::{Decision, Event, Full, Policy};

/// `deadline` with a drain for overdue requests; see the module documentation.
#[derive(Debug)]
pub struct DeadlineDrain {
    inner: Deadline,
    drain_after: Duration,
    /// The requests on the drive and the instants at which they were sent, the earliest first.
    sent: VecDeque<(RequestId, Time)>,
}

impl DeadlineDrain {
    /// Returns a policy for a drive that accepts `depth` requests; it holds at most `queued_max`
    /// requests of each class.
    pub fn new(parameters: DeadlineDrainParameters, depth: u32, queued_max: u32) -> Self {
        Self {
            inner: Deadline::new(depth, queued_max),
            drain_after: parameters.drain_after,
            sent: VecDeque::with_capacity(depth as usize),
        }
    }
}

impl Policy for DeadlineDrain {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match &event {
            Event::Complete { id, .. } => self.sent.retain(|(sent, _)| sent != id),
            Event::Reconfigure(plan) => {
                self.drain_after = plan.parameters.deadline_drain.drain_after;
            }
            Event::Release(_) | Event::Cancel(_) | Event::Notice { .. } => {}
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        let oldest = self.sent.front();
        if oldest.is_some_and(|&(_, sent_at)| now.since(sent_at) >= self.drain_after) {
            return Decision::AwaitEvent;
        }
        let decision = self.inner.decide(now);
        if let Decision::Dispatch { id, .. } = decision {
            self.sent.push_back((id, now));
        }
        decision
    }
}

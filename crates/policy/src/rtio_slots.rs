// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `rtio-slots`: reserved slots on the drive for several real-time tasks, as published.
//!
//! Rule: n = `slots`, the number of requests that all tasks can release together. Each has a
//! reserved slot, occupied or not. Real-time requests are sent immediately, by class and age. With
//! q_b best-effort requests on the drive, one more joins at t = `now` iff
//! - while no real-time request is on the drive: `drain(q_b+1+n) <= deadline_min`, the shortest
//!   relative deadline;
//! - while real-time requests are on the drive: `t + drain(q_b+1+n) <= earliest_due`, the earliest
//!   of their deadlines.
//!
//! Warning: **deadlines can be missed.** drain(q) is the time to empty the drive when nothing more
//! is sent. A real-time request that takes its reserved slot later restarts that time for a request
//! that is already on the drive. The rule would need "n requests sent at different times finish
//! within drain(n) of the first", which a drive that amortises (SCAN, SATF) does not guarantee; the
//! paper calls the section preliminary. `gated-drain` is the rule for several tasks that follows
//! from drain(q) alone. On a device that serves one request at a time without preemption, the rule
//! is safe with k b(1) in place of drain(k).
//!
//! Source: Stanovich, Baker and Wang, RTAS'08, section 5. The paper does not state the rule for the
//! case in which no real-time request is on the drive; the code applies the table of section 3.4 as
//! the paper does for one task.

use tidegate_model::{Class, Duration, Plan, Request, Time};

use crate::class_queues::ClassQueues;
use crate::drain_times::DrainTimes;
use crate::in_flight::InFlight;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy, Tag};

/// Reserved slots; see the module documentation and its warning.
///
/// # Invariants
/// - `best_effort_count` counts the best-effort requests in `in_flight`; `earliest_due` is the
///   earliest deadline of the others.
#[derive(Debug, Clone)]
pub struct RtioSlots {
    queues: ClassQueues,
    in_flight: InFlight,
    drain: DrainTimes,
    /// n: the number of reserved slots; at most `u32::MAX`.
    slots: u32,
    deadline_min: Option<Duration>,
    best_effort_count: u32,
    earliest_due: Option<Time>,
}

impl RtioSlots {
    /// Returns a policy that reserves a slot for each request of the plan's tasks.
    pub fn new(plan: &Plan) -> Self {
        Self {
            queues: ClassQueues::new(plan.queued_max),
            in_flight: InFlight::with_room(plan.depth),
            drain: DrainTimes::of(plan),
            slots: slots(plan),
            deadline_min: plan.deadline_min(),
            best_effort_count: 0,
            earliest_due: None,
        }
    }

    /// Returns whether one more best-effort request fits in addition to all reserved slots.
    fn may_add(&self, now: Time) -> bool {
        let Some(deadline_min) = self.deadline_min else {
            return self.in_flight.len() < self.drain.depth();
        };
        let count = self.best_effort_count.saturating_add(1).saturating_add(self.slots);
        match self.earliest_due {
            Some(due) => self.drain.empty_by(now, count).is_some_and(|empty_by| empty_by <= due),
            None => self.drain.time(count).is_some_and(|time| time <= deadline_min),
        }
    }

    fn dispatch(&mut self, request: Request) -> Decision {
        self.in_flight.dispatch(request);
        self.recount();
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }

    /// Updates the count and the deadline in O(K), the cost of finding the completed request.
    fn recount(&mut self) {
        let is_best_effort = |request: &&Request| request.class == Class::BestEffort;
        let best_effort = self.in_flight.iter().filter(is_best_effort).count();
        self.best_effort_count = u32::try_from(best_effort).expect("a drive holds fewer than 2^32");
        let real_time = self.in_flight.iter().filter(|request| !is_best_effort(request));
        self.earliest_due = real_time.filter_map(|request| request.due).min();
    }
}

fn slots(plan: &Plan) -> u32 {
    u32::try_from(plan.real_time_requests()).unwrap_or(u32::MAX)
}

impl OrdersBestEffort for RtioSlots {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.queues.best_effort_mut()
    }
}

impl Policy for RtioSlots {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queues.push(request)?,
            Event::Complete { id, .. } => {
                self.in_flight.complete(id);
                self.recount();
            }
            Event::Cancel(id) => {
                self.queues.cancel(id);
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.queues.set_queued_max(plan.queued_max);
                self.drain = DrainTimes::of(&plan);
                self.slots = slots(&plan);
                self.deadline_min = plan.deadline_min();
            }
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let next = if self.in_flight.len() >= self.drain.depth() {
            None
        } else if self.queues.next_real_time().is_some() {
            self.queues.pop_real_time()
        } else if self.queues.has_best_effort() && self.may_add(now) {
            self.queues.pop_best_effort()
        } else {
            None
        };
        next.map_or(Decision::AwaitEvent, |request| self.dispatch(request))
    }
}

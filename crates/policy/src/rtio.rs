// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `rtio`, `rtio-drain`, `rtio-limit`, `rtio-priority`: class priority, FIFO inside a class,
//! no merging; best effort at most q_b deep on the drive, everything at most K deep.
//!
//! - `rtio`: real-time requests go at once.
//! - `rtio-drain`, `rtio-limit`: while a real-time request is on the drive nothing at all is
//!   sent; when none is, all that are queued go in one round, in which best effort is topped
//!   up to q_b. The two differ in q_b only, which analysis chooses.
//! - `rtio-priority`: real-time requests carry the drive's own priority and go while none of
//!   them is on the drive, all in one round; best effort flows all the time.
//!
//! ```text
//!            a real-time request               the round
//!            is sent                           ends
//!      Open ---------------------> Sending ----------------> Closed
//!       ^    (not `rtio`: it                                    |
//!       |     stays Open)                                       |
//!       +-------------------------------------------------------+
//!             the last real-time request came back
//! ```
//!
//! Source: Stanovich, Baker and Wang, RTAS 2008, sections 2.3 (RTIO), 3.2 (draining) and 3.4
//! (limiting); dissertation chapter 8. Deviations: there, one real-time request at a time;
//! the drive's own priority is ours. Bounds: `tidegate_analysis::rtio`.

use tidegate_model::{Class, Plan, Request, RequestId, Time};

use crate::class_queues::ClassQueues;
use crate::in_flight::InFlight;
use crate::{Decision, Event, Full, Policy, Tag};

/// What is done about real-time requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// They go at once.
    AtOnce,
    /// They go in rounds, and nothing beside them.
    Draining,
    /// They go in rounds, marked for the drive, and best effort flows beside them.
    ByPriority(Tag),
}

impl Rule {
    /// How real-time requests are marked.
    fn tag(self) -> Tag {
        match self {
            Self::AtOnce | Self::Draining => Tag::Simple,
            Self::ByPriority(tag) => tag,
        }
    }
}

/// Where the one round of real-time requests stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// There is none: it may begin.
    Open,
    /// It is being sent, and more may go with it.
    Sending,
    /// It is on the drive.
    Closed,
}

/// Who is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    RealTime,
    BestEffort,
}

/// Class priority; see the module's text.
///
/// # Invariants
/// - `best_effort_count` counts the requests of best effort in `in_flight`.
/// - `gate` is `Open` exactly while no real-time request is in flight; under `rtio` always.
/// - `in_flight.len() <= depth` and `best_effort_count <= best_effort_depth`, but for what is
///   in flight when a `Reconfigure` lowers them.
#[derive(Debug)]
pub struct Rtio {
    rule: Rule,
    queues: ClassQueues,
    in_flight: InFlight,
    best_effort_count: u32,
    gate: Gate,
    depth: u32,
    best_effort_depth: u32,
}

impl Rtio {
    /// `rtio`: real-time requests go at once.
    pub fn at_once(plan: &Plan) -> Self {
        Self::new(Rule::AtOnce, plan)
    }

    /// `rtio-drain` and `rtio-limit`: nothing is sent while a real-time request is on the drive.
    pub fn draining(plan: &Plan) -> Self {
        Self::new(Rule::Draining, plan)
    }

    /// `rtio-priority`: real-time requests go in rounds with the drive's own priority.
    pub fn by_priority(plan: &Plan) -> Self {
        Self::new(Rule::ByPriority(plan.parameters.rtio_priority.tag.tag()), plan)
    }

    fn new(rule: Rule, plan: &Plan) -> Self {
        Self {
            rule,
            queues: ClassQueues::new(plan.queued_max),
            in_flight: InFlight::with_room(plan.depth),
            best_effort_count: 0,
            gate: Gate::Open,
            depth: plan.depth,
            best_effort_depth: plan.best_effort_depth,
        }
    }

    /// Who is next, if anybody may be sent. O(1).
    fn next(&self) -> Option<Next> {
        if self.in_flight.len() >= self.depth {
            return None;
        }
        let is_open = self.gate != Gate::Closed;
        if is_open && self.queues.next_real_time().is_some() {
            return Some(Next::RealTime);
        }
        let may_flow = is_open || self.rule != Rule::Draining;
        let has_room = self.best_effort_count < self.best_effort_depth;
        let is_next = may_flow && has_room && self.queues.next_best_effort().is_some();
        is_next.then_some(Next::BestEffort)
    }

    fn take(&mut self, next: Next) -> (Request, Tag) {
        let (request, tag) = match next {
            Next::RealTime => {
                if self.rule != Rule::AtOnce {
                    self.gate = Gate::Sending;
                }
                (self.queues.pop_real_time(), self.rule.tag())
            }
            Next::BestEffort => {
                self.best_effort_count += 1;
                (self.queues.pop_best_effort(), Tag::Simple)
            }
        };
        (request.expect("looked at when it was found to be next"), tag)
    }

    /// O(depth).
    fn complete(&mut self, id: RequestId) {
        let request = self.in_flight.complete(id);
        if is_best_effort(&request) {
            self.best_effort_count -= 1;
        } else if self.in_flight.iter().all(is_best_effort) {
            self.gate = Gate::Open;
        }
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.depth = plan.depth;
        self.best_effort_depth = plan.best_effort_depth;
        self.queues.set_queued_max(plan.queued_max);
        if let Rule::ByPriority(tag) = &mut self.rule {
            *tag = plan.parameters.rtio_priority.tag.tag();
        }
    }
}

fn is_best_effort(request: &Request) -> bool {
    request.class == Class::BestEffort
}

impl Policy for Rtio {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queues.push(request)?,
            Event::Complete { id, .. } => self.complete(id),
            Event::Cancel(id) => {
                self.queues.cancel(id);
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.reconfigure(&plan),
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        let Some(next) = self.next() else {
            if self.gate == Gate::Sending {
                self.gate = Gate::Closed;
            }
            return Decision::AwaitEvent;
        };
        let (request, tag) = self.take(next);
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag }
    }
}

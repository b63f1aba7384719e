// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `rtio`, `rtio-drain`, `rtio-limit`, `rtio-priority`: class priority, FIFO within a class, no
//! merging. At most q_b best-effort requests and at most K requests in total are on the drive.
//!
//! - `rtio` sends real-time requests immediately.
//! - `rtio-drain` and `rtio-limit` send nothing while a real-time request is on the drive. When
//!   none is, they send all queued ones in one round and top up best effort to q_b. The two differ
//!   only in q_b, which the analysis chooses.
//! - `rtio-priority` sends real-time requests with the drive's own priority, all in one round,
//!   while none is on the drive. Best effort is sent at any time.
//!
//! ```text
//!            a real-time request               the round
//!            is sent                           ends
//!      Open ---------------------> Sending ----------------> Closed
//!       ^    (not `rtio`: it                                    |
//!       |     stays Open)                                       |
//!       +-------------------------------------------------------+
//!             the last real-time request completed
//! ```
//!
//! Source: Stanovich, Baker and Wang, RTAS 2008, sections 2.3 (RTIO), 3.2 (draining) and 3.4
//! (limiting); dissertation chapter 8. Deviations: the source has one real-time request at a time;
//! the use of the drive's own priority is this project's. Bounds: `tidegate_analysis::rtio`.

use tidegate_model::{Class, Plan, Request, RequestId, Time};

use crate::class_queues::ClassQueues;
use crate::in_flight::InFlight;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy, Tag};

/// How real-time requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Immediately.
    AtOnce,
    /// In rounds, with nothing else sent meanwhile.
    Draining,
    /// In rounds with the drive's priority; best effort is sent meanwhile.
    ByPriority(Tag),
}

impl Rule {
    /// Returns the tag of real-time requests.
    fn tag(self) -> Tag {
        match self {
            Self::AtOnce | Self::Draining => Tag::Simple,
            Self::ByPriority(tag) => tag,
        }
    }
}

/// The state of the current round of real-time requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// There is no round: one may begin.
    Open,
    /// The round is being sent; more requests may join it.
    Sending,
    /// The round is on the drive.
    Closed,
}

/// The class of the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    RealTime,
    BestEffort,
}

/// Class priority; see the module documentation.
///
/// # Invariants
/// - `gate` is `Open` exactly while no real-time request is in flight; under `rtio` it always is.
/// - `in_flight.len() <= depth` and at most `best_effort_depth` of them are best effort, except for
///   requests in flight when a `Reconfigure` lowers these limits.
#[derive(Debug)]
pub struct Rtio {
    rule: Rule,
    queues: ClassQueues,
    in_flight: InFlight,
    gate: Gate,
    depth: u32,
    best_effort_depth: u32,
}

impl Rtio {
    /// Returns `rtio`, which sends real-time requests immediately.
    pub fn at_once(plan: &Plan) -> Self {
        Self::new(Rule::AtOnce, plan)
    }

    /// Returns `rtio-drain` or `rtio-limit`, which send nothing while a real-time request is on the
    /// drive.
    pub fn draining(plan: &Plan) -> Self {
        Self::new(Rule::Draining, plan)
    }

    /// Returns `rtio-priority`, which sends real-time requests in rounds with the drive's own
    /// priority.
    pub fn by_priority(plan: &Plan) -> Self {
        Self::new(Rule::ByPriority(plan.parameters.rtio_priority.tag.tag()), plan)
    }

    fn new(rule: Rule, plan: &Plan) -> Self {
        Self {
            rule,
            queues: ClassQueues::new(plan.queued_max),
            in_flight: InFlight::with_room(plan.depth),
            gate: Gate::Open,
            depth: plan.depth,
            best_effort_depth: plan.best_effort_depth,
        }
    }

    /// Returns the class of the next request if one may be sent. O(1).
    fn next(&self) -> Option<Next> {
        if self.in_flight.len() >= self.depth {
            return None;
        }
        let is_open = self.gate != Gate::Closed;
        if is_open && self.queues.next_real_time().is_some() {
            return Some(Next::RealTime);
        }
        let may_flow = is_open || self.rule != Rule::Draining;
        let has_room = self.in_flight.best_effort_count() < self.best_effort_depth;
        let is_next = may_flow && has_room && self.queues.has_best_effort();
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
            Next::BestEffort => (self.queues.pop_best_effort(), Tag::Simple),
        };
        (request.expect("`next` saw a request of this class"), tag)
    }

    /// Records a completion. O(depth).
    fn complete(&mut self, id: RequestId) {
        let request = self.in_flight.complete(id);
        if !is_best_effort(&request) && self.in_flight.iter().all(is_best_effort) {
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

impl OrdersBestEffort for Rtio {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.queues.best_effort_mut()
    }
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

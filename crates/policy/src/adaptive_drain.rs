// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `adaptive-drain`: best effort is sent until the latest instant at which stopping it still keeps
//! the deadline of the one real-time task.
//!
//! Rule: o requests are on the drive at t = `now`. The task has the relative deadline D =
//! `deadline` and the period p = `period`. r_next = `next_release` is its last release + p (before
//! its first release the task may release at any time). One best-effort request joins
//! - while a real-time request is on the drive, due at Dabs = `earliest_due`: iff
//!   `t + drain(o+1) <= Dabs` and (`drain(o+1) <= D` or `t + drain(o+1) + drain(1) <= r_next + D`);
//! - while none is: iff `drain(o+2) <= D` or `t + drain(o+1) + drain(1) <= max(t, r_next) + D`.
//!
//! A released real-time request is sent immediately iff `t + drain(o+1) <= Dabs`. Otherwise it is
//! held until that holds or the drive is empty, and nothing else is sent meanwhile.
//!
//! ```text
//!             released, fits                      released, does not fit
//!   Open ----------------------> RT on the drive         Open ----------> RT held
//!    ^  best effort: 2nd rule     best effort: 1st rule   nothing goes      |
//!    +---------- completes --------------+   ^                              |
//!                                            +------- drive is empty -------+
//! ```
//!
//! All requests of one round count as one dispatch at one instant. Its last request is checked with
//! the number outstanding after the round, which is the largest, and drain is nondecreasing.
//! Best effort also stays within the plan's depth, which may be less than the rule allows.
//!
//! drain(q) beyond K or beyond the table counts as longer than any deadline. In the second rule,
//! `drain(o+2) <= D` therefore keeps a slot on the drive for the next request; the other condition
//! needs none.
//!
//! Time alone only closes this gate: each left side grows at the rate of time, and max(t, r_next)
//! grows no faster. So the policy never asks for a wake-up.
//!
//! Source: own derivation, `docs/theory/draining.md`, from RTAS'08 section 3.2 to 3.4 (draining).
//! The guarantee is for one task with one request per job and drain(1) <= D <= p
//! (`tidegate_analysis::adaptive_drain`). With several tasks, the policy assumes that each may
//! release at any time and that D is their shortest deadline, and promises nothing. A job that is
//! released too early or while another is pending is served the same way; a regulator must prevent
//! its effect on the deadlines.

use tidegate_model::{Class, Duration, Plan, Request, RequestId, Time};

use crate::class_queues::ClassQueues;
use crate::drain_times::DrainTimes;
use crate::in_flight::InFlight;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy, Tag};

/// The real-time task's contract from the plan.
#[derive(Debug, Clone, Copy)]
struct TaskContract {
    deadline: Duration,
    /// Zero unless the plan has one task with one request: otherwise a release is possible at any
    /// time.
    period: Duration,
    task_count: u32,
}

impl TaskContract {
    /// Returns the contract; `None` if the plan has no task.
    fn of(plan: &Plan) -> Option<Self> {
        let deadline = plan.deadline_min()?;
        let period =
            if plan.real_time_requests() == 1 { plan.tasks[0].period } else { Duration::ZERO };
        let task_count = u32::try_from(plan.tasks.len()).expect("fewer tasks than 2^32");
        Some(Self { deadline, period, task_count })
    }
}

/// Admits best effort until the latest safe instant; see the module documentation.
///
/// # Invariants
/// - `earliest_due` is the earliest deadline of the real-time requests in flight, or `None` if
///   there are none.
#[derive(Debug, Clone)]
pub struct AdaptiveDrain {
    queues: ClassQueues,
    in_flight: InFlight,
    best_effort_depth: u32,
    drain: DrainTimes,
    contract: Option<TaskContract>,
    earliest_due: Option<Time>,
    /// The earliest instant at which the task may release again.
    next_release: Time,
}

impl AdaptiveDrain {
    /// Returns the policy for `plan`. Without a drain table it sends real-time requests one at a
    /// time, and no best effort if there are tasks.
    pub fn new(plan: &Plan) -> Self {
        Self {
            queues: ClassQueues::new(plan.queued_max),
            in_flight: InFlight::with_room(plan.depth),
            best_effort_depth: plan.best_effort_depth,
            drain: DrainTimes::of(plan),
            contract: TaskContract::of(plan),
            earliest_due: None,
            next_release: Time::ZERO,
        }
    }

    fn release(&mut self, request: Request) -> Result<(), Full> {
        self.queues.push(request)?;
        if let Some(contract) =
            self.contract.filter(|contract| request.task.0 < contract.task_count)
            && request.class != Class::BestEffort
        {
            // An instant past `Time::MAX` never comes.
            self.next_release = request.eligible.checked_add(contract.period).unwrap_or(Time::MAX);
        }
        Ok(())
    }

    /// Returns the absolute deadline of a real-time request, counted from its eligibility: a
    /// request that a regulator held back is already late and must not close the gate.
    fn due(&self, request: &Request) -> Time {
        let is_held_back = request.eligible > request.released;
        let own = request.due.filter(|_| !is_held_back);
        let by_contract = |contract: TaskContract| request.eligible.checked_add(contract.deadline);
        own.or_else(|| self.contract.and_then(by_contract)).or(request.due).unwrap_or(Time::MAX)
    }

    /// Returns whether a real-time request with the deadline `due` may be sent now.
    fn may_send(&self, now: Time, due: Time) -> bool {
        let count = self.in_flight.len();
        if count == 0 {
            return self.drain.depth() > 0;
        }
        let earliest = self.earliest_due.map_or(due, |other| other.min(due));
        self.drain.empty_by(now, count + 1).is_some_and(|empty_by| empty_by <= earliest)
    }

    /// Returns whether one best-effort request may be sent now, while no real-time request is held.
    fn may_add(&self, now: Time) -> bool {
        if self.in_flight.best_effort_count() >= self.best_effort_depth {
            return false;
        }
        let count = self.in_flight.len() + 1;
        let Some(TaskContract { deadline, .. }) = self.contract else {
            return count <= self.drain.depth();
        };
        let Some(empty_by) = self.drain.empty_by(now, count) else { return false };
        let fits_with = |count| self.drain.time(count).is_some_and(|time| time <= deadline);
        // The comparison is exact: no instant is rounded.
        let served_by = self.drain.time(1).and_then(|one| empty_by.checked_add(one));
        let is_served_before = |release: Time| {
            let due = release.checked_add(deadline).unwrap_or(Time::MAX);
            served_by.is_some_and(|served_by| served_by <= due)
        };
        match self.earliest_due {
            Some(due) => {
                empty_by <= due && (fits_with(count) || is_served_before(self.next_release))
            }
            None => fits_with(count + 1) || is_served_before(self.next_release.max(now)),
        }
    }

    fn dispatch(&mut self, request: Request) -> Decision {
        if request.class != Class::BestEffort {
            let due = self.due(&request);
            self.earliest_due = Some(self.earliest_due.map_or(due, |other| other.min(due)));
        }
        self.in_flight.dispatch(request);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }

    fn complete(&mut self, id: RequestId) {
        if self.in_flight.complete(id).class != Class::BestEffort {
            let real_time =
                self.in_flight.iter().filter(|request| request.class != Class::BestEffort);
            self.earliest_due = real_time.map(|request| self.due(request)).min();
        }
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.queues.set_queued_max(plan.queued_max);
        self.best_effort_depth = plan.best_effort_depth;
        self.drain = DrainTimes::of(plan);
        self.contract = TaskContract::of(plan);
        // The recorded release may belong to a task of the old plan: any task of this plan may
        // release now.
        self.next_release = Time::ZERO;
    }
}

impl OrdersBestEffort for AdaptiveDrain {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.queues.best_effort_mut()
    }
}

impl Policy for AdaptiveDrain {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.release(request)?,
            Event::Complete { id, .. } => self.complete(id),
            Event::Cancel(id) => {
                self.queues.cancel(id);
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.reconfigure(&plan),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let next = if let Some(request) = self.queues.next_real_time() {
            let due = self.due(request);
            if self.may_send(now, due) { self.queues.pop_real_time() } else { None }
        } else if self.queues.has_best_effort() && self.may_add(now) {
            self.queues.pop_best_effort()
        } else {
            None
        };
        next.map_or(Decision::AwaitEvent, |request| self.dispatch(request))
    }
}

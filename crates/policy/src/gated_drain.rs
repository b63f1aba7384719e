// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `gated-drain`: sends best effort while "stop now, wait until the drive is empty, send all
//! pending real-time requests together" keeps every deadline of every task.
//!
//! Rule. Each request of a job is a unit of its task; n is the number of all units. A dispatch at
//! t = `now` leaves k requests outstanding and m units off the drive. It is allowed iff k <= K and
//! - `t + drain(k) <= due` of every unit on the drive, including those being sent;
//! - `t + drain(k) + drain(m) <= due` of every waiting unit;
//! - `t + drain(k) + drain(m) <= max(t, next_release) + deadline` of every unreleased unit, where
//!   `next_release` is its last release + its period (before the first release: now);
//! - for best effort: `t + drain(k) + drain(n) <= next_release + deadline` of every unit on the
//!   drive. (If the workload is proven, this follows from the first condition:
//!   `due <= next_release` and `drain(n) <= deadline`.)
//!
//! Order: all waiting units together if that is allowed, otherwise the unit that is due first,
//! otherwise nothing. If no unit waits, requests beyond any contract follow, then best effort, one
//! by one. If the unit that is due first may not be sent alone, no other unit and no best effort
//! may be sent. An empty drive gets the largest allowed number of waiting units in deadline order.
//! If no number is allowed, a contract has been broken, and the drive gets all of them.
//!
//! ```text
//!   unit:    Idle ----released----> Waiting ----sent----> InFlight
//!             ^                                               |
//!             +------------------- completes -----------------+
//! ```
//!
//! An empty drive does not always get all waiting units. With deadline = period a unit may complete
//! just when the drive empties and be released again at that instant. It was not among the m that
//! the last dispatch counted, so it may have to wait for those that were.
//!
//! Time alone only closes the gate: each left side grows at the rate of time, and max(t,
//! next_release) grows no faster. So the policy never asks for a wake-up. All requests of one round
//! count as one dispatch: the last check of the round has the largest k. The policy reserves no
//! slots on the drive: the fallback plan sends to an empty drive, so n <= K suffices.
//!
//! Best effort also stays within the plan's depth, which may be less than the conditions allow.
//!
//! Requests outside the contract: a request of a task whose units are all pending waits in a queue
//! of its task. No condition counts it, and it takes the next unit that its task gets back, so no
//! task has more than its requests pending. A request of an unknown task is sent before best effort
//! and under the same conditions. A job that is released before its period is over is served on
//! arrival, which may cost other tasks their deadlines; a regulator must prevent this.
//!
//! Source: own derivation, `docs/theory/draining.md` section 8. Guarantee:
//! `tidegate_analysis::gated_drain`.

mod units;

use std::collections::VecDeque;

use tidegate_model::{Class, Plan, Request, RequestId, Time};

use crate::class_queues::ClassQueues;
use crate::drain_times::DrainTimes;
use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy, Tag};
use units::{Unit, Units};

/// A request on the drive.
#[derive(Debug, Clone)]
struct InFlightRequest {
    request: Request,
    /// `None` for best effort and for requests beyond any contract.
    unit: Option<Unit>,
}

/// Sends best effort through a gate; see the module documentation.
///
/// # Invariants
/// - `best_effort_count` counts the best-effort requests in `in_flight`. It is at most
///   `best_effort_depth`, except after a `Reconfigure` that lowers `best_effort_depth`.
/// - In this round, the `granted_count` waiting units that are due first may be sent.
/// - Every request in `excess` belongs to a task without an idle unit.
///
/// # Complexity
/// O(log n) per decision; O(n log n) if an empty drive cannot take all waiting units. O(depth) per
/// completion.
#[derive(Debug, Clone)]
pub struct GatedDrain {
    drain: DrainTimes,
    units: Units,
    in_flight: Vec<InFlightRequest>,
    best_effort_count: u32,
    best_effort_depth: u32,
    granted_count: u32,
    /// Requests beyond their task's contract, one queue per task.
    excess: Vec<VecDeque<Request>>,
    excess_count: u32,
    /// Requests without a contract: requests of unknown tasks, and best effort.
    others: ClassQueues,
    queued_max: u32,
}

/// A dispatch whose conditions are being checked.
#[derive(Debug, Clone, Copy)]
struct ProposedDispatch {
    /// k: requests outstanding after the dispatch.
    outstanding: u32,
    /// m: units that are not on the drive after the dispatch.
    left: u32,
    /// The earliest deadline of the units on the drive after the dispatch, in ns.
    due_on_drive: Option<u64>,
    /// The earliest deadline of the units that wait after the dispatch, in ns.
    due_waiting: Option<u64>,
    is_best_effort: bool,
}

impl GatedDrain {
    /// Returns the policy for `plan`. Without a drain table it sends real-time requests only to an
    /// empty drive, and no best effort if there are tasks.
    pub fn new(plan: &Plan) -> Self {
        Self {
            drain: DrainTimes::of(plan),
            units: Units::of(plan),
            in_flight: Vec::with_capacity(plan.depth as usize),
            best_effort_count: 0,
            best_effort_depth: plan.best_effort_depth,
            granted_count: 0,
            excess: vec![VecDeque::new(); plan.tasks.len()],
            excess_count: 0,
            others: ClassQueues::new(plan.queued_max),
            queued_max: plan.queued_max,
        }
    }

    fn outstanding(&self) -> u32 {
        u32::try_from(self.in_flight.len()).expect("a drive holds fewer than 2^32")
    }

    fn release(&mut self, request: Request) -> Result<(), Full> {
        let task = request.task.index();
        if request.class == Class::BestEffort || task >= self.excess.len() {
            return self.others.push(request);
        }
        if self.units.admit(&request) {
            return Ok(());
        }
        if self.units.waiting_count() + self.excess_count >= self.queued_max {
            return Err(Full);
        }
        self.excess[task].push_back(request);
        self.excess_count += 1;
        Ok(())
    }

    fn send(&mut self, in_flight: InFlightRequest) {
        self.best_effort_count += u32::from(in_flight.request.class == Class::BestEffort);
        self.in_flight.push(in_flight);
    }

    /// Gives an idle unit of this task to the oldest of its requests beyond the contract, if any.
    fn admit_excess(&mut self, task: usize) {
        if let Some(request) = self.excess[task].pop_front() {
            self.excess_count -= 1;
            assert!(self.units.admit(&request), "a unit has just become idle");
        }
    }

    fn complete(&mut self, id: RequestId) {
        let position = self.in_flight.iter().position(|in_flight| in_flight.request.id == id);
        let position = position.unwrap_or_else(|| panic!("completion of {id:?}, not in flight"));
        let InFlightRequest { request, unit } = self.in_flight.swap_remove(position);
        self.best_effort_count -= u32::from(request.class == Class::BestEffort);
        if let Some(unit) = unit {
            self.units.idle(unit);
            self.admit_excess(request.task.index());
        }
    }

    fn cancel(&mut self, id: RequestId) {
        if let Some(request) = self.units.cancel(id) {
            self.admit_excess(request.task.index());
            return;
        }
        for queue in &mut self.excess {
            let length = queue.len();
            queue.retain(|request| request.id != id);
            if queue.len() < length {
                self.excess_count -= 1;
                return;
            }
        }
        self.others.cancel(id);
    }

    /// Applies a new plan without losing a request. Earlier releases say nothing about the tasks of
    /// the new plan, so each of them may release now.
    fn reconfigure(&mut self, plan: &Plan) {
        let mut queued: Vec<Request> = self.units.waiting().collect();
        queued.extend(self.excess.iter_mut().flat_map(|queue| queue.drain(..)));
        queued.extend(std::iter::from_fn(|| self.others.pop_real_time()));
        queued.sort_by_key(|request| (request.released, request.id));
        let in_flight = std::mem::take(&mut self.in_flight);
        let others = std::mem::replace(&mut self.others, ClassQueues::new(0));
        *self = Self { others, queued_max: u32::MAX, ..Self::new(plan) };
        for InFlightRequest { request, .. } in in_flight {
            let has_contract = request.class != Class::BestEffort;
            let unit = if has_contract { self.units.admit_in_flight(&request) } else { None };
            self.send(InFlightRequest { request, unit });
        }
        // If a queue is longer than the new bound, it drops nothing and only refuses new requests.
        self.others.set_queued_max(u32::MAX);
        for request in queued {
            self.release(request).expect("room without bound");
        }
        self.queued_max = plan.queued_max;
        self.others.set_queued_max(plan.queued_max);
    }

    /// Returns whether the conditions of the module documentation hold.
    fn is_allowed(&self, now: Time, proposed: ProposedDispatch) -> bool {
        let Some(empty_by) = self.drain.empty_by(now, proposed.outstanding) else { return false };
        let after = |units| self.drain.empty_by(empty_by, units).map(Time::ns);
        let is_kept = |by: Option<u64>, due: Option<u64>| {
            due.is_none_or(|due| by.is_some_and(|by| by <= due))
        };
        let served_by = after(proposed.left);
        let since_now = served_by.map(|by| by - now.ns());
        is_kept(Some(empty_by.ns()), proposed.due_on_drive)
            && is_kept(served_by, proposed.due_waiting)
            && is_kept(served_by, self.units.due_if_released_next())
            && is_kept(since_now, self.units.deadline_if_released_now())
            && (!proposed.is_best_effort
                || is_kept(after(self.units.count()), self.units.due_after_flight()))
    }

    /// Returns whether the `count` waiting units that are due first may be sent together;
    /// `due_behind` is the earliest deadline of the units that stay behind.
    fn may_send(&self, now: Time, count: u32, due_behind: Option<u64>) -> bool {
        let [in_flight, first] = [self.units.due_in_flight(), self.units.due_waiting()];
        let not_in_flight = self.units.count() - self.units.in_flight_count();
        self.is_allowed(
            now,
            ProposedDispatch {
                outstanding: self.outstanding().saturating_add(count),
                left: not_in_flight - count,
                due_on_drive: [in_flight, first].into_iter().flatten().min(),
                due_waiting: due_behind,
                is_best_effort: false,
            },
        )
    }

    /// Returns the number of waiting units that may be sent now; the units that are due first are
    /// sent first.
    fn grant(&mut self, now: Time) -> u32 {
        let waiting_count = self.units.waiting_count();
        if self.may_send(now, waiting_count, None) {
            return waiting_count;
        }
        if !self.in_flight.is_empty() {
            let behind = self.units.due_waiting_second();
            return u32::from(self.may_send(now, 1, behind));
        }
        let dues = self.units.dues_waiting();
        let fits = |&count: &u32| self.may_send(now, count, Some(dues[count as usize]));
        let most = (1..waiting_count).rev().find(fits);
        most.unwrap_or_else(|| waiting_count.min(self.drain.depth()))
    }

    fn may_add(&self, now: Time) -> bool {
        let outstanding = self.outstanding() + 1;
        if self.units.count() == 0 {
            return outstanding <= self.drain.depth();
        }
        self.is_allowed(
            now,
            ProposedDispatch {
                outstanding,
                left: self.units.count() - self.units.in_flight_count(),
                due_on_drive: self.units.due_in_flight(),
                due_waiting: None,
                is_best_effort: true,
            },
        )
    }

    /// Returns a waiting unit, if one may be sent.
    fn next_unit(&mut self, now: Time) -> Option<InFlightRequest> {
        if self.granted_count == 0 {
            self.granted_count = self.grant(now);
        }
        self.granted_count = self.granted_count.checked_sub(1)?;
        let (unit, request) = self.units.send_first();
        Some(InFlightRequest { request, unit: Some(unit) })
    }

    /// Returns a request without a contract, if it may be sent.
    fn next_other(&mut self, now: Time) -> Option<InFlightRequest> {
        let has_room = self.best_effort_count < self.best_effort_depth;
        let is_one_next =
            self.others.next_real_time().is_some() || (has_room && self.others.has_best_effort());
        if !is_one_next || !self.may_add(now) {
            return None;
        }
        let request = self.others.pop_real_time().or_else(|| self.others.pop_best_effort());
        request.map(|request| InFlightRequest { request, unit: None })
    }
}

impl OrdersBestEffort for GatedDrain {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        self.others.best_effort_mut()
    }
}

impl Policy for GatedDrain {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        self.granted_count = 0;
        match event {
            Event::Release(request) => self.release(request)?,
            Event::Complete { id, .. } => self.complete(id),
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.reconfigure(&plan),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.units.pass_time(now);
        let next =
            if self.units.waiting_count() > 0 { self.next_unit(now) } else { self.next_other(now) };
        let Some(in_flight) = next else { return Decision::AwaitEvent };
        let id = in_flight.request.id;
        self.send(in_flight);
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `gated-drain`: best effort flows as long as "stop now, wait until the drive is empty,
//! send all pending real-time requests at once" keeps every deadline of every task.
//!
//! Rule. Each request of a job is a unit of its task; n of them there are in all. A dispatch
//! at t = `now` that makes k requests outstanding, m units then not being on the drive, is
//! allowed iff k <= K and
//! - `t + drain(k) <= due` of every unit on the drive, those being sent included;
//! - `t + drain(k) + drain(m) <= due` of every unit that waits;
//! - `t + drain(k) + drain(m) <= max(t, next_release) + deadline` of every unit that is not
//!   released, `next_release` being its last release + its period (none yet: now);
//! - for best effort: `t + drain(k) + drain(n) <= next_release + deadline` of every unit on
//!   the drive. (Where the workload is proven this follows from the first condition:
//!   `due <= next_release` and `drain(n) <= deadline`.)
//!
//! Order: all waiting units together if that is allowed, else the one that is due first,
//! else nothing; with none waiting, requests beyond any contract, then best effort, one by
//! one. If the unit that is due first may not go alone then no other may, nor best effort.
//! An empty drive gets the most waiting units, in order of due, that are allowed together;
//! if no number is, a contract is broken, and it gets them all.
//!
//! ```text
//!   unit:    Idle ----released----> Waiting ----sent----> InFlight
//!             ^                                               |
//!             +------------------- completes -----------------+
//! ```
//!
//! Why not always all to an empty drive: with deadline = period a unit may complete just
//! when the drive empties and be released again at that instant. It was not among the m
//! that the last dispatch counted, so it may have to wait for those that were.
//!
//! Time alone only closes the gate: each left side grows by what time passes, and
//! max(t, next_release) by no more. So the policy never asks to be woken. All that one
//! round sends is one dispatch: the last check of the round has the largest k.
//! No places on the drive are kept free: the fallback plan sends to an empty drive, so
//! n <= K is all it needs.
//!
//! What is not in the contract: a request of a task whose units are all pending waits in a
//! line of its task, is counted by nobody, and takes the next unit that its task gets back,
//! so that no task has more than its requests pending. One of an unknown task goes before
//! best effort and under its conditions. A job that comes before its period is over is
//! served as it comes, which may cost others their deadline: that is for a regulator to
//! prevent.
//!
//! Source: own derivation, `docs/theory/draining.md` section 8. Guarantee: `tidegate_analysis::gated_drain`.

mod units;

use std::collections::VecDeque;

use tidegate_model::{Class, Plan, Request, RequestId, Time};

use crate::class_queues::ClassQueues;
use crate::drain_times::DrainTimes;
use crate::{Decision, Event, Full, Policy, Tag};
use units::{Unit, Units};

/// A request on the drive.
#[derive(Debug, Clone)]
struct Flying {
    request: Request,
    /// None for best effort and for what is beyond any contract.
    unit: Option<Unit>,
}

/// Best effort behind a gate; see the module's text.
///
/// # Invariants
/// - `granted_count` of the waiting units, those that are due first, may go in this round.
/// - Every request in `excess` is of a task of which no unit is idle.
///
/// # Complexity
/// O(log n) a decision; O(n log n) where an empty drive cannot take all that waits.
/// O(depth) a completion.
#[derive(Debug, Clone)]
pub struct GatedDrain {
    drain: DrainTimes,
    units: Units,
    in_flight: Vec<Flying>,
    granted_count: u32,
    /// A line for each task.
    excess: Vec<VecDeque<Request>>,
    excess_count: u32,
    /// What is beyond any contract: requests of unknown tasks, and best effort.
    others: ClassQueues,
    queued_max: u32,
}

/// A dispatch that is thought of.
#[derive(Debug, Clone, Copy)]
struct Thought {
    /// Requests outstanding after it, k.
    outstanding: u32,
    /// Units not on the drive after it, m.
    left: u32,
    /// The earliest due of the units that are on the drive after it, in ns.
    due_on_drive: Option<u64>,
    /// The earliest due of the units that wait after it, in ns.
    due_waiting: Option<u64>,
    is_best_effort: bool,
}

impl GatedDrain {
    /// A policy that carries out `plan`. Without a drain table it sends real-time requests
    /// to an empty drive and no best effort beside tasks.
    pub fn new(plan: &Plan) -> Self {
        Self {
            drain: DrainTimes::of(plan),
            units: Units::of(plan),
            in_flight: Vec::with_capacity(plan.depth as usize),
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

    /// A unit of this task is idle: what of the task waits beyond its contract takes it.
    fn admit_excess(&mut self, task: usize) {
        if let Some(request) = self.excess[task].pop_front() {
            self.excess_count -= 1;
            assert!(self.units.admit(&request), "a unit has just become idle");
        }
    }

    fn complete(&mut self, id: RequestId) {
        let position = self.in_flight.iter().position(|flying| flying.request.id == id);
        let position = position.unwrap_or_else(|| panic!("completion of {id:?}, not in flight"));
        let Flying { request, unit } = self.in_flight.swap_remove(position);
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
        for line in &mut self.excess {
            let length = line.len();
            line.retain(|request| request.id != id);
            if line.len() < length {
                self.excess_count -= 1;
                return;
            }
        }
        self.others.cancel(id);
    }

    /// Nothing is lost; releases of before say nothing about the tasks of the new plan, so
    /// each of them may release now.
    fn reconfigure(&mut self, plan: &Plan) {
        let mut queued: Vec<Request> = self.units.waiting().collect();
        queued.extend(self.excess.iter_mut().flat_map(|line| line.drain(..)));
        queued.extend(std::iter::from_fn(|| self.others.pop_real_time()));
        queued.sort_by_key(|request| (request.released, request.id));
        let in_flight = std::mem::take(&mut self.in_flight);
        let others = std::mem::replace(&mut self.others, ClassQueues::new(0));
        *self = Self { others, queued_max: u32::MAX, ..Self::new(plan) };
        for Flying { request, .. } in in_flight {
            let has_contract = request.class != Class::BestEffort;
            let unit = if has_contract { self.units.admit_in_flight(&request) } else { None };
            self.in_flight.push(Flying { request, unit });
        }
        // A smaller bound than what is queued loses nothing: it only refuses what comes.
        self.others.set_queued_max(u32::MAX);
        for request in queued {
            self.release(request).expect("room without bound");
        }
        self.queued_max = plan.queued_max;
        self.others.set_queued_max(plan.queued_max);
    }

    /// The conditions of the module's text.
    fn is_allowed(&self, now: Time, thought: Thought) -> bool {
        let Some(empty_by) = self.drain.empty_by(now, thought.outstanding) else { return false };
        let after = |units| self.drain.empty_by(empty_by, units).map(Time::ns);
        let is_kept = |by: Option<u64>, due: Option<u64>| {
            due.is_none_or(|due| by.is_some_and(|by| by <= due))
        };
        let served_by = after(thought.left);
        let since_now = served_by.map(|by| by - now.ns());
        is_kept(Some(empty_by.ns()), thought.due_on_drive)
            && is_kept(served_by, thought.due_waiting)
            && is_kept(served_by, self.units.due_if_released_next())
            && is_kept(since_now, self.units.deadline_if_released_now())
            && (!thought.is_best_effort
                || is_kept(after(self.units.count()), self.units.due_after_flight()))
    }

    /// Whether the `count` waiting units that are due first may go together, `due_behind`
    /// being due first among those that stay.
    fn may_send(&self, now: Time, count: u32, due_behind: Option<u64>) -> bool {
        let [flying, first] = [self.units.due_in_flight(), self.units.due_waiting()];
        let not_in_flight = self.units.count() - self.units.in_flight_count();
        self.is_allowed(
            now,
            Thought {
                outstanding: self.outstanding().saturating_add(count),
                left: not_in_flight - count,
                due_on_drive: [flying, first].into_iter().flatten().min(),
                due_waiting: due_behind,
                is_best_effort: false,
            },
        )
    }

    /// How many of the waiting units, those that are due first, may go now.
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
            Thought {
                outstanding,
                left: self.units.count() - self.units.in_flight_count(),
                due_on_drive: self.units.due_in_flight(),
                due_waiting: None,
                is_best_effort: true,
            },
        )
    }

    /// A waiting unit, if one may go.
    fn next_unit(&mut self, now: Time) -> Option<Flying> {
        if self.granted_count == 0 {
            self.granted_count = self.grant(now);
        }
        self.granted_count = self.granted_count.checked_sub(1)?;
        let (unit, request) = self.units.send_first();
        Some(Flying { request, unit: Some(unit) })
    }

    /// What has no contract, if it may go.
    fn next_other(&mut self, now: Time) -> Option<Flying> {
        let is_any_queued =
            self.others.next_real_time().or(self.others.next_best_effort()).is_some();
        if !is_any_queued || !self.may_add(now) {
            return None;
        }
        let request = self.others.pop_real_time().or_else(|| self.others.pop_best_effort());
        request.map(|request| Flying { request, unit: None })
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
        let Some(flying) = next else { return Decision::AwaitEvent };
        let id = flying.request.id;
        self.in_flight.push(flying);
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

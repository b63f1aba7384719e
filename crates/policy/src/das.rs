// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `das`: the dynamic active subset. Shortest access time first among the requests that keep every
//! deadline feasible; one request on the drive at a time.
//!
//! Rule: a fallback always exists. It serves the waiting real-time requests, and those released
//! later, in order of release, each within C: the longest time of one request
//! ([`ActiveSubset::service_max`]). A request may be sent to the idle drive if, once it completes,
//! the fallback still meets every deadline. A model of the drive predicts the completion to within
//! a margin. Among these requests the one with the shortest access time is sent. If none may be
//! sent, the oldest request of the fallback is sent; if there is none, the policy waits.
//!
//! # Feasibility
//! Let request x complete at t'. Number the waiting requests of the fallback other than x as j = 1,
//! 2, .. w in the order of release. Then x is feasible if
//! - `t' + j C <= due_j` for each of them, and `t' <= due` of x itself;
//! - for an x outside the fallback: `t' + (w + sum of e_i over tasks with r_i <= r) C <= r + d_k`
//!   for each task k that may release a job for the fallback and has none waiting, and for each
//!   earliest release r >= r_k of such a task ([`Tasks::slack`]).
//!
//! With `sum e_i C <= d_i <= p_i` this holds for the oldest waiting request at every decision, so
//! no deadline is missed: `tidegate_analysis::das` proves it. Each decision computes the limits for
//! t' once: one for all best-effort requests, and one for each waiting request.
//!
//! Behind `tokens-per-task`, units replace tasks ([`tasks`](self::tasks)).
//!
//! A job that may be dropped under its task's quality is not part of the fallback, and is dropped
//! if it would be late ([`tasks`](self::tasks)).
//!
//! Source: L. Reuther and M. Pohlack, "Using SATF Scheduling in Real-Time Systems", section 3,
//! which gives the idea; the conditions and the proof are this project's.

mod latest;
mod tasks;

use tidegate_model::{
    AccessTime, ActiveSubset, Class, Duration, Plan, Request, RequestId, Target, Time,
};

use self::latest::Latest;
use self::tasks::{Slack, Tasks, Unit};
use crate::placed_queue::{Placed, PlacedQueue};
use crate::{Decision, Event, Full, Policy, Tag};

/// A waiting real-time request.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    placed: Placed,
    unit: Unit,
    due_ns: i128,
    /// Whether the task's quality allows this request to be dropped.
    is_excused: bool,
}

/// A request that may be sent now, with its rank: access time, then age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    key: (Duration, u64),
    position: Position,
}

/// The shortest time until the next wake-up when only the passing of time can open the gate. A
/// request without an estimate counts as C from now, so its wait does not get shorter as time
/// passes.
const AGAIN_MIN: Duration = Duration::from_us(20);

/// The queue that holds a request, and the request's index in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    RealTime(usize),
    BestEffort(usize),
}

/// Shortest access time first among the requests that keep every deadline feasible; see the module
/// documentation.
///
/// # Invariants
/// - `waiting` is in the order of release.
///
/// # Complexity
/// Each decision O(queued + tasks).
#[derive(Debug)]
pub struct Das {
    waiting: Vec<Waiting>,
    best_effort: PlacedQueue,
    tasks: Tasks,
    access: Box<dyn AccessTime>,
    in_flight: Option<(RequestId, Target)>,
    /// Scratch space, recomputed at each decision.
    latest: Latest,
    released_count: u64,
    times: ActiveSubset,
    queued_max: u32,
}

impl Das {
    /// Returns the policy for `plan` on a drive whose access times `access` predicts to within the
    /// plan's margin.
    pub fn new(plan: &Plan, access: Box<dyn AccessTime>) -> Self {
        Self {
            waiting: Vec::new(),
            best_effort: PlacedQueue::new(plan.queued_max),
            tasks: Tasks::new(plan),
            access,
            in_flight: None,
            latest: Latest::default(),
            released_count: 0,
            times: plan.active_subset,
            queued_max: plan.queued_max,
        }
    }

    fn release(&mut self, request: &Request) -> Result<(), Full> {
        let target = self.access.target(request);
        let placed = Placed { number: self.released_count, id: request.id, target };
        if request.class == Class::BestEffort {
            self.best_effort.push(placed)?;
        } else {
            if self.waiting.len() >= self.queued_max as usize {
                return Err(Full);
            }
            let task = request.task.index();
            let (unit, is_excused) = self.tasks.released(task, request.eligible, request.optional);
            let due_ns = i128::from(request.due.unwrap_or(Time::MAX).ns());
            self.waiting.push(Waiting { placed, unit, due_ns, is_excused });
        }
        self.released_count += 1;
        Ok(())
    }

    fn cancel(&mut self, id: RequestId) {
        if let Some(index) = self.waiting.iter().position(|waiting| waiting.placed.id == id) {
            self.take_waiting(index);
        } else {
            self.best_effort.cancel(id);
        }
    }

    fn take_waiting(&mut self, index: usize) -> Placed {
        let Waiting { placed, unit, is_excused, .. } = self.waiting.remove(index);
        self.tasks.left(unit, is_excused);
        placed
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.tasks.reconfigure(plan);
        self.times = plan.active_subset;
        self.queued_max = plan.queued_max;
        self.best_effort.set_queued_max(plan.queued_max);
    }

    /// Returns the latest completion of a request that is sent now: the estimate plus the margin,
    /// or C if there is no estimate.
    ///
    /// An estimate is never reduced to C: a model that expects more than C is wrong, and the later
    /// completion is the safe one.
    fn through_ns(&self, now: Time, target: &Target) -> i128 {
        let ActiveSubset { service_max, excess_max, .. } = self.times;
        let takes_ns =
            self.access.service(target).map_or(i128::from(service_max.ns()), |service| {
                i128::from(service.ns()) + i128::from(excess_max.ns())
            });
        i128::from(now.ns()) + takes_ns
    }

    /// Returns a lower bound of [`Self::through_ns`] that is cheaper to compute.
    fn through_ns_min(&self, now: Time, access: Duration) -> i128 {
        i128::from(now.ns()) + i128::from(access.min(self.times.service_max).ns())
    }

    fn mandatory(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(|waiting| !waiting.is_excused)
    }

    /// Returns the latest instant until which the drive may be busy with this waiting request. A
    /// request of the fallback is already ahead of the jobs that may be released: sending it now
    /// only changes its position.
    fn latest_for(&self, index: usize, slack: Option<Slack>) -> i128 {
        let waiting = &self.waiting[index];
        let slack = slack.filter(|_| waiting.is_excused);
        let latest_ns = slack.map_or(waiting.due_ns, |slack| slack.latest_ns.min(waiting.due_ns));
        latest_ns.min(self.latest.without[index])
    }

    /// Returns the candidate with the shortest access time.
    fn choose(&self, now: Time, slack: Option<Slack>) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        let mut consider = |placed: &Placed, position: Position, latest_ns: &dyn Fn() -> i128| {
            let access = self.access.access(&placed.target);
            let key = (access, placed.number);
            if best.is_some_and(|best| best.key < key) {
                return;
            }
            let latest_ns = latest_ns();
            if self.through_ns_min(now, access) <= latest_ns
                && self.through_ns(now, &placed.target) <= latest_ns
            {
                best = Some(Candidate { key, position });
            }
        };
        for (index, waiting) in self.waiting.iter().enumerate() {
            let latest_ns = || self.latest_for(index, slack);
            consider(&waiting.placed, Position::RealTime(index), &latest_ns);
        }
        let slack_ns = slack.map_or(i128::MAX, |slack| slack.latest_ns);
        let latest_ns = slack_ns.min(self.latest.all);
        for (index, placed) in self.best_effort.as_slice().iter().enumerate() {
            consider(placed, Position::BestEffort(index), &|| latest_ns);
        }
        best
    }

    /// Returns the request to send now, if any may be sent.
    fn next(&self, now: Time, slack: Option<Slack>) -> Option<Position> {
        let oldest = || self.waiting.iter().position(|waiting| !waiting.is_excused);
        let fallback = || oldest().map(Position::RealTime);
        self.choose(now, slack).map(|candidate| candidate.position).or_else(fallback)
    }

    /// Returns a request that may be dropped and that would be late.
    fn late(&self, now: Time) -> Option<usize> {
        self.waiting.iter().position(|waiting| {
            waiting.is_excused && self.through_ns(now, &waiting.placed.target) > waiting.due_ns
        })
    }

    /// Returns the decision to wait, with the time at which to decide again if no event comes
    /// first. While no job is released, the limit moves with time, and a request may complete at
    /// the same instant although it is sent later: it waits for the platter's rotation either way.
    fn wait(&self, now: Time, slack: Option<Slack>) -> Decision {
        let excused = self.waiting.iter().map(|waiting| &waiting.placed);
        let all = excused.chain(self.best_effort.as_slice());
        let opening = slack.and_then(|Slack { latest_ns, from }| {
            let excess_ns = |placed: &Placed| {
                let access = self.access.access(&placed.target);
                let through_ns = self.through_ns_min(now, access);
                let through_ns = if through_ns > latest_ns {
                    through_ns
                } else {
                    self.through_ns(now, &placed.target)
                };
                through_ns - latest_ns
            };
            Some(i128::from(from.ns()) + all.map(excess_ns).min()?)
        });
        // At that instant the request is late and is dropped.
        let due = self.waiting.iter().map(|waiting| waiting.due_ns).min();
        let again = opening.into_iter().chain(due).min();
        let again = again.and_then(|ns| u64::try_from(ns).ok()).map(Time::from_ns);
        again.map_or(Decision::AwaitEvent, |at| Decision::NotBefore(at.max(now + AGAIN_MIN)))
    }

    fn dispatch(&mut self, now: Time, position: Position) -> Decision {
        let Placed { id, target, .. } = match position {
            Position::RealTime(index) => self.take_waiting(index),
            Position::BestEffort(index) => self.best_effort.take(index),
        };
        self.access.dispatched(now, &target);
        self.in_flight = Some((id, target));
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

impl Policy for Das {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.release(&request)?,
            Event::Complete { id, .. } => {
                let (in_flight, target) = self.in_flight.take().expect("it is in flight");
                assert_eq!(in_flight, id, "the completed request was not in flight");
                self.access.completed(now, &target);
            }
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.reconfigure(&plan),
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight.is_some() {
            return Decision::AwaitEvent;
        }
        self.access.advance(now);
        if let Some(index) = self.late(now) {
            return Decision::Drop(self.waiting.remove(index).placed.id);
        }
        let waiting = self.waiting.iter().map(|waiting| (waiting.due_ns, waiting.is_excused));
        let service_max = self.times.service_max;
        self.latest.measure(waiting, service_max);
        let slack = self.tasks.slack(now, self.mandatory().count(), service_max);
        match self.next(now, slack) {
            Some(position) => self.dispatch(now, position),
            None => self.wait(now, slack),
        }
    }
}

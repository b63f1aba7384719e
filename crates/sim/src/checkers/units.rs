// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of each unit of each task. A task whose jobs have e requests has e units: at most e of
//! its requests are within its contract at the same time. Further requests wait for a unit, and no
//! condition counts them.
//!
//! Every query scans all units, which is simple and fast enough for a checker.

use std::collections::VecDeque;

use tidegate_model::{Plan, Request, RequestId, Time};

use super::is_best_effort;

/// The state of a unit, with its request and the request's deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Idle,
    Waiting(RequestId, Time),
    InFlight(RequestId, Time),
}

/// A unit: one request of a task's jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    task: usize,
    pub(super) stage: Stage,
    /// The earliest instant of the unit's next release.
    pub(super) next_release: Time,
}

/// All units; see the module documentation.
#[derive(Debug)]
pub(super) struct Units {
    plan: Plan,
    all: Vec<Unit>,
    /// The waiting requests beyond contracts, by task.
    excess: Vec<VecDeque<Request>>,
}

impl Units {
    pub(super) fn of(plan: &Plan) -> Self {
        let of_task = |(task, requests): (usize, u32)| {
            let unit = Unit { task, stage: Stage::Idle, next_release: Time::ZERO };
            // Requests beyond the drive's depth are never on it together.
            std::iter::repeat_n(unit, requests.min(plan.depth) as usize)
        };
        let requests = plan.tasks.iter().map(|task| task.requests).enumerate();
        Self {
            plan: plan.clone(),
            all: requests.flat_map(of_task).collect(),
            excess: vec![VecDeque::new(); plan.tasks.len()],
        }
    }

    /// Returns whether a request belongs to a task's job.
    pub(super) fn is_of_task(&self, request: &Request) -> bool {
        !is_best_effort(request) && request.task.index() < self.plan.tasks.len()
    }

    pub(super) fn all(&self) -> &[Unit] {
        &self.all
    }

    /// Returns the deadline of a job of this unit that is released at `at`.
    pub(super) fn due_after(&self, unit: &Unit, at: Time) -> Time {
        at.checked_add(self.plan.tasks[unit.task].deadline).unwrap_or(Time::MAX)
    }

    /// Returns the deadlines of the waiting units.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Time, RequestId)> {
        self.all.iter().filter_map(|unit| match unit.stage {
            Stage::Waiting(id, due) => Some((due, id)),
            Stage::Idle | Stage::InFlight(..) => None,
        })
    }

    /// Returns the number of waiting requests of tasks, including those beyond contracts.
    pub(super) fn queued_count(&self) -> usize {
        self.waiting().count() + self.excess.iter().map(VecDeque::len).sum::<usize>()
    }

    pub(super) fn release(&mut self, request: &Request) {
        let task = request.task.index();
        let idle = self
            .all
            .iter_mut()
            .filter(|unit| unit.task == task && unit.stage == Stage::Idle)
            .min_by_key(|unit| unit.next_release);
        let Some(unit) = idle else {
            self.excess[task].push_back(*request);
            return;
        };
        let contract = &self.plan.tasks[task];
        // The deadline of a request that a regulator held back counts from the instant at which the
        // regulator passed it on.
        let own = request.due.filter(|_| request.eligible <= request.released);
        let by_contract = || request.eligible.checked_add(contract.deadline);
        let due = own.or_else(by_contract).unwrap_or(Time::MAX);
        unit.stage = Stage::Waiting(request.id, due);
        unit.next_release = request.eligible.checked_add(contract.period).unwrap_or(Time::MAX);
    }

    /// Moves a waiting unit to the drive and returns its deadline, if there is such a unit.
    pub(super) fn send(&mut self, request: &Request) -> Option<Time> {
        self.all.iter_mut().find_map(|unit| match unit.stage {
            Stage::Waiting(id, due) if id == request.id => {
                unit.stage = Stage::InFlight(id, due);
                Some(due)
            }
            Stage::Waiting(..) | Stage::Idle | Stage::InFlight(..) => None,
        })
    }

    /// Ends a request that completed or was dropped: its unit becomes idle and takes the next
    /// request that waits beyond the contract.
    pub(super) fn end(&mut self, request: &Request) {
        let task = request.task.index();
        let has_it = |unit: &&mut Unit| match unit.stage {
            Stage::Waiting(id, _) | Stage::InFlight(id, _) => id == request.id,
            Stage::Idle => false,
        };
        if let Some(unit) = self.all.iter_mut().find(has_it) {
            unit.stage = Stage::Idle;
            if let Some(next) = self.excess[task].pop_front() {
                self.release(&next);
            }
        } else {
            self.excess[task].retain(|waiting| waiting.id != request.id);
        }
    }
}

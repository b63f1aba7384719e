// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: when a policy has decided, the drive holds as many requests as the policy
//! keeps it busy with, or nothing is queued that the policy serves.
//!
//! A batch that was late is paid for by best effort where the policy minds it: for as long as it
//! was late only real time counts.
//!
//! `fifo` and `dqf` keep one request or batch on the drive, `noop` as many requests as the
//! drive accepts. With beta 0 `dqf` does not serve best effort.

use tidegate_model::{BatchCost, BatchTable, Class, Duration, Outcome, Plan, Request, Time};

use super::{Breach, Checker, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Which requests a policy never leaves waiting beside room on the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Those of every class.
    All,
    /// All but best effort.
    RealTime,
    /// The same of so many tasks, and of no other source.
    RealTimeOfTasks(usize),
    /// Those that no shaper holds back.
    HardAndSoft,
}

impl Served {
    /// Those of a policy that fills batches with best effort, if the plan lets it.
    pub const fn filling(plan: &Plan) -> Self {
        if plan.best_effort_fill > 0 { Self::All } else { Self::RealTime }
    }

    fn contains(self, request: &Request) -> bool {
        let is_best_effort = is_best_effort(request);
        match self {
            Self::All => true,
            Self::RealTime => !is_best_effort,
            Self::RealTimeOfTasks(count) => !is_best_effort && request.task.index() < count,
            Self::HardAndSoft => match request.class {
                Class::Hard | Class::Soft => true,
                Class::Interactive | Class::BestEffort => false,
            },
        }
    }
}

/// No idling while there is work; see the module's text.
#[derive(Debug)]
pub struct WorkConservation {
    busy_from: u64,
    served: Served,
    queued_count: u64,
    /// Those of them that are of best effort.
    best_effort_count: u64,
    in_flight_count: u64,
    /// b, where best effort pays for batches that take longer.
    table: Option<BatchTable>,
    /// What takes the place of b where batches are limited by cost.
    cost: Option<BatchCost>,
    /// When the batch on the drive is late.
    due_back: Option<Time>,
    /// Until when best effort pays.
    resume: Time,
    log: ViolationLog,
}

impl WorkConservation {
    /// The checker of a policy that sends while fewer than `busy_from` are in flight.
    pub fn new(busy_from: u32, served: Served) -> Self {
        Self {
            busy_from: u64::from(busy_from),
            served,
            queued_count: 0,
            best_effort_count: 0,
            in_flight_count: 0,
            table: None,
            cost: None,
            due_back: None,
            resume: Time::ZERO,
            log: ViolationLog::default(),
        }
    }

    /// Best effort may wait after a batch that took longer than `table` says, for as long as it
    /// was late.
    #[must_use]
    pub fn with_overruns(self, table: BatchTable) -> Self {
        Self { table: Some(table), ..self }
    }

    /// A batch is late by what its requests cost, where they are limited by that.
    #[must_use]
    pub fn with_costs(self, cost: Option<BatchCost>) -> Self {
        Self { cost, ..self }
    }

    /// What a batch may take; none where nobody minds.
    fn time_max(&self, batch: &[Request]) -> Option<Duration> {
        let table = self.table.as_ref()?;
        let Some(cost) = &self.cost else {
            let size = u32::try_from(batch.len()).expect("at most the depth");
            return Some(table.time_max(size.min(table.batch_max())));
        };
        let charges_ns = batch.iter().map(|request| cost.charge_ns(request.op, request.size));
        Some(cost.charges.positioning_max + Duration::from_ns(charges_ns.sum()))
    }

    fn forget(&mut self, request: &Request) {
        if self.is_served(request) {
            // Saturation: a request sent twice is the matter of another checker.
            self.queued_count = self.queued_count.saturating_sub(1);
            let best_effort = u64::from(is_best_effort(request));
            self.best_effort_count = self.best_effort_count.saturating_sub(best_effort);
        }
    }

    fn end_batch(&mut self, now: Time) {
        if let Some(due_back) = self.due_back.take().filter(|&due_back| due_back < now) {
            self.resume = self.resume.max(now + now.since(due_back));
        }
    }

    fn is_served(&self, request: &Request) -> bool {
        self.served.contains(request)
    }
}

impl Checker for WorkConservation {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for WorkConservation {
    fn released(&mut self, _now: Time, request: &Request) {
        if self.is_served(request) {
            self.queued_count += 1;
            self.best_effort_count += u64::from(is_best_effort(request));
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.in_flight_count += count(batch.len());
        for request in batch {
            self.forget(request);
        }
        self.due_back = self.time_max(batch).map(|time_max| now + time_max);
    }

    fn completed(&mut self, now: Time, _request: &Request, _outcome: Outcome) {
        // Saturation: a request returned twice is the matter of another checker.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
        if self.in_flight_count == 0 {
            self.end_batch(now);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }

    fn settled(&mut self, now: Time) {
        let paying = if now < self.resume { self.best_effort_count } else { 0 };
        let queued_count = self.queued_count - paying;
        let in_flight_count = self.in_flight_count;
        if queued_count > 0 && in_flight_count < self.busy_from {
            self.log.add(now, Breach::RoomUnused { queued_count, in_flight_count });
        }
    }
}

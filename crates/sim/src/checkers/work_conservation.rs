// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: after a decision, as many requests are on the drive as the policy keeps there, or no
//! request is queued that the policy serves.
//!
//! If the policy measures late batches, best effort yields after a late batch: for as long as the
//! batch was late, only real time counts.
//!
//! `fifo` and `dqf` keep one request or batch on the drive, `noop` as many requests as the drive
//! accepts. With beta 0 `dqf` does not serve best effort.

use tidegate_model::{BatchCost, BatchTable, Class, Duration, Outcome, Plan, Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// The requests that a policy never leaves waiting while the drive has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Requests of every class.
    All,
    /// All requests except best effort.
    RealTime,
    /// Real-time requests of this many tasks, and of no other source.
    RealTimeOfTasks(usize),
    /// The requests that no shaper holds back.
    HardAndSoft,
}

impl Served {
    /// Returns the requests that are never left waiting by a policy that fills batches with best
    /// effort if the plan allows it.
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

/// Checks that a policy does not idle while requests wait; see the module documentation.
#[derive(Debug)]
pub struct WorkConservation {
    busy_from: u64,
    served: Served,
    queued_count: u64,
    /// The number of queued best-effort requests.
    best_effort_count: u64,
    in_flight_count: u64,
    /// The batch table b, if best effort yields after late batches.
    table: Option<BatchTable>,
    /// The cost limit, which replaces b if batches are limited by cost.
    cost: Option<BatchCost>,
    /// The latest completion of the batch on the drive.
    due_back: Option<Time>,
    /// The end of the time in which best effort yields.
    resume: Time,
    log: ViolationLog,
}

impl WorkConservation {
    /// Creates the checker of a policy that sends while fewer than `busy_from` requests are in
    /// flight.
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

    /// Allows best effort to wait after a batch that took longer than `table` says, for as long as
    /// it was late.
    #[must_use]
    pub fn with_overruns(self, table: BatchTable) -> Self {
        Self { table: Some(table), ..self }
    }

    /// Measures lateness against the cost of a batch's requests, if batches are limited by cost.
    #[must_use]
    pub fn with_costs(self, cost: Option<BatchCost>) -> Self {
        Self { cost, ..self }
    }

    /// Returns the longest time of a batch; `None` if lateness does not matter.
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
            // Saturation is safe: another checker reports a request dispatched twice.
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

keeps_log!(WorkConservation);

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
        // Saturation is safe: another checker reports a request returned twice.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: best effort leaves the reserved slots free. It joins only while the drive, with all
//! slots taken, could be drained in time (`rtio-slots`): by the earliest deadline of the real-time
//! requests on the drive or, if there are none, within the shortest relative deadline.
//!
//! This is the rule as published. It does not guarantee deadlines.

use std::collections::BTreeMap;

use tidegate_model::{Duration, Outcome, Plan, Request, RequestId, Time};

use super::drain_table::{DrainTable, is_by};
use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that best effort keeps the reserved slots free; see the module documentation.
#[derive(Debug)]
pub struct SlotsKept {
    drain: DrainTable,
    /// n: the number of slots.
    slots: u64,
    /// The shortest relative deadline; `None` without tasks, when no slot is reserved.
    deadline_min: Option<Duration>,
    in_flight: BTreeMap<RequestId, Request>,
    log: ViolationLog,
}

impl SlotsKept {
    /// Creates the checker of the plan's tasks and drain times.
    pub fn new(plan: &Plan) -> Self {
        Self {
            drain: DrainTable::of(plan),
            slots: plan.real_time_requests(),
            deadline_min: plan.deadline_min(),
            in_flight: BTreeMap::new(),
            log: ViolationLog::default(),
        }
    }

    /// Returns whether the rule allows the drive's current number of best-effort requests.
    fn is_kept(&self, now: Time, deadline_min: Duration) -> bool {
        let best_effort = self.in_flight.values().filter(|request| is_best_effort(request));
        let taken = self.slots.saturating_add(count(best_effort.count()));
        let real_time = self.in_flight.values().filter(|request| !is_best_effort(request));
        match real_time.filter_map(|request| request.due).min() {
            Some(due) => is_by(self.drain.empty_by(now, taken), due),
            None => self.drain.time(taken).is_some_and(|time| time <= deadline_min),
        }
    }
}

keeps_log!(SlotsKept);

impl Observer for SlotsKept {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.in_flight.extend(batch.iter().map(|request| (request.id, *request)));
        let Some(deadline_min) = self.deadline_min else { return };
        let joined = batch.iter().rev().find(|request| is_best_effort(request));
        if let Some(&Request { id, .. }) = joined
            && !self.is_kept(now, deadline_min)
        {
            let outstanding = count(self.in_flight.len());
            self.log.add(now, Breach::JoinedTooLate { id, outstanding });
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.in_flight.remove(&request.id);
    }
}

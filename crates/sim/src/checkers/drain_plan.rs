// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: after every dispatch the plan "send nothing more, wait until the drive is empty, send
//! all pending requests together" keeps every deadline (`gated-drain`, `docs/theory/draining.md`
//! section 8).
//!
//! A unit is one of the e requests of a task's jobs. With k requests in flight after a dispatch at
//! t, n units in total and m of them not on the drive, this means:
//!
//! - `t + drain(k) <= due` for each unit on the drive;
//! - `t + drain(k) + drain(m) <= due` for each waiting unit, and
//!   `<= max(t, next release) + deadline` for each unit that is not released;
//! - if requests other than units were sent: `t + drain(k) + drain(n) <= next release + deadline`
//!   for each unit on the drive.
//!
//! Units may be sent against the plan only to an empty drive: no deadline is certain then, and all
//! waiting units are sent, or as many as the drive accepts. Units are sent in the order of their
//! deadlines, and no other request is sent while a unit waits.
//!
//! While more requests wait than the policy can hold, the host holds some of them, and nothing is
//! asserted.

use tidegate_model::{Outcome, Plan, Request, Time};

use super::drain_table::{DrainTable, is_by};
use super::units::{Stage, Units};
use super::{Breach, ViolationLog, count};
use crate::Observer;

/// Checks that every dispatch leaves a safe plan; see the module documentation.
#[derive(Debug)]
pub struct DrainPlan {
    drain: DrainTable,
    depth: u64,
    queued_max: usize,
    units: Units,
    in_flight_count: u64,
    log: ViolationLog,
}

impl DrainPlan {
    /// Creates the checker of the plan's tasks and drain times.
    pub fn new(plan: &Plan) -> Self {
        Self {
            drain: DrainTable::of(plan),
            depth: u64::from(plan.depth),
            queued_max: plan.queued_max as usize,
            units: Units::of(plan),
            in_flight_count: 0,
            log: ViolationLog::default(),
        }
    }

    fn is_known(&self) -> bool {
        self.units.queued_count() <= self.queued_max
    }

    /// Returns whether the plan keeps every deadline after a dispatch at `now`.
    fn is_safe(&self, now: Time, has_others: bool) -> bool {
        let outstanding = self.in_flight_count;
        let units = self.units.all();
        let is_on_drive = |stage| match stage {
            Stage::InFlight(..) => true,
            Stage::Idle | Stage::Waiting(..) => false,
        };
        let absent = count(units.iter().filter(|unit| !is_on_drive(unit.stage)).count());
        let empty_by = self.drain.empty_by(now, outstanding);
        let served_by = self.drain.served_by(now, outstanding, absent);
        let after_all = self.drain.served_by(now, outstanding, count(units.len()));
        units.iter().all(|unit| match unit.stage {
            Stage::InFlight(_, due) => {
                let next_due = self.units.due_after(unit, unit.next_release);
                is_by(empty_by, due) && (!has_others || is_by(after_all, next_due))
            }
            Stage::Waiting(_, due) => is_by(served_by, due),
            Stage::Idle => is_by(served_by, self.units.due_after(unit, now.max(unit.next_release))),
        })
    }

    /// Checks that the batch leaves no unit waiting while it holds other requests or a unit that is
    /// due later. `due_last` is the latest deadline of its units.
    fn check_order(&mut self, now: Time, batch: &[Request], due_last: Option<Time>) {
        let Some(last) = batch.last() else { return };
        let Some((due, waiting)) = self.units.waiting().min() else { return };
        if batch.iter().any(|request| !self.units.is_of_task(request)) {
            self.log.add(now, Breach::ClassOvertook { id: last.id });
        }
        if due_last.is_some_and(|due_last| due < due_last) {
            self.log.add(now, Breach::LaterDueFirst { id: last.id, waiting });
        }
    }
}

keeps_log!(DrainPlan);

impl Observer for DrainPlan {
    fn released(&mut self, _now: Time, request: &Request) {
        if self.units.is_of_task(request) {
            self.units.release(request);
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let (is_known, was_empty) = (self.is_known(), self.in_flight_count == 0);
        let dues = batch.iter().filter_map(|request| self.units.send(request)).max();
        self.in_flight_count += count(batch.len());
        let Some(&Request { id, .. }) = batch.last() else { return };
        if !is_known || self.units.all().is_empty() {
            return;
        }
        self.check_order(now, batch, dues);
        let has_others = batch.iter().any(|request| !self.units.is_of_task(request));
        let outstanding = self.in_flight_count;
        let is_all = self.units.waiting().next().is_none() || outstanding == self.depth;
        let is_way_out = was_empty && !has_others && is_all;
        if !is_way_out && !self.is_safe(now, has_others) {
            self.log.add(now, Breach::JoinedTooLate { id, outstanding });
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        // Saturation is safe: another checker reports a request returned twice.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
        if self.units.is_of_task(request) {
            self.units.end(request);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        if self.units.is_of_task(request) {
            self.units.end(request);
        }
    }
}

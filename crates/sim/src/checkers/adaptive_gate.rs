// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a dispatch to a busy drive leaves enough time to complete every real-time request on it
//! by its deadline; and best effort joins only while the task's next job can still be served in
//! time, either immediately or when the drive is empty (`adaptive-drain`, `docs/theory/draining.md`
//! section 8).
//!
//! With k requests in flight after a dispatch at t, D the deadline and r the next release:
//!
//! - real time on the drive and k > 1: `t + drain(k) <= due` of each;
//! - best effort sent, real time on the drive: `drain(k) <= D` or
//!   `t + drain(k) + drain(1) <= r + D`;
//! - best effort sent, none on the drive: `drain(k + 1) <= D` or
//!   `t + drain(k) + drain(1) <= max(t, r) + D`.

use std::collections::BTreeMap;

use tidegate_model::{Duration, Outcome, Plan, Request, RequestId, Time};

use super::drain_table::{DrainTable, is_by};
use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that best effort joins until the latest safe instant; see the module documentation.
#[derive(Debug)]
pub struct AdaptiveGate {
    drain: DrainTable,
    /// D: the task's relative deadline; `None` without tasks.
    deadline: Option<Duration>,
    /// The period of the only task, if its jobs have one request; otherwise zero, because another
    /// real-time request may be released at any time.
    period: Duration,
    task_count: usize,
    /// r: the earliest next release.
    next_release: Time,
    in_flight: BTreeMap<RequestId, Request>,
    log: ViolationLog,
}

impl AdaptiveGate {
    /// Creates the checker of the plan's task and drain times.
    pub fn new(plan: &Plan) -> Self {
        let period =
            if plan.real_time_requests() == 1 { plan.tasks[0].period } else { Duration::ZERO };
        Self {
            drain: DrainTable::of(plan),
            deadline: plan.deadline_min(),
            period,
            task_count: plan.tasks.len(),
            next_release: Time::ZERO,
            in_flight: BTreeMap::new(),
            log: ViolationLog::default(),
        }
    }

    /// Returns the instant by which a real-time request must complete. The deadline of a request
    /// that a regulator held back counts from the instant at which the regulator passed it on.
    fn due(&self, request: &Request) -> Time {
        let own = request.due.filter(|_| request.eligible <= request.released);
        let by_contract = || request.eligible.checked_add(self.deadline?);
        own.or_else(by_contract).or(request.due).unwrap_or(Time::MAX)
    }

    fn earliest_due(&self) -> Option<Time> {
        let real_time = self.in_flight.values().filter(|request| !is_best_effort(request));
        real_time.map(|request| self.due(request)).min()
    }

    /// Returns whether the requests on the drive after a dispatch at `now` keep all deadlines safe.
    fn is_safe(&self, now: Time, is_best_effort_sent: bool) -> bool {
        let outstanding = count(self.in_flight.len());
        let due = self.earliest_due();
        let is_returned = due.is_none_or(|due| is_by(self.drain.empty_by(now, outstanding), due));
        let Some(deadline) = self.deadline else {
            return is_best_effort_sent || outstanding == 1 || is_returned;
        };
        if !is_best_effort_sent {
            return outstanding == 1 || is_returned;
        }
        let (together, release) = match due {
            Some(_) => (outstanding, self.next_release),
            None => (outstanding + 1, self.next_release.max(now)),
        };
        let has_place = self.drain.time(together).is_some_and(|time| time <= deadline);
        let next_due = release.checked_add(deadline).unwrap_or(Time::MAX);
        is_returned && (has_place || is_by(self.drain.served_by(now, outstanding, 1), next_due))
    }
}

keeps_log!(AdaptiveGate);

impl Observer for AdaptiveGate {
    fn released(&mut self, _now: Time, request: &Request) {
        if !is_best_effort(request) && request.task.index() < self.task_count {
            let next = request.eligible.checked_add(self.period).unwrap_or(Time::MAX);
            self.next_release = self.next_release.max(next);
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.in_flight.extend(batch.iter().map(|request| (request.id, *request)));
        let Some(&Request { id, .. }) = batch.last() else { return };
        if !self.is_safe(now, batch.iter().any(is_best_effort)) {
            let outstanding = count(self.in_flight.len());
            self.log.add(now, Breach::JoinedTooLate { id, outstanding });
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.in_flight.remove(&request.id);
    }
}

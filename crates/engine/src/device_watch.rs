// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What only a run on a real clock has to tell: how late the host was, what the device took,
//! and whether its batches kept the table.
//!
//! An observer of the loop, so that runs in virtual time do not pay for it.

use tidegate_host::{BatchWatch, Observer};
use tidegate_model::{Class, Outcome, Plan, Request, TaskIndex, Time};
use tidegate_stats::{Distribution, Memory};

/// Watches host and device apart from the policy.
#[derive(Debug, PartialEq)]
pub struct DeviceWatch {
    /// How late the host released jobs: from the nominal instant to when the policy was told.
    /// Part of every response time.
    pub host_lateness: Distribution,
    /// What the device took for a request: from submission to when the host saw it complete.
    pub device_time: Distribution,
    /// Batches against the table.
    pub batches: BatchWatch,
    /// When the request in each slot was submitted.
    submitted: Vec<Time>,
    /// The job that a request was released of last: its further requests do not count.
    last_job: Option<(TaskIndex, Time)>,
}

impl DeviceWatch {
    /// Nothing seen yet; batches are compared with the plan's table, or with the costs of their
    /// requests where the proof charges these. There is room for `expected` requests outstanding
    /// before memory is taken.
    pub(crate) fn new(plan: &Plan, expected: usize) -> Self {
        let batches = BatchWatch::new(plan.table.clone());
        Self {
            host_lateness: Distribution::new(Memory::Beforehand),
            device_time: Distribution::new(Memory::Beforehand),
            batches: match &plan.charges {
                Some(charges) => batches.by_costs(charges.clone()),
                None => batches,
            },
            submitted: vec![Time::ZERO; expected],
            last_job: None,
        }
    }
}

impl Observer for DeviceWatch {
    fn released(&mut self, now: Time, request: &Request) {
        let job = Some((request.task, request.released));
        if request.class != Class::BestEffort && self.last_job != job {
            self.last_job = job;
            self.host_lateness.record(now.since(request.released));
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.batches.dispatched(now, batch);
        for request in batch {
            let slot = tidegate_host::slot(request.id);
            if slot >= self.submitted.len() {
                self.submitted.resize(slot + 1, Time::ZERO);
            }
            self.submitted[slot] = now;
        }
    }

    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        if outcome == Outcome::Done {
            self.device_time.record(now.since(self.submitted[tidegate_host::slot(request.id)]));
        }
        self.batches.completed(now, request, outcome);
    }
}

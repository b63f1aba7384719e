// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures what simulations cannot show: the host's lateness, the device's service times, and
//! whether its batches kept to the table.
//!
//! The watch observes the host's loop, so runs in virtual time, which do not use it, have no
//! overhead.

use tidegate_host::{BatchWatch, Observer};
use tidegate_model::{Class, Duration, Host, Outcome, Plan, Request, TaskIndex, Time};
use tidegate_stats::{Distribution, Memory};

/// Measures host and device separately from the policy.
#[derive(Debug, PartialEq)]
pub struct DeviceWatch {
    /// The host's lateness in releasing jobs: from the nominal release, after the job's jitter,
    /// until the policy got the job. It is part of every response time.
    pub host_lateness: Distribution,
    /// The device's service time per request: from its submission until the host saw it complete.
    pub device_time: Distribution,
    /// Compares batches with the drive's table.
    pub batches: BatchWatch,
    /// The jitter of each task.
    jitters: Vec<Duration>,
    /// The host's time as the workload states it.
    host: Host,
    /// The submission time of the request in each slot.
    submitted: Vec<Time>,
    /// The job of the last released request; lateness is recorded once per job.
    last_job: Option<(TaskIndex, Time)>,
}

impl DeviceWatch {
    /// Makes a watch that compares batches with the plan's limits. It reserves room for `expected`
    /// outstanding requests, and allocates no memory while there are no more.
    pub(crate) fn new(plan: &Plan, host: Host, expected: usize) -> Self {
        Self {
            jitters: plan.tasks.iter().map(|task| task.jitter).collect(),
            host,
            host_lateness: Distribution::new(Memory::Beforehand),
            device_time: Distribution::new(Memory::Beforehand),
            batches: BatchWatch::new(&plan.limits),
            submitted: vec![Time::ZERO; expected],
            last_job: None,
        }
    }

    /// Returns the lateness of the host in releasing a job, without the job's jitter. If the
    /// workload states the host's time, the jitter cannot be separated from it, so a job with
    /// jitter has no figure.
    fn lateness(&self, now: Time, request: &Request) -> Option<Duration> {
        match self.host.stated() {
            None => Some(now.since(request.eligible)),
            Some(_) if self.jitters[request.task.index()].is_zero() => {
                Some(now.since(request.released))
            }
            Some(_) => None,
        }
    }
}

impl Observer for DeviceWatch {
    fn released(&mut self, now: Time, request: &Request) {
        let job = Some((request.task, request.released));
        if request.class != Class::BestEffort && self.last_job != job {
            self.last_job = job;
            if let Some(late) = self.lateness(now, request) {
                self.host_lateness.record(late);
            }
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

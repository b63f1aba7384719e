// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: from the release of a real-time request until none is pending, at most `taken_early`
//! best-effort requests are sent (`mq-deadline-tuned`).
//!
//! The claim covers a real-time request only if the scheduler had a tag for it at its release, and
//! a best-effort request only if it has not aged.

use std::collections::BTreeMap;

use tidegate_model::{Duration, Outcome, Plan, Request, RequestId, Time};

use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// Checks that lower classes wait for real time; see the module documentation.
#[derive(Debug)]
pub struct StrictClasses {
    taken_early: u64,
    tags_max: u64,
    aging_expire: Duration,
    /// The requests that are released and not complete, with their release.
    outstanding: BTreeMap<RequestId, Time>,
    /// The real-time requests among `outstanding` that had a tag at their release.
    real_time: BTreeMap<RequestId, Time>,
    /// Best-effort requests sent since real time became pending.
    sent: u64,
    log: ViolationLog,
}

impl StrictClasses {
    /// Creates the checker of a policy that carries out `plan`.
    pub fn new(plan: &Plan) -> Self {
        let settings = plan.parameters.mq_deadline_tuned;
        Self {
            taken_early: u64::from(settings.taken_early),
            tags_max: settings.nr_requests.map_or(u64::MAX, |tags| u64::from(tags.get())),
            aging_expire: settings.prio_aging_expire,
            outstanding: BTreeMap::new(),
            real_time: BTreeMap::new(),
            sent: 0,
            log: ViolationLog::default(),
        }
    }

    fn forget(&mut self, request: &Request) {
        self.outstanding.remove(&request.id);
        self.real_time.remove(&request.id);
        if self.real_time.is_empty() {
            self.sent = 0;
        }
    }
}

keeps_log!(StrictClasses);

impl Observer for StrictClasses {
    fn released(&mut self, now: Time, request: &Request) {
        self.outstanding.insert(request.id, now);
        let has_tag = self.outstanding.len() as u64 <= self.tags_max;
        if has_tag && !is_best_effort(request) {
            self.real_time.insert(request.id, now);
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        if self.real_time.is_empty() {
            return;
        }
        for request in batch.iter().filter(|request| is_best_effort(request)) {
            // Another checker reports a request that never arrived.
            let Some(&since) = self.outstanding.get(&request.id) else { continue };
            if now.since(since) >= self.aging_expire {
                continue;
            }
            self.sent += 1;
            if self.sent > self.taken_early {
                self.log.add(now, Breach::ClassOvertook { id: request.id });
            }
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.forget(request);
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }
}

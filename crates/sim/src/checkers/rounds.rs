// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: real time goes to the drive in rounds (`rtio-drain`, `rtio-limit`, `rtio-priority`).
//! While a real-time request is in flight, no further one is sent. When none is in flight, all
//! queued real-time requests are sent together, as many as the drive has room for, however much
//! best effort is in flight.
//!
//! A policy holds at most `queued_max` requests of a class and does not know the requests that its
//! host holds beyond them; those may wait for the next round.

use tidegate_model::{Class, Outcome, Plan, Request, Time};

use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that real time is sent in complete rounds; see the module documentation.
#[derive(Debug)]
pub struct Rounds {
    depth: u64,
    queued_max: u64,
    /// Number of queued requests of each class.
    queued: [u64; Class::ALL.len()],
    in_flight_count: u64,
    real_time_count: u64,
    log: ViolationLog,
}

impl Rounds {
    /// Creates the checker of a policy that carries out `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            depth: u64::from(plan.depth),
            queued_max: u64::from(plan.queued_max),
            queued: [0; Class::ALL.len()],
            in_flight_count: 0,
            real_time_count: 0,
            log: ViolationLog::default(),
        }
    }

    fn forget(&mut self, request: &Request) {
        let queued = &mut self.queued[request.class as usize];
        // Saturation is safe: another checker reports a request dispatched twice.
        *queued = queued.saturating_sub(1);
    }

    /// Returns the number of queued real-time requests that the policy knows.
    fn known_count(&self) -> u64 {
        let real_time = Class::ALL.into_iter().filter(|&class| class != Class::BestEffort);
        real_time.map(|class| self.queued[class as usize].min(self.queued_max)).sum()
    }

    /// Reports a round that left `queued_count` requests behind although the drive has room.
    fn check_complete(&mut self, now: Time, queued_count: u64) {
        let in_flight_count = self.in_flight_count;
        if queued_count > 0 && in_flight_count < self.depth {
            self.log.add(now, Breach::RoundCut { queued_count, in_flight_count });
        }
    }
}

keeps_log!(Rounds);

impl Observer for Rounds {
    fn released(&mut self, _now: Time, request: &Request) {
        self.queued[request.class as usize] += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let (known, before) = (self.known_count(), self.real_time_count);
        let sent = count(batch.iter().filter(|request| !is_best_effort(request)).count());
        for request in batch {
            self.forget(request);
        }
        self.in_flight_count += count(batch.len());
        self.real_time_count += sent;
        if sent == 0 {
            return;
        }
        if before > 0 {
            self.log.add(now, Breach::RealTimeJoined { real_time_count: before });
        } else {
            // Saturation is safe: another checker reports a request that was not queued.
            self.check_complete(now, known.saturating_sub(sent));
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        // Saturation is safe: another checker reports a request returned twice.
        self.in_flight_count = self.in_flight_count.saturating_sub(1);
        if !is_best_effort(request) {
            self.real_time_count = self.real_time_count.saturating_sub(1);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }

    fn settled(&mut self, now: Time) {
        if self.real_time_count == 0 {
            self.check_complete(now, self.known_count());
        }
    }
}

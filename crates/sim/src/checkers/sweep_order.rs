// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: best effort is served in sweeps by rising position (the order `elevator`). A new
//! request at or above the last one dispatched joins the running sweep, but at most as many join as
//! the sweep began with; all others wait for the next sweep.
//!
//! Once the host has held requests back because the policy was full, the checker stops: the policy
//! began its sweeps without them.

use std::collections::BTreeSet;

use tidegate_model::{Lba, Request, RequestId, Time};

use super::arrivals::Arrivals;
use super::policy_room::PolicyRoom;
use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// A position, the number of the request's arrival, and the request.
type Key = (Lba, u64, RequestId);

/// Checks the sweeps of best effort; see the module documentation.
#[derive(Debug)]
pub struct SweepOrder {
    room: PolicyRoom,
    /// The running sweep, and the next one.
    sweeps: [BTreeSet<Key>; 2],
    arrivals: Arrivals,
    last: Lba,
    newcomers_left: usize,
    log: ViolationLog,
}

impl SweepOrder {
    /// Creates the checker of a policy that holds `queued_max` requests of best effort.
    pub fn new(queued_max: u32) -> Self {
        let (sweeps, arrivals, log) = Default::default();
        Self {
            room: PolicyRoom::of_best_effort(queued_max),
            sweeps,
            arrivals,
            last: Lba::new(0),
            newcomers_left: 0,
            log,
        }
    }

    /// Removes a queued request.
    fn remove(&mut self, request: &Request) -> Option<Key> {
        let key = (request.start, self.arrivals.leave(request.id)?, request.id);
        for sweep in &mut self.sweeps {
            sweep.remove(&key);
        }
        Some(key)
    }

    fn dispatch(&mut self, now: Time, request: &Request) {
        if self.sweeps[0].is_empty() {
            self.sweeps.swap(0, 1);
            self.newcomers_left = self.sweeps[0].len();
        }
        let next = self.sweeps[0].first().copied();
        // Another checker reports a request that never arrived.
        let Some(key) = self.remove(request) else { return };
        if let Some((.., expected)) = next.filter(|&next| next != key && !self.room.was_exceeded())
        {
            self.log.add(now, Breach::OutOfPosition { id: request.id, expected });
        }
        self.last = request.start;
    }
}

keeps_log!(SweepOrder);

impl Observer for SweepOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.room.enter(request);
        if !is_best_effort(request) {
            return;
        }
        let key = (request.start, self.arrivals.arrive(request.id), request.id);
        let joins = request.start >= self.last && self.newcomers_left > 0;
        self.newcomers_left -= usize::from(joins);
        self.sweeps[usize::from(!joins)].insert(key);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            self.room.leave(request);
            if is_best_effort(request) {
                self.dispatch(now, request);
            }
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.room.leave(request);
        self.remove(request);
    }
}

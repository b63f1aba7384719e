// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: within a real-time class, requests are dispatched in the order of their release; such a
//! class dispatches nothing while a higher class has a queued request (the RTIO family).
//!
//! Best effort may be dispatched while real time waits for its round, or because only best effort
//! has room. A policy holds at most `queued_max` requests of a class and does not know the requests
//! that its host holds beyond them; those may wait. The order within a batch does not count.

use std::collections::BTreeSet;

use tidegate_model::{Class, Request, RequestId, Time};

use super::arrivals::Arrivals;
use super::{Breach, ViolationLog, count};
use crate::Observer;

/// Checks class priority, and the order of release within a real-time class; see the module
/// documentation.
#[derive(Debug)]
pub struct ClassOrder {
    queued_max: u64,
    /// Requests that are released and not dispatched, by class.
    queued: [BTreeSet<(u64, RequestId)>; Class::ALL.len()],
    arrivals: Arrivals,
    log: ViolationLog,
}

impl ClassOrder {
    /// Creates the checker of a policy that holds `queued_max` requests of each class.
    pub fn new(queued_max: u32) -> Self {
        let queued_max = u64::from(queued_max);
        let (queued, arrivals, log) = Default::default();
        Self { queued_max, queued, arrivals, log }
    }

    /// Compares the youngest request of a class in the batch with the requests of this class that
    /// stay queued.
    fn check_release_order(&mut self, now: Time, index: usize, sent: &[(u64, RequestId)]) {
        let Some(&younger) = sent.iter().max() else { return };
        let left = self.queued[index].first().copied();
        if let Some((_, id)) = left.filter(|&left| left < younger) {
            self.log.add(now, Breach::Overtaken { id, younger: younger.1 });
        }
    }
}

keeps_log!(ClassOrder);

impl Observer for ClassOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        let number = self.arrivals.arrive(request.id);
        self.queued[request.class as usize].insert((number, request.id));
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        if let Some(number) = self.arrivals.leave(request.id) {
            self.queued[request.class as usize].remove(&(number, request.id));
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let mut is_higher_left = false;
        for (index, class) in Class::ALL.into_iter().enumerate() {
            let known = count(self.queued[index].len()).min(self.queued_max);
            let of_class = batch.iter().filter(|request| request.class == class);
            // Another checker reports a request that never arrived.
            let number = |request: &Request| Some((self.arrivals.leave(request.id)?, request.id));
            let sent: Vec<(u64, RequestId)> = of_class.filter_map(number).collect();
            for place in &sent {
                self.queued[index].remove(place);
            }
            if class != Class::BestEffort {
                self.check_release_order(now, index, &sent);
            }
            if let Some(&(_, id)) = sent.first()
                && is_higher_left
                && class != Class::BestEffort
            {
                self.log.add(now, Breach::ClassOvertook { id });
            }
            is_higher_left |= count(sent.len()) < known;
        }
    }
}

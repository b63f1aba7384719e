// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: no request of a lower rank is dispatched while a request of a higher rank is queued.
//!
//! A policy holds a limited number of requests of a class and does not know the others, which the
//! host holds: these may wait. The order within a batch does not count.

use tidegate_model::{Class, Request, RequestId, Time};

use super::{Breach, ViolationLog};
use crate::Observer;

/// The rank of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// Best effort below all others.
    RealTimeFirst,
    /// Hard tasks above all others.
    HardFirst,
}

impl Ranks {
    const fn is_high(self, class: Class) -> bool {
        match class {
            Class::Hard => true,
            Class::Soft | Class::Interactive => matches!(self, Self::RealTimeFirst),
            Class::BestEffort => false,
        }
    }
}

/// Checks that the higher rank is dispatched first; see the module documentation.
#[derive(Debug)]
pub struct RankOrder {
    ranks: Ranks,
    queued_max: u64,
    /// Number of queued requests of each class.
    queued: [u64; 4],
    log: ViolationLog,
}

impl RankOrder {
    /// Creates the checker of a policy that holds `queued_max` requests of each class.
    pub fn new(ranks: Ranks, queued_max: u32) -> Self {
        let log = ViolationLog::default();
        Self { ranks, queued_max: u64::from(queued_max), queued: [0; 4], log }
    }

    fn forget(&mut self, request: &Request) {
        let queued = &mut self.queued[request.class as usize];
        // Saturation is safe: another checker reports a request dispatched twice.
        *queued = queued.saturating_sub(1);
    }

    /// Returns whether a batch leaves a request of the high rank queued that the policy knew.
    fn is_high_left(&self, batch: &[Request]) -> bool {
        Class::ALL.into_iter().filter(|&class| self.ranks.is_high(class)).any(|class| {
            let sent = batch.iter().filter(|request| request.class == class).count();
            super::count(sent) < self.queued[class as usize].min(self.queued_max)
        })
    }

    fn first_low(&self, batch: &[Request]) -> Option<RequestId> {
        let low = batch.iter().find(|request| !self.ranks.is_high(request.class));
        low.map(|request| request.id)
    }
}

keeps_log!(RankOrder);

impl Observer for RankOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.queued[request.class as usize] += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        if let Some(id) = self.first_low(batch)
            && self.is_high_left(batch)
        {
            self.log.add(now, Breach::ClassOvertook { id });
        }
        for request in batch {
            self.forget(request);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: between the release of a best-effort request and its dispatch, no more best-effort
//! requests are dispatched than its order allows for the largest number queued so far.
//!
//! Once the host has held requests back because the policy was full, the checker stops, because
//! those requests wait outside the order.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_model::{BestEffortOrder, Request, RequestId, Time};

use super::policy_room::PolicyRoom;
use super::{Breach, ViolationLog, count, is_best_effort};
use crate::Observer;

/// Checks that no best effort starves; see the module documentation.
#[derive(Debug)]
pub struct BoundedWait {
    order: BestEffortOrder,
    room: PolicyRoom,
    /// The number of dispatches before the release of each queued request.
    released: BTreeMap<RequestId, u64>,
    /// The requests of `released` that were not reported, the longest wait first.
    waiting: BTreeSet<(u64, RequestId)>,
    dispatched_count: u64,
    /// The largest number of requests queued so far.
    queued_most: u64,
    log: ViolationLog,
}

impl BoundedWait {
    /// Creates the checker of a policy that serves best effort in this order and queues at most
    /// `queued_max` best-effort requests.
    pub fn new(order: BestEffortOrder, queued_max: u32) -> Self {
        let room = PolicyRoom::of_best_effort(queued_max);
        let (released, waiting, log) = Default::default();
        Self { order, room, released, waiting, dispatched_count: 0, queued_most: 0, log }
    }

    /// Returns the largest number of dispatches that a request may wait for; `None` if its order
    /// claims no bound.
    fn overtaken_max(&self) -> Option<u64> {
        let is_known = !self.room.was_exceeded();
        self.order.overtaken_max(self.queued_most).filter(|_| is_known)
    }

    /// Reports the request if it waited for more dispatches than it may.
    fn check(&mut self, now: Time, id: RequestId, before: u64) -> bool {
        let overtaken_by = self.dispatched_count - before;
        let exceeded = self.overtaken_max().filter(|&max| overtaken_by > max);
        if let Some(overtaken_max) = exceeded {
            self.log.add(now, Breach::WaitedTooLong { id, overtaken_by, overtaken_max });
        }
        exceeded.is_some()
    }

    fn remove(&mut self, id: RequestId) -> Option<(u64, bool)> {
        let before = self.released.remove(&id)?;
        Some((before, self.waiting.remove(&(before, id))))
    }
}

keeps_log!(BoundedWait);

impl Observer for BoundedWait {
    fn released(&mut self, _now: Time, request: &Request) {
        self.room.enter(request);
        if is_best_effort(request) {
            self.released.insert(request.id, self.dispatched_count);
            self.waiting.insert((self.dispatched_count, request.id));
            self.queued_most = self.queued_most.max(count(self.released.len()));
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            self.room.leave(request);
            // Another checker reports a request that never arrived.
            let Some((before, is_unreported)) = self.remove(request.id) else { continue };
            if is_unreported {
                self.check(now, request.id, before);
            }
            self.dispatched_count += 1;
        }
        if let Some(&(before, id)) = self.waiting.first()
            && self.check(now, id, before)
        {
            self.waiting.pop_first();
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.room.leave(request);
        self.remove(request.id);
    }
}

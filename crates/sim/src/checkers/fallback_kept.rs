// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a request is sent only if the fallback stays feasible, or if it is the fallback's own
//! first request (`das`). The fallback takes the waiting real-time requests that may not be
//! dropped, in order of release, and serves each within C, the longest time of one request. So
//! after a dispatch at t, the j-th of the other requests is due at t + j C or later. A request that
//! is sent out of this order is not past its own deadline.
//!
//! The policy's own condition is stronger: it counts from the predicted completion of the request
//! that is sent, counts some requests that may be dropped, and keeps room for jobs to come. No
//! checker knows the prediction.
//!
//! Once the host has held requests back because the policy was full, the checker stops: the policy
//! does not know their order.

use tidegate_model::{Plan, Request, RequestId, Time};

use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// A waiting real-time request.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    id: RequestId,
    due: Time,
    is_optional: bool,
}

/// Checks that every dispatch leaves a feasible fallback; see the module documentation.
#[derive(Debug)]
pub struct FallbackKept {
    /// C: the longest time of one request, in ns.
    service_ns_max: u64,
    queued_max: usize,
    /// The waiting real-time requests in the order of arrival.
    waiting: Vec<Waiting>,
    is_over: bool,
    log: ViolationLog,
}

impl FallbackKept {
    /// Creates the checker of a policy that carries out `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            service_ns_max: plan.active_subset.service_max.ns(),
            queued_max: plan.queued_max as usize,
            waiting: Vec::new(),
            is_over: false,
            log: ViolationLog::default(),
        }
    }
}

impl FallbackKept {
    fn remove(&mut self, id: RequestId) -> Option<usize> {
        let index = self.waiting.iter().position(|waiting| waiting.id == id)?;
        self.waiting.remove(index);
        Some(index)
    }

    /// Returns the first request that may be late if the drive gets one with this deadline at
    /// `now`.
    fn endangered(&self, now: Time, sent: Waiting) -> Option<RequestId> {
        let others = self.waiting.iter().filter(|waiting| !waiting.is_optional);
        let mut fallback = std::iter::once(&sent).chain(others).zip(0_u128..);
        let is_late = |&(waiting, ahead): &(&Waiting, u128)| {
            u128::from(now.ns()) + ahead * u128::from(self.service_ns_max)
                > u128::from(waiting.due.ns())
        };
        fallback.find(is_late).map(|(waiting, _)| waiting.id)
    }
}

impl From<&Request> for Waiting {
    fn from(request: &Request) -> Self {
        let due = request.due.unwrap_or(Time::MAX);
        Self { id: request.id, due, is_optional: request.optional }
    }
}

keeps_log!(FallbackKept);

impl Observer for FallbackKept {
    fn released(&mut self, _now: Time, request: &Request) {
        if !is_best_effort(request) {
            self.waiting.push(request.into());
            self.is_over |= self.waiting.len() > self.queued_max;
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            let place = self.remove(request.id);
            let is_first = |place| self.waiting[..place].iter().all(|older| older.is_optional);
            if self.is_over || place.is_some_and(is_first) {
                continue;
            }
            if let Some(waiting) = self.endangered(now, request.into()) {
                self.log.add(now, Breach::FallbackBroken { id: request.id, waiting });
            }
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.remove(request.id);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue of real-time requests in order of absolute deadline, ties in order of release.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_model::{Plan, Request, RequestId, Time};

use crate::Full;
use crate::queue::RealTimeQueue;

/// Returns a request's absolute deadline as a sort key; a request without a deadline comes last.
pub(crate) fn due_of(request: &Request) -> Time {
    request.due.unwrap_or(Time::MAX)
}

/// Requests with the earliest deadline first, ties by id; ids increase in the order of release.
///
/// # Complexity
/// O(log queued) for `push` and `pop`; allocates nothing once its capacity has grown.
#[derive(Debug)]
pub(crate) struct DueQueue {
    requests: BinaryHeap<Reverse<(Time, RequestId)>>,
    queued_max: u32,
}

impl DueQueue {
    /// Returns an empty queue. It grows on demand up to the bound and keeps its capacity.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { requests: BinaryHeap::new(), queued_max }
    }
}

impl RealTimeQueue for DueQueue {
    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.len() >= self.queued_max {
            return Err(Full);
        }
        self.requests.push(Reverse((due_of(request), request.id)));
        Ok(())
    }

    fn pop(&mut self) -> Option<RequestId> {
        self.requests.pop().map(|Reverse((_, id))| id)
    }

    fn cancel(&mut self, id: RequestId) -> bool {
        let before = self.requests.len();
        self.requests.retain(|&Reverse((_, queued))| queued != id);
        self.requests.len() < before
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.queued_max = plan.queued_max;
    }

    fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("bounded by queued_max")
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Real-time requests in order of their absolute deadlines, equal ones in order of release.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_model::{Plan, Request, RequestId, Time};

use crate::Full;
use crate::queue::RealTimeQueue;

/// The due of a request as a place in the order: one without a deadline comes last.
pub(crate) fn due_of(request: &Request) -> Time {
    request.due.unwrap_or(Time::MAX)
}

/// The earliest due first, ties by name, which rises in the order of release.
///
/// # Complexity
/// O(log queued) for `push` and `pop`, nothing allocated once the room has grown.
#[derive(Debug)]
pub(crate) struct DueQueue {
    requests: BinaryHeap<Reverse<(Time, RequestId)>>,
    queued_max: u32,
}

impl DueQueue {
    /// An empty queue. Room grows on demand up to the bound and is then kept.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests that the regulator passed on and that are not complete.

use std::collections::BTreeMap;

use tidegate_model::{RequestId, TaskIndex, Time};

/// A request that was passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trace {
    pub(crate) task: TaskIndex,
    pub(crate) due: Option<Time>,
    /// The tokens that the request took as best effort; `None` if notices do not control the rate.
    pub(crate) tokens: Option<u64>,
    pub(crate) is_dispatched: bool,
}

/// Requests in the wrapped policy and on the drive: at most as many as the policy and the drive
/// together can hold.
///
/// # Complexity
/// O(log n) per event, O(n) for [`Self::is_overdue`], which a notice needs.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    requests: BTreeMap<RequestId, Trace>,
}

impl Traces {
    pub(crate) fn insert(&mut self, id: RequestId, trace: Trace) {
        self.requests.insert(id, trace);
    }

    pub(crate) fn dispatch(&mut self, id: RequestId) {
        if let Some(trace) = self.requests.get_mut(&id) {
            trace.is_dispatched = true;
        }
    }

    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Trace> {
        self.requests.remove(&id)
    }

    /// Removes a cancelled request, unless it is on the drive.
    pub(crate) fn cancel(&mut self, id: RequestId) {
        if self.requests.get(&id).is_some_and(|trace| !trace.is_dispatched) {
            self.requests.remove(&id);
        }
    }

    /// Returns whether a request of this task is outstanding past its deadline.
    pub(crate) fn is_overdue(&self, now: Time, task: TaskIndex) -> bool {
        let is_overdue =
            |trace: &Trace| trace.task == task && trace.due.is_some_and(|due| due < now);
        self.requests.values().any(is_overdue)
    }
}

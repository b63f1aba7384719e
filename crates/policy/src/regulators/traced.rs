// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the regulator has let through and has not seen come back.

use std::collections::BTreeMap;

use tidegate_model::{RequestId, TaskIndex, Time};

/// A request that was let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trace {
    pub(crate) task: TaskIndex,
    pub(crate) due: Option<Time>,
    /// What it counts for best effort; none for what is not steered.
    pub(crate) tokens: Option<u64>,
    pub(crate) is_dispatched: bool,
}

/// Requests behind the regulator: at most what the policy behind holds and the drive accepts.
///
/// # Complexity
/// O(log n) for each event, O(n) for [`Self::is_overdue`], which a notice asks for.
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

    /// Forgets a request that is no longer wanted, unless it is on the drive.
    pub(crate) fn cancel(&mut self, id: RequestId) {
        if self.requests.get(&id).is_some_and(|trace| !trace.is_dispatched) {
            self.requests.remove(&id);
        }
    }

    /// Whether a request of this task is outstanding past its due.
    pub(crate) fn is_overdue(&self, now: Time, task: TaskIndex) -> bool {
        let is_overdue =
            |trace: &Trace| trace.task == task && trace.due.is_some_and(|due| due < now);
        self.requests.values().any(is_overdue)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests that a policy dispatched and that are not complete.

use tidegate_model::{Class, Request, RequestId};

/// The requests on the drive, in arbitrary order.
///
/// # Complexity
/// O(depth) to find a completed request: a drive holds a few dozen.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    requests: Vec<Request>,
    /// The number of best-effort requests among them.
    best_effort_count: u32,
}

impl InFlight {
    /// Returns an empty set with capacity for `depth` requests.
    pub(crate) fn with_room(depth: u32) -> Self {
        Self { requests: Vec::with_capacity(depth as usize), best_effort_count: 0 }
    }

    pub(crate) fn dispatch(&mut self, request: Request) {
        self.best_effort_count += u32::from(request.class == Class::BestEffort);
        self.requests.push(request);
    }

    /// Removes a completed request.
    ///
    /// # Panics
    /// If the request is not in flight: the host broke its protocol.
    pub(crate) fn complete(&mut self, id: RequestId) -> Request {
        let position = self.requests.iter().position(|request| request.id == id);
        let position = position.unwrap_or_else(|| panic!("completion of {id:?}, not in flight"));
        let request = self.requests.swap_remove(position);
        self.best_effort_count -= u32::from(request.class == Class::BestEffort);
        request
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("a drive holds fewer than 2^32")
    }

    pub(crate) fn best_effort_count(&self) -> u32 {
        self.best_effort_count
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }
}

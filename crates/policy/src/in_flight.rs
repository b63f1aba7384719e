// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a policy dispatched and has not seen come back.

use tidegate_model::{Request, RequestId};

/// The requests on the drive, in no order that means anything.
///
/// # Complexity
/// O(depth) to find one that completes: a drive holds a few dozen.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    requests: Vec<Request>,
}

impl InFlight {
    /// None, with room for `depth`.
    pub(crate) fn with_room(depth: u32) -> Self {
        Self { requests: Vec::with_capacity(depth as usize) }
    }

    pub(crate) fn dispatch(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Removes a request that came back.
    ///
    /// # Panics
    /// When it is not in flight: the host broke its protocol.
    pub(crate) fn complete(&mut self, id: RequestId) -> Request {
        let position = self.requests.iter().position(|request| request.id == id);
        let position = position.unwrap_or_else(|| panic!("completion of {id:?}, not in flight"));
        self.requests.swap_remove(position)
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("a drive holds fewer than 2^32")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }
}

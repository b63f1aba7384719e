// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which requests reached the policy that a checker observes.
//!
//! The host receives requests in the order of their ids. A policy below a regulator receives them
//! in the order in which the regulator passes them.

use std::collections::BTreeMap;

use tidegate_model::RequestId;

/// Gives each request a number, in the order of arrival; see the module documentation.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    numbers: BTreeMap<RequestId, u64>,
    arrived: u64,
}

impl Arrivals {
    /// Records an arrival and returns the request's number.
    pub(super) fn arrive(&mut self, id: RequestId) -> u64 {
        let number = self.arrived;
        self.numbers.insert(id, number);
        self.arrived += 1;
        number
    }

    /// Records that a request leaves and returns its number, if it ever arrived.
    pub(super) fn leave(&mut self, id: RequestId) -> Option<u64> {
        self.numbers.remove(&id)
    }
}

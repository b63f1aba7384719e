// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which requests reached whom a checker watches.
//!
//! To the host they come in the order of their names. Below a regulator they come in the
//! order in which it let them through.

use std::collections::BTreeMap;

use tidegate_model::RequestId;

/// Numbers that rise from request to request; see the module's text.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    numbers: BTreeMap<RequestId, u64>,
    arrived: u64,
}

impl Arrivals {
    /// A request comes; its number.
    pub(super) fn arrive(&mut self, id: RequestId) -> u64 {
        let number = self.arrived;
        self.numbers.insert(id, number);
        self.arrived += 1;
        number
    }

    /// A request leaves; its number, if it ever came.
    pub(super) fn leave(&mut self, id: RequestId) -> Option<u64> {
        self.numbers.remove(&id)
    }
}

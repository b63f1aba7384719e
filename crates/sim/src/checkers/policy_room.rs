// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tracks whether the policy knows all queued requests, or the host holds some of them back because
//! the policy is full.

use tidegate_model::Request;

use super::is_best_effort;

/// Counts the requests that share a policy's room with best effort.
#[derive(Debug)]
pub(super) struct PolicyRoom {
    queued_max: u64,
    /// Whether all classes share the room.
    is_common: bool,
    queued: u64,
    was_exceeded: bool,
}

impl PolicyRoom {
    /// Creates the room of a policy that holds `queued_max` requests of best effort.
    pub(super) fn of_best_effort(queued_max: u32) -> Self {
        let queued_max = u64::from(queued_max);
        Self { queued_max, is_common: false, queued: 0, was_exceeded: false }
    }

    /// Creates the room of a policy that holds `queued_max` requests of all classes together.
    pub(super) fn of_all(queued_max: u32) -> Self {
        Self { is_common: true, ..Self::of_best_effort(queued_max) }
    }

    fn is_counted(&self, request: &Request) -> bool {
        self.is_common || is_best_effort(request)
    }

    pub(super) fn enter(&mut self, request: &Request) {
        self.queued += u64::from(self.is_counted(request));
        self.was_exceeded |= self.queued > self.queued_max;
    }

    pub(super) fn leave(&mut self, request: &Request) {
        // Saturation is safe: another checker reports a request that was not queued.
        self.queued = self.queued.saturating_sub(u64::from(self.is_counted(request)));
    }

    /// Returns whether the host ever held a request back.
    pub(super) const fn was_exceeded(&self) -> bool {
        self.was_exceeded
    }
}

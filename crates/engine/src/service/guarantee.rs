// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a service's bounds hold now, and how often they ceased to hold.

use tidegate_model::Time;

/// The state of a service's guarantee, and its history.
///
/// Lateness of drive or host degrades the guarantee: responses can then exceed their bounds. The
/// guarantee is restored at the next instant at which no in-contract request is pending and no late
/// batch is on the drive (docs/theory/isolation.md, section 12). The count of degradations is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// Whether earlier lateness can still delay in-contract requests.
    pub is_degraded: bool,
    /// The instant of the last change, counted from the start of the service.
    pub since: Time,
    /// The number of times that the guarantee was degraded.
    pub degradations: u64,
}

impl Default for Guarantee {
    fn default() -> Self {
        Self { is_degraded: false, since: Time::ZERO, degradations: 0 }
    }
}

impl Guarantee {
    pub(super) fn degrade(&mut self, now: Time) {
        if !self.is_degraded {
            (self.is_degraded, self.since) = (true, now);
            self.degradations += 1;
        }
    }

    pub(super) fn restore(&mut self, now: Time) {
        if self.is_degraded {
            (self.is_degraded, self.since) = (false, now);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's interface for schedulers by access: how long it takes to reach a request.

use tidegate_model::Duration;

use super::pending::Pending;

/// The times to reach requests, at the instant of one decision.
pub(crate) trait Reach {
    /// Returns the time until the request's first sector is under its head.
    fn access(&self, pending: &Pending) -> Duration;

    /// Returns a lower bound of [`Reach::access`] that is cheaper to compute. If the bound is
    /// already too long, the platter's angle is not needed.
    fn access_min(&self, pending: &Pending) -> Duration;
}

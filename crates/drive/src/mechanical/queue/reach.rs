// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What schedulers by access ask the drive: how long it takes to reach a request.

use tidegate_model::Duration;

use super::Pending;

/// How long it takes to reach a request, at the instant of one decision.
pub(crate) trait Reach {
    /// The time until the first sector of the request is under its head.
    fn access(&self, pending: &Pending) -> Duration;

    /// At most [`Reach::access`], for less work: where this alone is too long, the platter
    /// need not be looked at.
    fn access_min(&self, pending: &Pending) -> Duration;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.dqf]`: how batches are limited beside their count.

use crate::units::Duration;

/// Parameters of `dqf`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DqfParameters {
    /// Z: what the requests of a batch may cost together, what each batch costs for itself not
    /// counted; none by default, then only z limits a batch.
    pub batch_cost: Option<Duration>,
}

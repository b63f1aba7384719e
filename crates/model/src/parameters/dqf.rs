// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.dqf]`: limits on batches in addition to their count.

use crate::units::Duration;

/// Parameters of `dqf`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DqfParameters {
    /// Z: the largest total cost of a batch's requests, the batch's own cost A not counted. `None`
    /// by default: only z limits a batch.
    pub batch_cost: Option<Duration>,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of `das`.

use crate::units::Duration;

/// What `[policy.das]` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DasParameters {
    /// By how much a request may take longer than the model of the drive expects. 0 by default:
    /// the model is exact for the simulated drives, and for no real one.
    pub margin: Duration,
}

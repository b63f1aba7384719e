// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of `das`.

use crate::units::Duration;

/// The parameters in `[policy.das]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DasParameters {
    /// The longest time by which a request may exceed the drive model's estimate. Default 0: the
    /// model is exact for the simulated drives, but for no real drive.
    pub margin: Duration,
}

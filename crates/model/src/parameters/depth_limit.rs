// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters in `[policy.depth-limit]`.

use std::num::NonZeroU32;

/// The parameters of the regulator `depth-limit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DepthLimitParameters {
    /// `in_flight`: the maximum number of requests on the drive at once. `None` means as many as
    /// the drive accepts; a file that names the regulator must state it.
    pub in_flight_max: Option<NonZeroU32>,
}

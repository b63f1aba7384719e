// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameter in `[policy.g-edf]`.

/// The parameter of `g-edf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupEdfParams {
    /// The width of a group of near deadlines, as a share of the relative deadline of its earliest
    /// request, in parts per million; 0 to 1,000,000.
    pub group_ppm: u32,
}

impl Default for GroupEdfParams {
    /// Returns 40 %: this project's choice, because the literature leaves the factor to experiment.
    fn default() -> Self {
        Self { group_ppm: 400_000 }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `[policy.g-edf]` may say.

/// The parameter of `g-edf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupEdfParams {
    /// How far a group of near deadlines reaches, as a share of the relative deadline of its
    /// earliest request, in parts per million; 0 to 1,000,000.
    pub group_ppm: u32,
}

impl Default for GroupEdfParams {
    /// 40 %, a choice of ours: the literature leaves the factor to experiment.
    fn default() -> Self {
        Self { group_ppm: 400_000 }
    }
}

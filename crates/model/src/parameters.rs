// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.

mod depth_limit;

pub use depth_limit::DepthLimitParameters;

/// The parameters of every policy and regulator that has any, with their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// `[policy.depth-limit]`.
    pub depth_limit: DepthLimitParameters,
}

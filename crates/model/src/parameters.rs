// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.

mod das;
mod depth_limit;
mod dqf;
mod group_edf;
mod rtio;
mod token_bucket;

pub use das::DasParameters;
pub use depth_limit::DepthLimitParameters;
pub use dqf::DqfParameters;
pub use group_edf::GroupEdfParams;
pub use rtio::{PriorityTag, RtioPriority};
pub use token_bucket::{
    BestEffortRate, MdnParameters, Shaping, TokenBucketParameters, TokenRate, TokenUnit,
};

/// The parameters of all policies and regulators that have parameters, with their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// `[policy.das]`.
    pub das: DasParameters,
    /// `[policy.dqf]`.
    pub dqf: DqfParameters,
    /// `[policy.g-edf]`.
    pub group_edf: GroupEdfParams,
    /// `[policy.rtio-priority]`.
    pub rtio_priority: RtioPriority,
    /// `[policy.depth-limit]`.
    pub depth_limit: DepthLimitParameters,
    /// `[policy.token-bucket]`.
    pub token_bucket: TokenBucketParameters,
    /// `[policy.mdn]`.
    pub mdn: MdnParameters,
    /// `[policy.mdn-extended]`.
    pub mdn_extended: MdnParameters,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.

pub mod group_edf;

pub use group_edf::GroupEdfParams;

/// The parameters of every policy and regulator that has any, with their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// `[policy.g-edf]`.
    pub group_edf: GroupEdfParams,
}

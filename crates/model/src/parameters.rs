// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.

pub mod das;

pub use das::DasParameters;

/// The parameters of every policy and regulator that has any, with their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Of `das`.
    pub das: DasParameters,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.

mod rtio;

pub use rtio::{PriorityTag, RtioPriority};

/// The parameters of every policy and regulator that has any, with their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Those of `rtio-priority`.
    pub rtio_priority: RtioPriority,
}

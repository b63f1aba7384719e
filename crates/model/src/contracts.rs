// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a device was measured to keep, beside its batch table b(i).

use crate::batch_table::BatchTable;
use crate::cost::CostModel;
use crate::soft_table::SoftTable;
use crate::units::Duration;

/// What a device was measured to keep beside b(i), for the requests of one workload; none
/// where nobody measured it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contracts {
    /// drain(q): the longest time to empty the device when q requests are outstanding just
    /// after a dispatch and nothing more is sent, whatever was sent before.
    pub drain: Option<BatchTable>,
    /// The longest time from dispatch to completion of a request, whatever else is sent.
    pub starvation_max: Option<Duration>,
    /// The longest time of q requests sent with the drive's own priority to a device without
    /// others of that priority, while other requests keep it full.
    pub priority: Option<BatchTable>,
    /// What batches of different requests take, where the workload has different ones.
    pub costs: Option<CostModel>,
    /// b(i) at quantiles that were measured, the lowest first.
    pub soft: Vec<SoftTable>,
}

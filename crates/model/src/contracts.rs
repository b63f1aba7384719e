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
    /// With how many requests on the device that was measured: it says nothing of more. None: with
    /// as many as it accepts.
    pub starvation_depth: Option<u32>,
    /// Whether it is known where the device keeps its sectors and how it moves, so that access
    /// times can be told.
    pub are_positions_known: bool,
    /// The longest time of q requests sent with the drive's own priority to a device without
    /// others of that priority, while other requests keep it full.
    pub priority: Option<BatchTable>,
    /// With how many requests on the device `priority` was measured, as `starvation_depth`.
    pub priority_depth: Option<u32>,
    /// What batches of different requests take, where the workload has different ones.
    pub costs: Option<CostModel>,
    /// b(i) at quantiles that were measured, the lowest first.
    pub soft: Vec<SoftTable>,
    /// What was measured below another contract of the same drive that is a case of it, and was
    /// raised to that one.
    pub raised: Vec<RaisedContract>,
    /// Whether the drive still has earlier writes to carry out while it serves this workload.
    pub deferred_writes: DeferredWrites,
}

impl Contracts {
    /// What was raised of a contract.
    pub fn raised_of(
        &self,
        contract: Option<DriveContract>,
    ) -> impl Iterator<Item = &RaisedContract> {
        self.raised.iter().filter(move |raised| Some(raised.contract) == contract)
    }
}

/// A contract that was raised because another of the same drive says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedContract {
    /// Which one.
    pub contract: DriveContract,
    /// By how much and why: a sentence without its full stop.
    pub note: String,
}

/// What is known of writes that a drive's memory takes and carries out later, while it serves
/// other requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeferredWrites {
    /// The workload does not write, or the drive is not known to defer writes.
    #[default]
    None,
    /// They are, and b(i) covers batches that were measured beside them (`[cost]`).
    Measured,
    /// They are, and every table was measured without them.
    Unmeasured,
}

/// Which of the things that a drive was measured to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriveContract {
    /// b(i).
    Batches,
    /// [`Contracts::drain`].
    Drain,
    /// [`Contracts::starvation_max`].
    Starvation,
    /// [`Contracts::priority`].
    Priority,
}

impl DriveContract {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Batches, Self::Drain, Self::Starvation, Self::Priority];

    /// The word used in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batches => "batches",
            Self::Drain => "drain",
            Self::Starvation => "starvation",
            Self::Priority => "priority",
        }
    }

    /// Whether [`Self::what`] is a plural.
    pub const fn is_plural(self) -> bool {
        match self {
            Self::Drain | Self::Priority => true,
            Self::Batches | Self::Starvation => false,
        }
    }

    /// What the drive keeps, in a sentence that says that it does.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Batches => "table",
            Self::Drain => "drain times",
            Self::Starvation => "starvation bound",
            Self::Priority => "times with priority",
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measured contracts of a device in addition to its batch table b(i).

use crate::batch_table::BatchTable;
use crate::cost::CostModel;
use crate::premise::Premise;
use crate::sampling::Sampling;
use crate::soft_table::SoftTable;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// The measured contracts of a device in addition to b(i), for the requests of one workload; `None`
/// for contracts that were not measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contracts {
    /// drain(q): the longest time to empty the device when q requests are in flight just after a
    /// dispatch and nothing more is sent, whatever was sent before.
    pub drain: Option<BatchTable>,
    /// The longest time from dispatch to completion of a request, whatever other requests are sent.
    pub starvation_max: Option<Duration>,
    /// Number of requests on the device when `starvation_max` was measured; the contract does not
    /// cover more. `None` means as many as the device accepts.
    pub starvation_depth: Option<u32>,
    /// The operations of the workload, each with its largest request size.
    pub covered: Vec<(Op, Bytes)>,
    /// The predictions of the device's mechanics; `None` if they are not known.
    pub prediction: Option<ServicePrediction>,
    /// The times that the parts of a simulated drive cannot exceed; `None` if they are not known.
    pub ceilings: Option<Ceilings>,
    /// The longest flush that may follow a batch; the times of batches contain it. `None` if no
    /// flush follows.
    pub flush_max: Option<Duration>,
    /// The longest time of q requests sent with the drive's own priority to a device without other
    /// requests of this priority, while other requests keep it full.
    pub priority: Option<BatchTable>,
    /// Number of requests on the device when `priority` was measured, like `starvation_depth`.
    pub priority_depth: Option<u32>,
    /// The cost model of batches, if the workload has different requests.
    pub costs: Option<CostModel>,
    /// Whether the times were measured, not claimed.
    pub is_measured: bool,
    /// The measurements behind b(i), one for each table; empty if their samples are unknown.
    pub sampling: Vec<Sampling>,
    /// Whether `sampling` and `soft` are empty because the samples were taken at random places, and
    /// the workload's requests are not known to be there.
    pub samples_withheld: bool,
    /// b(i) at the measured quantiles, the lowest first.
    pub soft: Vec<SoftTable>,
    /// Premises of the proofs that rest on one of these contracts.
    pub premises: Vec<ContractPremise>,
    /// Whether the drive may carry out earlier writes while it serves this workload.
    pub deferred_writes: DeferredWrites,
}

impl Contracts {
    /// Returns the premises of a proof that rests on this contract.
    pub fn premises_of(&self, contract: DriveContract) -> impl Iterator<Item = &Premise> {
        let of_contract = self.premises.iter().filter(move |it| it.contract == contract);
        of_contract.map(|it| &it.premise)
    }
}

/// How long one request takes according to the device's mechanics, for all requests of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServicePrediction {
    /// The longest time that the mechanics can predict, whatever was served before and wherever
    /// requests lie.
    pub ceiling: Duration,
    /// The most by which a request was measured to take longer than predicted; `None` if that was
    /// not measured for all of the workload's requests.
    pub late_max: Option<Duration>,
}

/// The times that a simulated drive cannot exceed with the requests of a workload, because its
/// parts do not allow it. Tables of such a drive are the longest times that a search found, which
/// may be shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceilings {
    /// The longest times of batches on the idle drive.
    pub batches: BatchTable,
    /// The longest times to empty the drive, by the number of requests in flight, whatever was sent
    /// before.
    pub drain: BatchTable,
    /// The longest time from dispatch to completion of a request, whatever other requests are sent;
    /// `None` if nothing bounds it.
    pub starvation_max: Option<Duration>,
}

/// A premise of the proofs that rest on one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractPremise {
    /// The contract.
    pub contract: DriveContract,
    /// The additional premise of the proofs that rest on the contract.
    pub premise: Premise,
}

/// Facts about deferred writes: the drive's cache takes them, and the drive carries them
/// out later, while it serves other requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeferredWrites {
    /// The workload does not write, or the drive is not known to defer writes.
    #[default]
    None,
    /// The drive defers writes, and b(i) covers batches that were measured while the drive carried
    /// out deferred writes (`[cost]`).
    Measured,
    /// The drive defers writes, and every table was measured without deferred writes.
    Unmeasured,
}

names! {
    /// The kinds of measured contracts, by the words used in output.
    pub enum DriveContract {
        /// The batch table b(i).
        Batches => "batches",
        /// The drain times: [`Contracts::drain`].
        Drain => "drain",
        /// The starvation bound: [`Contracts::starvation_max`].
        Starvation => "starvation",
        /// The times with the drive's own priority: [`Contracts::priority`].
        Priority => "priority",
    }
}

impl DriveContract {
    /// Returns whether the contract's name, [`Self::what`], is a plural.
    pub const fn is_plural(self) -> bool {
        match self {
            Self::Drain | Self::Priority => true,
            Self::Batches | Self::Starvation => false,
        }
    }

    /// Returns the contract's name for a sentence that says that the drive keeps it.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Batches => "table",
            Self::Drain => "drain times",
            Self::Starvation => "starvation bound",
            Self::Priority => "times with priority",
        }
    }
}

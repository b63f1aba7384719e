// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a measurement, and the reasons to refuse it.

use tidegate_device::RingError;
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Op};
use tidegate_platform::realtime::RealTime;

use crate::experiment::Experiment;
use crate::kind::Kind;
use crate::places::Places;
use crate::subject::SubjectError;

/// The largest request of the experiments that examine the geometry or the chips of a device.
const PROBE_MAX: Bytes = Bytes::from_kib(256);

/// The parameters of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileParams {
    /// The drive's name.
    pub name: String,
    /// The experiments to run; their order does not matter.
    pub experiments: Vec<Experiment>,
    /// The kinds of request, each measured separately. Writing destroys the data on the target.
    pub kinds: Vec<Kind>,
    /// K, the largest batch.
    pub depth: u32,
    /// Whether experiments that write on their own (flush) are allowed. Writes among `kinds` are
    /// always allowed.
    pub allows_writes: bool,
    /// The number of samples of each cell.
    pub samples: u32,
    /// Whether only a first look was requested (`--quick`), which no guarantee should use.
    pub is_quick: bool,
    /// The seed of all random places and orders.
    pub seed: u64,
    /// The mechanics whose predictions are checked; if `None`, those that this measurement finds.
    pub mechanics: Option<Box<Mechanics>>,
    /// The permissions that the host granted to this thread; `None` if none were requested.
    pub real_time: Option<RealTime>,
}

impl ProfileParams {
    /// The default depth, if the device accepts that many requests.
    pub const DEPTH: u32 = 32;
    /// The default number of samples of each batch size.
    pub const SAMPLES: u32 = 1000;
    /// The number of samples of a first look.
    pub const SAMPLES_QUICK: u32 = 100;
    /// The default size of a request.
    pub const SIZE: Bytes = Bytes::from_kib(128);

    /// Checks that a target of `capacity`, which need not exist yet, can be measured with these
    /// parameters.
    ///
    /// # Errors
    /// [`ProfileError`]: the errors that [`profile()`](crate::profile()) would return before it
    /// sends a request. The alignment of the target is not known here, so it is not checked.
    pub fn check(&self, capacity: Bytes) -> Result<(), ProfileError> {
        let Self { depth, samples, .. } = *self;
        match () {
            () if samples == 0 => return Err(ProfileError::SamplesZero),
            () if depth == 0 => return Err(ProfileError::DepthZero),
            () if self.kinds.is_empty() => return Err(ProfileError::NoKinds),
            () => (),
        }
        self.kinds.iter().try_for_each(|&kind| self.check_kind(kind, capacity))
    }

    fn check_kind(&self, kind: Kind, capacity: Bytes) -> Result<(), ProfileError> {
        let (size, depth) = (kind.size, self.depth);
        if size.get() == 0 || !size.get().is_multiple_of(512) {
            return Err(ProfileError::SizeOdd { size });
        }
        if Places::of(capacity, kind).count < depth as usize {
            return Err(ProfileError::TooSmall { capacity, size, depth });
        }
        Ok(())
    }

    /// Returns whether experiments that write on their own are allowed.
    pub(crate) fn may_write(&self) -> bool {
        self.allows_writes || self.has_kind_of(Op::Write)
    }

    /// Returns whether anything is written.
    pub(crate) fn writes(&self) -> bool {
        let writes_itself = self.experiments.iter().any(|it| it.destroys_data());
        writes_itself && self.allows_writes || self.has_kind_of(Op::Write)
    }

    /// Returns whether any kind of request has this operation.
    pub(crate) fn has_kind_of(&self, op: Op) -> bool {
        self.kinds.iter().any(|kind| kind.op == op)
    }

    /// Returns the size of the largest request that the ring needs room for, including the probes
    /// of the geometry.
    pub(crate) fn ring_size(&self) -> Bytes {
        self.size_max().max(PROBE_MAX)
    }

    /// Returns the size of the largest request of all kinds.
    pub(crate) fn size_max(&self) -> Bytes {
        self.kinds.iter().map(|kind| kind.size).max().unwrap_or_default()
    }
}

/// The reason why there is no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No samples were requested.
    #[error("0 samples measure nothing: ask for at least 1, preferably {}", ProfileParams::SAMPLES)]
    SamplesZero,
    /// No batch was requested.
    #[error("depth 0 measures nothing: ask for at least 1")]
    DepthZero,
    /// The parameters name no operation or no size.
    #[error("without an operation and a size nothing is measured: ask for at least one of each")]
    NoKinds,
    /// A request size is not a whole number of sectors.
    #[error("requests of {size}: ask for a multiple of 512B")]
    SizeOdd {
        /// The requested size.
        size: Bytes,
    },
    /// The target does not have enough room for the requests of one batch.
    #[error(
        "the target of {capacity} has no room for {} of {size} side by side: make a larger one, or ask for a smaller size or depth",
        tidegate_model::count(depth, "request")
    )]
    TooSmall {
        /// The capacity of the target.
        capacity: Bytes,
        /// Size of a request.
        size: Bytes,
        /// Largest batch.
        depth: u32,
    },
    /// The measurement includes writes, but the target is open for reading only.
    #[error("measuring writes destroys what is on the target: open it for writing")]
    ReadOnly,
    /// The measurement was stopped too early.
    #[error("stopped before anything was measured: there is no result")]
    NothingMeasured,
    /// No ring could be set up on the target.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The device failed.
    #[error(transparent)]
    Subject(#[from] SubjectError),
}

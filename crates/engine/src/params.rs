// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a run is asked to do, and why it may be refused before anything starts.

use tidegate_host::Length;
use tidegate_model::{Bytes, Plan, PolicyName, Workload};

use crate::device_backend::BackendError;
use crate::limits::Limits;

/// What a run is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct RunParams<'a> {
    /// What releases requests.
    pub workload: &'a Workload,
    /// What the policy carries out; its table is the one that batches are compared with.
    pub plan: &'a Plan,
    /// Which policy.
    pub policy: PolicyName,
    /// How long.
    pub length: Length,
    /// Fixes everything random.
    pub seed: u64,
    /// What the target can take.
    pub limits: Limits,
}

/// Why a run cannot be started or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A source writes to what was opened for reading.
    #[error(
        "`{source_name}` writes and the target was opened for reading only: allow writes, which destroys what the target holds, or let `{source_name}` read"
    )]
    WritesNotAllowed {
        /// The source that writes.
        source_name: String,
    },
    /// A request size that direct I/O on the target cannot carry.
    #[error(
        "`{source_name}` asks for {size}, which is no multiple of the {alignment} that the target is aligned to: make it one"
    )]
    SizeUnaligned {
        /// The source.
        source_name: String,
        /// Its request size.
        size: Bytes,
        /// What the target needs.
        alignment: Bytes,
    },
    /// A request size for which the back end has no buffers.
    #[error("`{source_name}` asks for {size}, the executor has buffers of {size_max}")]
    SizeAboveBuffer {
        /// The source.
        source_name: String,
        /// Its request size.
        size: Bytes,
        /// The largest that fits.
        size_max: Bytes,
    },
    /// Not one request fits where a source is to read or write.
    #[error(
        "no request of {size} fits where `{source_name}` is placed on a target of {capacity}: take a larger target, a wider range or smaller requests"
    )]
    PlaceTooSmall {
        /// The source.
        source_name: String,
        /// Its request size.
        size: Bytes,
        /// What the target holds.
        capacity: Bytes,
    },
    /// The policy may send more than the back end can hold.
    #[error(
        "the drive has a depth of {depth}, the executor holds {in_flight_max} requests at once"
    )]
    DepthAboveBackend {
        /// K of the drive.
        depth: u32,
        /// What the back end holds.
        in_flight_max: u32,
    },
    /// Nothing would be released.
    #[error("a run of no length releases nothing: ask for at least one job or some time")]
    LengthZero,
    /// The last release lies beyond the end of time.
    #[error("`{source_name}` would release its last job after more than 584 years: ask for fewer")]
    LengthBeyondTime {
        /// The source.
        source_name: String,
    },
    /// The policy needs what nobody knows of the drive.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// Execution failed in the middle of the run.
    #[error("the run stopped in the middle: {0}")]
    Backend(#[from] BackendError),
}

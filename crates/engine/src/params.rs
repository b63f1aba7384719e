// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a run, and the reasons to refuse it before it starts.

use tidegate_host::Length;
use tidegate_model::{BestEffort, Bytes, Duration, Op, Place, Plan, PolicyName, Task, Workload};

use crate::device_backend::BackendError;
use crate::limits::Limits;

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunParams<'a> {
    /// The tasks and loads that release requests.
    pub workload: &'a Workload,
    /// The plan that the policy executes; batches are compared with its table.
    pub plan: &'a Plan,
    /// The policy.
    pub policy: PolicyName,
    /// The length of the run.
    pub length: Length,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The target's limits.
    pub limits: Limits,
}

/// The reason why a run cannot start or finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A source writes to a target that is open for reading only.
    #[error(
        "`{source_name}` writes, but the target was opened for reading only: allow writes, which destroys the target's data, or let `{source_name}` read"
    )]
    WritesNotAllowed {
        /// The name of the source that writes.
        source_name: String,
    },
    /// A request size is not aligned for direct I/O on the target.
    #[error(
        "`{source_name}` has requests of {size}: give a multiple of {alignment}, the target's alignment"
    )]
    SizeUnaligned {
        /// The name of the source.
        source_name: String,
        /// The source's request size.
        size: Bytes,
        /// The target's alignment.
        alignment: Bytes,
    },
    /// A request size is larger than the backend's buffers.
    #[error("`{source_name}` has requests of {size}, but the backend's buffers hold {size_max}")]
    SizeAboveBuffer {
        /// The name of the source.
        source_name: String,
        /// The source's request size.
        size: Bytes,
        /// The size of each buffer: the largest size of a request.
        size_max: Bytes,
    },
    /// A source's range is smaller than one request.
    #[error(
        "no request of {size} fits into the range of `{source_name}` on a target of {capacity}: use a larger target, a wider range or smaller requests"
    )]
    PlaceTooSmall {
        /// The name of the source.
        source_name: String,
        /// The source's request size.
        size: Bytes,
        /// The target's size.
        capacity: Bytes,
    },
    /// The policy can dispatch more requests than the backend can hold.
    #[error(
        "the drive has a depth of {depth}, but the backend holds {in_flight_max} requests at once"
    )]
    DepthAboveBackend {
        /// The drive's depth K.
        depth: u32,
        /// The maximum number of requests that the backend can hold.
        in_flight_max: u32,
    },
    /// The run's length is zero.
    #[error("a run of length 0 releases nothing: give at least one job or a duration")]
    LengthZero,
    /// The last release is later than the largest representable time.
    #[error("`{source_name}` may release its last job after more than 584 years: give fewer jobs")]
    LengthBeyondTime {
        /// The name of the source.
        source_name: String,
    },
    /// The policy cannot be built, for example because a fact about the drive is not known.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The backend failed during the run.
    #[error("the run failed before its end: {0}")]
    Backend(#[from] BackendError),
}

impl RunParams<'_> {
    /// Checks that the target allows the run.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let &Self { workload, length, limits, .. } = self;
        let (depth, in_flight_max) = (workload.depth, limits.in_flight_max);
        if depth > in_flight_max {
            return Err(RunError::DepthAboveBackend { depth, in_flight_max });
        }
        check_length(workload, length)?;
        let tasks = workload.tasks.iter().map(|task| {
            let &Task { ref name, op, size, place, .. } = task;
            Shape { name, op, size, place }
        });
        let loads = workload.best_effort.iter().map(|load| {
            let &BestEffort { ref name, op, size, place, .. } = load;
            Shape { name, op, size, place }
        });
        tasks.chain(loads).try_for_each(|shape| check_shape(&shape, &limits))
    }
}

/// The common properties of tasks and loads.
struct Shape<'a> {
    name: &'a str,
    op: Op,
    size: Bytes,
    place: Place,
}

fn check_length(workload: &Workload, length: Length) -> Result<(), RunError> {
    match length {
        Length::Jobs(0) | Length::Duration(Duration::ZERO) => Err(RunError::LengthZero),
        Length::Duration(_) => Ok(()),
        Length::Jobs(_) => match tidegate_host::task_beyond_time(workload, length) {
            Some(task) => Err(RunError::LengthBeyondTime { source_name: task.name.clone() }),
            None => Ok(()),
        },
    }
}

fn check_shape(shape: &Shape<'_>, limits: &Limits) -> Result<(), RunError> {
    let (size, source_name) = (shape.size, || shape.name.to_owned());
    let &Limits { capacity, alignment, size_max, .. } = limits;
    if shape.op == Op::Write && !limits.is_writable {
        return Err(RunError::WritesNotAllowed { source_name: source_name() });
    }
    if size.get() == 0 || !size.get().is_multiple_of(alignment.get()) {
        return Err(RunError::SizeUnaligned { source_name: source_name(), size, alignment });
    }
    if size > size_max {
        return Err(RunError::SizeAboveBuffer { source_name: source_name(), size, size_max });
    }
    if !tidegate_host::has_room(shape.place, size, capacity) {
        return Err(RunError::PlaceTooSmall { source_name: source_name(), size, capacity });
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a target can take, and the refusal of runs that ask for more, before anything starts.
//!
//! Only real targets have such limits, so that the loop need not know of them.

use tidegate_host::Length;
use tidegate_model::{Bytes, Duration, Op, Place, Task, Time};

use crate::params::{RunError, RunParams};

/// What the target of a run can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How much it holds.
    pub capacity: Bytes,
    /// Every offset and every size is a multiple of this; itself a multiple of a sector.
    pub alignment: Bytes,
    /// The largest request there is memory for.
    pub size_max: Bytes,
    /// How many requests there is memory for at once.
    pub in_flight_max: u32,
    /// Whether it was opened for writing.
    pub is_writable: bool,
}

/// What tasks and loads have in common.
struct Shape<'a> {
    name: &'a str,
    op: Op,
    size: Bytes,
    place: Place,
}

/// Whether the target can carry the run.
pub(crate) fn check(params: &RunParams<'_>) -> Result<(), RunError> {
    let &RunParams { workload, length, limits, .. } = params;
    let (depth, in_flight_max) = (workload.depth, limits.in_flight_max);
    if depth > in_flight_max {
        return Err(RunError::DepthAboveBackend { depth, in_flight_max });
    }
    check_length(&workload.tasks, length)?;
    let tasks = workload.tasks.iter().map(|task| {
        let &Task { ref name, op, size, place, .. } = task;
        Shape { name, op, size, place }
    });
    let loads = workload.best_effort.iter().map(|load| {
        let &tidegate_model::BestEffort { ref name, op, size, place, .. } = load;
        Shape { name, op, size, place }
    });
    tasks.chain(loads).try_for_each(|shape| check_shape(&shape, &limits))
}

fn check_length(tasks: &[Task], length: Length) -> Result<(), RunError> {
    match length {
        Length::Jobs(0) | Length::Duration(Duration::ZERO) => Err(RunError::LengthZero),
        Length::Duration(_) => Ok(()),
        Length::Jobs(jobs) => match tasks.iter().find(|task| last_release(task, jobs).is_none()) {
            Some(task) => Err(RunError::LengthBeyondTime { source_name: task.name.clone() }),
            None => Ok(()),
        },
    }
}

/// The instant of the last of so many jobs; none beyond the end of time.
fn last_release(task: &Task, jobs: u64) -> Option<Time> {
    (Time::ZERO + task.offset).checked_add(task.period.checked_mul(jobs - 1)?)
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A target's limits; runs that exceed them are refused before they start.
//!
//! Only real targets have such limits, so the loop does not know them.

use tidegate_host::Length;
use tidegate_model::{Bytes, Duration, Op, Place, Task, Time};

use crate::params::{RunError, RunParams};

/// The limits of a run's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The target's size.
    pub capacity: Bytes,
    /// Every offset and size must be a multiple of this, which is a multiple of a sector.
    pub alignment: Bytes,
    /// The largest request for which there is memory.
    pub size_max: Bytes,
    /// The number of requests for which there is memory at once.
    pub in_flight_max: u32,
    /// Whether it is open for writing.
    pub is_writable: bool,
}

/// The common properties of tasks and loads.
struct Shape<'a> {
    name: &'a str,
    op: Op,
    size: Bytes,
    place: Place,
}

/// Checks that the target allows the run.
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

/// Returns the instant of the last of `jobs` jobs; `None` if it is beyond the end of time.
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

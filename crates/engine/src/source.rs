// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sources of a run: what each of its tasks and loads asks for, checked against the
//! target before anything starts.

use model::{
    BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Request, RequestId, Task, TaskIndex,
    Time, Workload,
};

use crate::executor::Limits;
use crate::params::RunError;
use crate::places::Places;

/// A task or a load that releases requests.
#[derive(Debug)]
pub(crate) struct Source {
    /// Requests that it releases together.
    pub(crate) requests: u32,
    /// Requests that it always has under way, if it is a closed loop.
    pub(crate) outstanding: Option<u32>,
    /// How often it may still release, if it is a closed loop.
    pub(crate) releases_left: u64,
    pub(crate) task: TaskIndex,
    pub(crate) class: Class,
    deadline: Option<Duration>,
    op: Op,
    size: Bytes,
    places: Places,
}

impl Source {
    /// The next request, released at this instant; its name is given by whoever keeps it.
    pub(crate) fn next_request(&mut self, released: Time) -> Request {
        Request {
            id: RequestId(0),
            task: self.task,
            class: self.class,
            released,
            eligible: released,
            due: self.deadline.and_then(|deadline| released.checked_add(deadline)),
            op: self.op,
            start: self.places.next(),
            size: self.size,
            fua: false,
            optional: false,
        }
    }
}

/// What tasks and loads have in common.
struct Shape<'a> {
    name: &'a str,
    op: Op,
    size: Bytes,
    place: Place,
}

/// All sources of a workload, tasks first.
pub(crate) fn sources(
    workload: &Workload,
    limits: &Limits,
    load_releases_max: u64,
    seed: u64,
) -> Result<Vec<Source>, RunError> {
    let tasks = workload.tasks.iter().zip(0..);
    let loads = workload.best_effort.iter().zip(position(workload.tasks.len())..);
    let tasks = tasks.map(|(task, index)| {
        let shape = Shape { name: &task.name, op: task.op, size: task.size, place: task.place };
        Ok(of_task(task, index, checked_places(&shape, limits, index, seed)?))
    });
    let loads = loads.map(|(load, index)| {
        let shape = Shape { name: &load.name, op: load.op, size: load.size, place: load.place };
        Ok(of_load(load, load_releases_max, index, checked_places(&shape, limits, index, seed)?))
    });
    tasks.chain(loads).collect()
}

/// The position of a source as a number.
pub(crate) fn position(index: usize) -> u32 {
    u32::try_from(index).expect("a workload has fewer than 2^32 sources")
}

fn of_task(task: &Task, index: u32, places: Places) -> Source {
    Source {
        requests: task.requests,
        outstanding: None,
        releases_left: 0,
        task: TaskIndex(index),
        class: task.class,
        deadline: Some(task.deadline),
        op: task.op,
        size: task.size,
        places,
    }
}

fn of_load(load: &BestEffort, releases_left: u64, index: u32, places: Places) -> Source {
    let outstanding = match load.intensity {
        Intensity::Outstanding(outstanding) => Some(outstanding),
        Intensity::Rate(_) => None,
    };
    Source {
        requests: 1,
        outstanding,
        releases_left,
        task: TaskIndex(index),
        class: Class::BestEffort,
        deadline: None,
        op: load.op,
        size: load.size,
        places,
    }
}

/// The places of a source whose requests the target can take.
fn checked_places(
    shape: &Shape<'_>,
    limits: &Limits,
    index: u32,
    seed: u64,
) -> Result<Places, RunError> {
    let (size, source_name) = (shape.size, || shape.name.to_owned());
    let &Limits { capacity, alignment, size_max, .. } = limits;
    if shape.op == Op::Write && !limits.is_writable {
        return Err(RunError::WritesNotAllowed { source_name: source_name() });
    }
    if size.get() == 0 || size.get() % alignment.get() != 0 {
        return Err(RunError::SizeUnaligned { source_name: source_name(), size, alignment });
    }
    if size > size_max {
        return Err(RunError::SizeAboveBuffer { source_name: source_name(), size, size_max });
    }
    Places::new(shape.place, size, capacity, index, seed).ok_or_else(|| RunError::PlaceTooSmall {
        source_name: source_name(),
        size,
        capacity,
    })
}

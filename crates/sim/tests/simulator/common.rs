// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shared by the tests: short constructors of workloads, and a recorder of events.

use tidegate_drive::PseudoDisk;
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Duration, Intensity, Op, Outcome, Place, Plan, PolicyName,
    Request, RequestId, Task, TaskIndex, Time, Workload,
};
use tidegate_sim::{Length, Observer, SimParams, SimRun, simulate};

/// b(1) to b(4) in milliseconds.
pub(crate) const TIMES_MS: [u64; 4] = [10, 16, 21, 27];

pub(crate) const SIZE: Bytes = Bytes::from_kib(4);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns a task with one request per job, released from the start, due after a period.
pub(crate) fn task(name: &str, period_ms: u64) -> Task {
    Task::periodic(name, ms(period_ms), SIZE)
}

pub(crate) fn load(name: &str, intensity: Intensity) -> BestEffort {
    BestEffort { name: name.to_owned(), intensity, size: SIZE, op: Op::Read, place: Place::Random }
}

pub(crate) fn table(times_ms: &[u64]) -> BatchTable {
    let times: Vec<Duration> = times_ms.iter().copied().map(Duration::from_ms).collect();
    BatchTable::new(&times).expect("a sound table")
}

/// Returns a workload on a drive with the table b; its depth is the table's length.
pub(crate) fn workload(times_ms: &[u64], tasks: Vec<Task>, loads: Vec<BestEffort>) -> Workload {
    let table = table(times_ms);
    Workload { tasks, best_effort: loads, ..Workload::new("test", table.batch_max(), table) }
}

/// Returns the plan for batches of at most `batch_max`, filled up to `best_effort_fill`.
pub(crate) fn plan(workload: &Workload, batch_max: u32, best_effort_fill: u32) -> Plan {
    Plan { batch_max, best_effort_fill, ..Plan::of(workload) }
}

/// Runs a policy on the pseudo-disk.
pub(crate) fn run(
    params: &SimParams,
    name: PolicyName,
    plan: &Plan,
    observer: &mut impl Observer,
) -> SimRun {
    let workload = params.workload;
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), params.seed);
    simulate(params, tidegate_policy::build(name, plan, None).unwrap(), drive, observer)
}

/// Runs dual-queue FIFO on the pseudo-disk for `jobs` jobs of each task, without an observer.
pub(crate) fn run_dqf(workload: &Workload, plan: &Plan, jobs: u64) -> SimRun {
    run(&SimParams::new(workload, Length::Jobs(jobs)), PolicyName::Dqf, plan, &mut ())
}

/// An event that the recorder saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Released(Request),
    Dispatched { id: RequestId, batch: usize },
    Completed { id: RequestId, outcome: Outcome },
}

/// Records all events.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) seen: Vec<(Time, Seen)>,
}

impl Recorder {
    /// Returns the times of the source's releases.
    pub(crate) fn releases(&self, source: u32) -> Vec<Time> {
        let released = |&(at, seen): &(Time, Seen)| match seen {
            Seen::Released(request) if request.task == TaskIndex(source) => Some(at),
            _ => None,
        };
        self.seen.iter().filter_map(released).collect()
    }

    /// Returns the completions with their times.
    pub(crate) fn completions(&self) -> Vec<(Time, RequestId)> {
        let completed = |&(at, seen): &(Time, Seen)| match seen {
            Seen::Completed { id, .. } => Some((at, id)),
            _ => None,
        };
        self.seen.iter().filter_map(completed).collect()
    }

    /// Returns the instants of dispatch with the sizes of the batches.
    pub(crate) fn batches(&self) -> Vec<(Time, usize)> {
        let mut batches = Vec::new();
        for &(at, seen) in &self.seen {
            if let Seen::Dispatched { batch, .. } = seen
                && batches.last() != Some(&(at, batch))
            {
                batches.push((at, batch));
            }
        }
        batches
    }
}

impl Observer for Recorder {
    fn released(&mut self, now: Time, request: &Request) {
        self.seen.push((now, Seen::Released(*request)));
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let dispatched =
            |request: &Request| Seen::Dispatched { id: request.id, batch: batch.len() };
        self.seen.extend(batch.iter().map(|request| (now, dispatched(request))));
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.seen.push((now, Seen::Completed { id: request.id, outcome }));
    }
}

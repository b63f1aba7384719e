// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers that the tests share: short constructors of workloads and requests, the breaches that
//! checkers find, and a recorder of events.

use std::collections::VecDeque;
use std::fmt::Display;

use tidegate_drive::{Drive, PseudoDisk};
use tidegate_model::{
    BatchTable, BestEffort, Class, Duration, Lba, Outcome, Plan, PolicyName, Request, RequestId,
    Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};
use tidegate_sim::checkers::{Breach, Checker, Checkers};
use tidegate_sim::{Length, Observer, SimParams, SimRun, simulate};

pub(crate) use crate::builders::{SIZE, any_op, at, load, ms, task};

/// The times b(1) to b(4) in milliseconds.
pub(crate) const TIMES_MS: [u64; 4] = [10, 16, 21, 27];

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

/// Returns the pseudo-disk of a workload.
pub(crate) fn disk(workload: &Workload) -> PseudoDisk {
    PseudoDisk::new(workload.depth, workload.table.clone(), 1)
}

/// Runs a policy on the pseudo-disk, and records all events.
pub(crate) fn record(params: &SimParams, name: PolicyName, plan: &Plan) -> (SimRun, Recorder) {
    let mut recorder = Recorder::default();
    let run = run(params, name, plan, &mut recorder);
    (run, recorder)
}

/// Runs dual-queue FIFO on the pseudo-disk for `jobs` jobs of each task, and records all events.
pub(crate) fn record_dqf(workload: &Workload, plan: &Plan, jobs: u64) -> (SimRun, Recorder) {
    record(&SimParams::new(workload, Length::Jobs(jobs)), PolicyName::Dqf, plan)
}

/// Runs dual-queue FIFO on the pseudo-disk for `jobs` jobs of each task, without an observer.
pub(crate) fn run_dqf(workload: &Workload, plan: &Plan, jobs: u64) -> SimRun {
    run(&SimParams::new(workload, Length::Jobs(jobs)), PolicyName::Dqf, plan, &mut ())
}

/// Returns the breaches that the checkers of `name` under `plan` find in a policy, which may be
/// another one or follow another plan, on the pseudo-disk for `jobs` jobs of each task.
pub(crate) fn breaches_of(
    workload: &Workload,
    promised: (PolicyName, &Plan),
    policy: impl Policy,
    jobs: u64,
) -> Vec<Breach> {
    breaches_on(disk(workload), workload, promised, policy, jobs)
}

/// Returns the breaches as `breaches_of` does, but on the given drive.
pub(crate) fn breaches_on(
    drive: impl Drive,
    workload: &Workload,
    (name, plan): (PolicyName, &Plan),
    policy: impl Policy,
    jobs: u64,
) -> Vec<Breach> {
    let mut checkers = Checkers::of_policy(name, plan);
    simulate(&SimParams::new(workload, Length::Jobs(jobs)), policy, drive, &mut checkers);
    breaches(&checkers)
}

/// Returns the breaches in order of time.
pub(crate) fn breaches(checkers: &Checkers) -> Vec<Breach> {
    let violations = checkers.violations();
    assert!(checkers.violation_count() >= u64::try_from(violations.len()).unwrap());
    violations.into_iter().map(|violation| violation.breach).collect()
}

/// A policy that serves one request at a time, in the order that `next` chooses from the waiting
/// ones.
pub(crate) struct OneAtATime<F> {
    queue: VecDeque<Request>,
    is_busy: bool,
    next: F,
}

impl<F: FnMut(&mut VecDeque<Request>) -> Option<Request>> OneAtATime<F> {
    pub(crate) fn new(next: F) -> Self {
        Self { queue: VecDeque::new(), is_busy: false, next }
    }
}

impl<F: FnMut(&mut VecDeque<Request>) -> Option<Request>> Policy for OneAtATime<F> {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queue.push_back(request),
            Event::Complete { .. } => self.is_busy = false,
            _ => {}
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        let next = if self.is_busy { None } else { (self.next)(&mut self.queue) };
        let Some(Request { id, .. }) = next else { return Decision::AwaitEvent };
        self.is_busy = true;
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

/// Asserts that a breach of this kind was found.
pub(crate) fn assert_found(case: impl Display, found: &[Breach], is: impl Fn(&Breach) -> bool) {
    assert!(found.iter().any(is), "{case}: {found:?}");
}

/// Asserts that breaches of this kind were found, and no others.
pub(crate) fn assert_only(case: impl Display, found: &[Breach], is: impl Fn(&Breach) -> bool) {
    assert!(!found.is_empty() && found.iter().all(is), "{case}: {found:?}");
}

/// Returns a request for a sequence of events by hand, at the sector with its number.
pub(crate) fn request(id: u64, source: u32, class: Class) -> Request {
    let plain = Request::plain(RequestId(id), class, SIZE);
    Request { task: TaskIndex(source), start: Lba::new(id), ..plain }
}

/// Returns the breaches that a checker found.
pub(crate) fn found(checker: &impl Checker) -> Vec<Breach> {
    checker.log().first().iter().map(|found| found.breach.clone()).collect()
}

/// Reports to a checker that requests are released at 0 ms and a batch is sent later; returns the
/// breaches.
pub(crate) fn sent_at(
    now: Time,
    mut checker: impl Checker,
    released: &[Request],
    batch: &[Request],
) -> Vec<Breach> {
    for request in released {
        checker.released(at(0), request);
    }
    checker.dispatched(now, batch);
    found(&checker)
}

/// An event that the recorder saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Released(Request),
    Dispatched { id: RequestId, batch: usize },
    Completed { id: RequestId, outcome: Outcome },
}

/// An observer that records all events.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) seen: Vec<(Time, Seen)>,
}

impl Recorder {
    /// Returns the instants at which the source releases requests.
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

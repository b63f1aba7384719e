// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shared by the tests of a run: a drive that a test controls exactly, and short constructors of
//! workloads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use tidegate_drive::Drive;
use tidegate_engine::{DeviceRun, Length, Limits, RunError, RunParams};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Duration, Intensity, Outcome, Plan, PolicyName, Request,
    RequestId, Task, Time, Workload,
};
use tidegate_sim::VirtualDrive;
use tidegate_stats::Distribution;

/// The service time of every request.
pub(crate) const SERVICE: Duration = Duration::from_ms(4);

pub(crate) const SIZE: Bytes = Bytes::from_kib(4);

pub(crate) const LIMITS: Limits = Limits {
    capacity: Bytes::from_kib(1 << 20),
    alignment: Bytes::from_kib(4),
    size_max: Bytes::from_kib(128),
    in_flight_max: 8,
    is_writable: false,
};

/// The batches that a drive got, in order: the instant and the requests.
pub(crate) type Log = Rc<RefCell<Vec<(Time, Vec<Request>)>>>;

/// A drive that serves one request after the other, oldest first, [`SERVICE`] each, and fails the
/// requests in `failing`.
#[derive(Default)]
pub(crate) struct InOrder {
    /// The requests in flight with their completion times, oldest first.
    outstanding: VecDeque<(RequestId, Time, Outcome)>,
    /// The positions of the requests that fail, counted from 0 in order of submission.
    pub(crate) failing: Vec<usize>,
    pub(crate) log: Log,
    submitted_count: usize,
}

impl Drive for InOrder {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        let mut idle_at = self.outstanding.back().map_or(now, |&(_, at, _)| at);
        for request in batch {
            idle_at += SERVICE;
            let is_failing = self.failing.contains(&self.submitted_count);
            let outcome = if is_failing { Outcome::Failed } else { Outcome::Done };
            self.outstanding.push_back((request.id, idle_at, outcome));
            self.submitted_count += 1;
        }
        self.log.borrow_mut().push((now, batch.to_vec()));
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("no workload flushes")
    }

    fn next_event(&self) -> Option<Time> {
        self.outstanding.front().map(|&(_, at, _)| at)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<tidegate_drive::Completion>) {
        while let Some(&(id, at, outcome)) = self.outstanding.front().filter(|done| done.1 <= now) {
            out.push(tidegate_drive::Completion { id, at, outcome });
            self.outstanding.pop_front();
        }
    }
}

/// Makes a workload of these sources on a drive with b(i) = i * `SERVICE`, i up to 8.
pub(crate) fn workload(tasks: Vec<Task>, best_effort: Vec<BestEffort>) -> Workload {
    let times: Vec<_> = (1..=8).map(|requests| SERVICE * requests).collect();
    Workload {
        tasks,
        best_effort,
        ..Workload::new("in order", 8, BatchTable::new(&times).unwrap())
    }
}

/// Makes a plan for a workload, with batches of at most `batch_max` requests, filled with best
/// effort up to `best_effort_fill`.
pub(crate) fn plan(workload: &Workload, batch_max: u32, best_effort_fill: u32) -> Plan {
    Plan { batch_max, best_effort_fill, ..Plan::of(workload) }
}

/// Makes a task that releases `requests` requests at 0 and then every period.
pub(crate) fn task(name: &str, period_ms: u64, requests: u32) -> Task {
    Task { requests, ..Task::periodic(name, Duration::from_ms(period_ms), SIZE) }
}

pub(crate) fn load(intensity: Intensity) -> BestEffort {
    BestEffort::reads("load", intensity, SIZE)
}

/// The settings of a test run; each default has no effect.
pub(crate) struct Setting {
    pub(crate) policy: PolicyName,
    pub(crate) batch_max: u32,
    pub(crate) best_effort_fill: u32,
    pub(crate) queued_max: u32,
    pub(crate) length: Length,
    pub(crate) drive: InOrder,
    pub(crate) lateness_at: Box<dyn FnMut(Time) -> Duration>,
    pub(crate) limits: Limits,
    pub(crate) cancel: Rc<AtomicBool>,
}

impl Setting {
    pub(crate) fn new(policy: PolicyName, length: Length) -> Self {
        Self {
            policy,
            batch_max: 2,
            best_effort_fill: 0,
            queued_max: Plan::QUEUED_MAX_DEFAULT,
            length,
            drive: InOrder::default(),
            lateness_at: Box::new(|_| Duration::ZERO),
            limits: LIMITS,
            cancel: Rc::default(),
        }
    }

    pub(crate) fn run(self, workload: &Workload) -> Result<DeviceRun, RunError> {
        let mut plan = plan(workload, self.batch_max, self.best_effort_fill);
        plan.queued_max = self.queued_max;
        let (policy, length) = (self.policy, self.length);
        let limits = self.limits;
        let params = RunParams { workload, plan: &plan, policy, length, seed: 1, limits };
        let backend = VirtualDrive::new(self.drive);
        let mut backend = backend.with_lateness(self.lateness_at);
        tidegate_engine::run(&params, None, &mut backend, &self.cancel)
    }
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns the shortest and the longest time.
pub(crate) fn extremes(times: &Distribution) -> (Duration, Duration) {
    times.min().zip(times.max()).expect("something was recorded")
}

/// Returns the instant and the number of requests of each batch.
pub(crate) fn batches(log: &Log) -> Vec<(Time, usize)> {
    log.borrow().iter().map(|(at, batch)| (*at, batch.len())).collect()
}

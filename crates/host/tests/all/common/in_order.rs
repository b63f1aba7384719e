// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the tests of the loop and of the engine's run: a backend that a test controls
//! exactly, and short constructors of workloads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;

use tidegate_host::{Backend, Completion};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Duration, Intensity, Lba, Plan, Request, RequestId, Task, Time,
    Workload,
};

/// The service time of every request.
pub(crate) const SERVICE: Duration = Duration::from_ms(4);

pub(crate) const SIZE: Bytes = Bytes::from_kib(4);

/// The batches that a drive got, in order: the instant and the requests.
pub(crate) type Log = Rc<RefCell<Vec<(Time, Vec<Request>)>>>;

/// Serves one request after the other in virtual time, oldest first, [`SERVICE`] each, and fails
/// the requests in `failing`.
pub(crate) struct InOrder {
    now: Time,
    /// The requests in flight with their completion times, oldest first.
    outstanding: VecDeque<(RequestId, Time, Result<(), ()>)>,
    submitted_count: usize,
    /// The positions of the requests that fail, counted from 0 in order of submission.
    pub(crate) failing: Vec<usize>,
    /// Returns by how much the host is late when it must wake up at this instant.
    pub(crate) lateness_at: Box<dyn FnMut(Time) -> Duration>,
    pub(crate) log: Log,
}

impl Default for InOrder {
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            outstanding: VecDeque::new(),
            submitted_count: 0,
            failing: Vec::new(),
            lateness_at: Box::new(|_| Duration::ZERO),
            log: Log::default(),
        }
    }
}

impl Backend for InOrder {
    type Payload = ();
    type Fault = ();
    type Error = Infallible;

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, batch: &[Request], payloads: &mut Vec<()>) -> Result<(), Infallible> {
        assert_eq!(payloads.drain(..).count(), batch.len(), "one payload for each request");
        let mut idle_at = self.outstanding.back().map_or(self.now, |&(_, at, _)| at);
        for request in batch {
            idle_at += SERVICE;
            let is_failing = self.failing.contains(&self.submitted_count);
            let outcome = if is_failing { Err(()) } else { Ok(()) };
            self.outstanding.push_back((request.id, idle_at, outcome));
            self.submitted_count += 1;
        }
        self.log.borrow_mut().push((self.now, batch.to_vec()));
        Ok(())
    }

    fn flush(&mut self, _id: RequestId) {
        unreachable!("no workload flushes");
    }

    fn trim(&mut self, _id: RequestId, _start: Lba, _size: Bytes) {
        unreachable!("no workload trims");
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), Infallible> {
        let next_done = self.outstanding.front().map(|&(_, at, _)| at);
        let wake_at = until.into_iter().chain(next_done).min().expect("something to wait for");
        assert!(wake_at > self.now, "each instant is handled once");
        self.now = wake_at + (self.lateness_at)(wake_at);
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion<(), ()>>) -> Result<(), Infallible> {
        while let Some(&(id, _, result)) = self.outstanding.front().filter(|it| it.1 <= self.now) {
            completions.push(Completion { id, payload: Some(()), result });
            self.outstanding.pop_front();
        }
        Ok(())
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

/// Makes a plan for the workload, with batches of at most `batch_max` requests, which best effort
/// fills up to `best_effort_fill`.
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

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns the instant and the number of requests of each batch.
pub(crate) fn batches(log: &Log) -> Vec<(Time, usize)> {
    log.borrow().iter().map(|(at, batch)| (*at, batch.len())).collect()
}

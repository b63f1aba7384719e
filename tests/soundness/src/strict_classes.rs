// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Workloads for the kernel's `mq-deadline` with chosen settings, and a drive that makes real-time
//! requests wait as long as drain(q) allows.

use std::num::NonZeroU32;

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::{Completion, Drive};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Class, Duration, Intensity, PolicyName, Request, RequestId,
    Task, Time, Workload,
};

use crate::drain_system::drain_table;
use crate::generate;
use crate::held::{self, Held};
use crate::trial::Trial;
use crate::workloads;

const SEED: u64 = 20_261_126;

/// Returns a trial of `mq-deadline-tuned` whose tasks use up to about the drive's whole capacity,
/// mostly with best effort. Its times are multiples of a tick.
#[must_use]
pub fn trial(number: u64, tick: Duration, jobs: u64) -> Trial {
    let random = &mut generate::generator(SEED, number);
    let workload = workload(random, tick);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, PolicyName::MqDeadlineTuned, workload, releases, jobs)
}

/// Returns a random workload on a drive that keeps only its drain table, whose entries are
/// multiples of a tick.
///
/// # Panics
/// Never: no entry of the table is zero.
#[must_use]
pub fn workload(random: &mut Pcg64, tick: Duration) -> Workload {
    let length = random.random_range(1..=8);
    let times: Vec<Duration> =
        drain_table(random, length).into_iter().map(|ticks| tick * ticks).collect();
    let table = BatchTable::new(&times).expect("no entry is zero");
    let queue_depth = random.random_range(1..=length);
    let taken_early = random.random_range(0..=2);
    let requests: Vec<u32> =
        (0..random.random_range(1..=4)).map(|_| random.random_range(1..=2)).collect();
    let dispatches = 1 + u64::from(taken_early + requests.iter().sum::<u32>());
    let fits_ns = dispatches * table.time_max(queue_depth).ns();
    let mut workload = Workload::new("drain times only", length, table.clone());
    workload.contracts.drain = Some(table);
    workload.tasks = (0..)
        .zip(&requests)
        .map(|(entry, &requests)| {
            let period = Duration::from_ns(fits_ns * random.random_range(50..=300) / 100);
            let deadline = Duration::from_ns(period.ns() * random.random_range(50..=150) / 100);
            let offset = Duration::from_ns(random.random_range(0..=period.ns()));
            let task = Task::periodic(format!("task-{entry}"), period, Bytes::from_kib(4));
            let class = [Class::Hard, Class::Soft][usize::from(random.random_bool(0.3))];
            Task { entry, requests, deadline, offset, class, ..task }
        })
        .collect();
    workload.entries = workload.tasks.iter().map(|task| task.name.clone()).collect();
    if random.random_bool(0.9) {
        let outstanding = Intensity::Outstanding(random.random_range(1..=2 * length));
        workload.best_effort = vec![BestEffort::reads("load", outstanding, Bytes::from_kib(4))];
    }
    let settings = &mut workload.parameters.mq_deadline_tuned;
    settings.taken_early = taken_early;
    settings.queue_depth =
        random.random_bool(0.7).then_some(NonZeroU32::MIN.saturating_add(queue_depth - 1));
    workload
}

/// A drive on which every dispatch makes all requests wait for the full drain time: all complete at
/// the last instant, except one best-effort request, which completes a nanosecond earlier. The
/// request that takes its place starts the drain time again.
#[derive(Debug, Clone)]
pub struct LastInstant {
    drain: BatchTable,
    held: Vec<Held>,
}

impl LastInstant {
    /// Returns an idle drive that keeps this drain table and nothing more.
    #[must_use]
    pub const fn new(drain: BatchTable) -> Self {
        Self { drain, held: Vec::new() }
    }

    /// Returns the drive of a workload.
    ///
    /// # Panics
    /// If the workload has no drain table.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        Self::new(workload.contracts.drain.clone().expect("the workload has drain times"))
    }
}

impl Drive for LastInstant {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        let held = |&request: &Request| Held { request, completes: now };
        self.held.extend(batch.iter().map(held));
        let count = u32::try_from(self.held.len()).expect("few requests");
        let empty_by = now + self.drain.time_max(count);
        for held in &mut self.held {
            held.completes = empty_by;
        }
        if count > 1 {
            let is_real_time = |held: &&mut Held| held.request.class != Class::BestEffort;
            let first = self.held.iter_mut().min_by_key(is_real_time).expect("it holds some");
            first.completes = Time::from_ns(empty_by.ns() - 1);
        }
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("these tests send no flush");
    }

    fn next_event(&self) -> Option<Time> {
        held::next_event(&self.held)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        held::advance(&mut self.held, now, out);
    }
}

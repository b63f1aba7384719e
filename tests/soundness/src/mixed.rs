// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Dual-queue FIFO with requests of different cost: a random adversary in small systems, and
//! workloads for the simulator, on a drive whose batches take A plus their costs.
//!
//! The adversary uses only the rule: an idle device gets the min(z, queued) oldest requests, filled
//! up to beta with best effort, and takes any time up to `A + sum c`; tasks release at any tick at
//! least p after their last job. If all requests fit into one batch, it also sends each set S of
//! tasks first, and releases the other tasks just after S.

use std::collections::VecDeque;

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_analysis::SporadicTask;
use tidegate_analysis::heterogeneous::{MixedSystem, MixedTask};
use tidegate_drive::PseudoDisk;
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{Arrivals, BatchTable, Bytes, Duration, Op, PolicyName, Slowdown, Workload};

use crate::generate;
use crate::trial::Trial;
use crate::workloads::{self, Load};

/// Returns a random system; one tick is one nanosecond. Periods are around the time of two batches.
#[must_use]
pub fn system(random: &mut Pcg64) -> MixedSystem {
    let count: usize = random.random_range(1..=4);
    let switch_max = if random.random_bool(0.3) { random.random_range(1..=3) } else { 0 };
    let positioning = random.random_range(0..=6);
    let kinds: Vec<(u32, u64, bool)> = (0..count)
        .map(|_| (random.random_range(1..=3), random.random_range(1..=9), random.random_bool(0.4)))
        .collect();
    let sum: u64 = kinds.iter().map(|&(requests, cost, _)| u64::from(requests) * cost).sum();
    let tasks = kinds.iter().map(|&(requests, cost, is_write)| {
        let longest = 2 * (sum + 3 * positioning) + 20;
        let period = Duration::from_ns(random.random_range(sum.max(1)..=longest));
        MixedTask {
            task: SporadicTask { period, requests, deadline: period },
            request_max: Duration::from_ns(cost),
            op: if is_write { Op::Write } else { Op::Read },
        }
    });
    let tasks = tasks.collect();
    let batch_max = random.random_range(1..=9);
    let is_shared = random.random_bool(0.4);
    MixedSystem {
        tasks,
        positioning_max: Duration::from_ns(positioning),
        switch_max: Duration::from_ns(switch_max),
        best_effort_max: Duration::from_ns(random.random_range(1..=9)),
        best_effort_ops: vec![if random.random_bool(0.5) { Op::Read } else { Op::Write }],
        known_max: None,
        batch_max,
        best_effort_fill: if is_shared { random.random_range(1..=batch_max) } else { 0 },
    }
}

/// Returns E, the sum of all requests.
#[must_use]
pub fn requests_sum(system: &MixedSystem) -> u32 {
    system.tasks.iter().map(|mixed| mixed.task.requests).sum()
}

/// Returns the longest time of a batch of these kinds in this order.
///
/// # Panics
/// If the batch has 2^64 changes of direction.
#[must_use]
pub fn batch_ns(system: &MixedSystem, batch: &[(u64, Op)]) -> u64 {
    let costs: u64 = batch.iter().map(|&(cost_ns, _)| cost_ns).sum();
    let changes = batch.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    let switches_ns = u64::try_from(changes).expect("few") * system.switch_max.ns();
    system.positioning_max.ns() + costs + switches_ns
}

/// A request in the host's queue.
#[derive(Debug, Clone, Copy)]
struct Queued {
    task: usize,
    released: u64,
}

/// A run of the adversary.
struct Run<'a> {
    system: &'a MixedSystem,
    now: u64,
    queue: VecDeque<Queued>,
    in_flight: Vec<Queued>,
    ends: Option<u64>,
    ready: Vec<u64>,
    longest: Vec<u64>,
}

impl<'a> Run<'a> {
    fn new(system: &'a MixedSystem) -> Self {
        let count = system.tasks.len();
        let (ready, longest) = (vec![0; count], vec![0; count]);
        let (queue, in_flight) = (VecDeque::new(), Vec::new());
        Self { system, now: 0, queue, in_flight, ends: None, ready, longest }
    }

    fn release(&mut self, task: usize) {
        let SporadicTask { period, requests, .. } = self.system.tasks[task].task;
        self.ready[task] = self.now + period.ns();
        let queued = Queued { task, released: self.now };
        self.queue.extend(std::iter::repeat_n(queued, requests as usize));
    }

    /// Sends a batch to an idle device; only best effort if no real-time request is queued.
    fn send(&mut self, random: &mut Pcg64, share_percent: u64) {
        let count = self.queue.len().min(self.system.batch_max as usize);
        self.in_flight = self.queue.drain(..count).collect();
        let kind = |queued: &Queued| {
            let mixed = &self.system.tasks[queued.task];
            (mixed.request_max.ns(), mixed.op)
        };
        let mut batch: Vec<(u64, Op)> = self.in_flight.iter().map(kind).collect();
        let fill = self.system.best_effort_fill as usize;
        let filler = (self.system.best_effort_max.ns(), self.system.best_effort_ops[0]);
        while batch.len() < fill {
            // The filler goes to any position, because the device may serve the requests in any
            // order.
            batch.insert(random.random_range(0..=batch.len()), filler);
        }
        if !batch.is_empty() {
            let longest_ns = batch_ns(self.system, &batch);
            self.ends = Some(self.now + (longest_ns * share_percent / 100).max(1));
        }
    }

    fn complete(&mut self) {
        self.ends = None;
        for queued in self.in_flight.drain(..) {
            let response = self.now - queued.released;
            self.longest[queued.task] = self.longest[queued.task].max(response);
        }
    }
}

/// Returns the longest responses in random schedules.
#[must_use]
pub fn attack(system: &MixedSystem, random: &mut Pcg64, ticks: u64) -> Vec<u64> {
    let mut run = Run::new(system);
    let (mut eager, mut share) = (random.random_range(5..=100), 100);
    for tick in 0..ticks {
        if tick.is_multiple_of(64) {
            eager = random.random_range(5..=100);
            share = if random.random_bool(0.7) { 100 } else { random.random_range(1..=100) };
        }
        let is_sent_first = random.random_bool(0.5);
        for pass in 0..2 {
            if run.ends.is_some_and(|ends| ends <= run.now) {
                run.complete();
            }
            // With best effort in batches, an idle device may get a batch without real-time
            // requests.
            if run.ends.is_none() && (!run.queue.is_empty() || is_sent_first) {
                run.send(random, share);
            }
            for task in 0..system.tasks.len() {
                let is_ready = run.ready[task] <= run.now;
                if pass == 0 && is_ready && random.random_range(0..100) < eager {
                    run.release(task);
                }
            }
        }
        run.now += 1;
    }
    run.longest
}

/// Returns the longest response over all sets S that are sent first, with the other tasks released
/// just after S.
#[must_use]
pub fn attack_behind_sets(system: &MixedSystem, random: &mut Pcg64) -> u64 {
    let count = system.tasks.len();
    let of_set = |set: u32| {
        let mut run = Run::new(system);
        (0..count).filter(|task| set & (1 << task) != 0).for_each(|task| run.release(task));
        run.send(random, 100);
        (0..count).filter(|task| set & (1 << task) == 0).for_each(|task| run.release(task));
        if let Some(ends) = run.ends {
            run.now = ends;
            run.complete();
        }
        run.send(random, 100);
        run.now = run.ends.unwrap_or(run.now);
        run.complete();
        run.longest.into_iter().max().unwrap_or(0)
    };
    (0..1 << count).map(of_set).max().unwrap_or(0)
}

/// Returns a workload of mixed sizes and operations with random costs.
///
/// # Panics
/// Never.
#[must_use]
pub fn workload(seed: u64, number: u64) -> Workload {
    let random = &mut generate::generator(seed, number);
    let mut workload = workloads::workload(random, PolicyName::Dqf, Load::numbered(number));
    let kinds = [(Op::Read, 4), (Op::Read, 256), (Op::Write, 4), (Op::Write, 256)];
    for task in &mut workload.tasks {
        let (op, kib) = kinds[random.random_range(0..4)];
        (task.op, task.size) = (op, Bytes::from_kib(kib));
    }
    let largest = workload.table.time_max(workload.table.batch_max()).ns();
    let cost = |(op, kib)| RequestCost {
        op,
        size: Bytes::from_kib(kib),
        time_max: Duration::from_ns(random.random_range(1..=largest / 8)),
    };
    let costs = CostModel {
        requests: kinds.into_iter().map(cost).collect(),
        positioning_max: Duration::from_ns(random.random_range(0..=largest / 4)),
        switch_max: None,
        fua_max: None,
        batch_max: None,
        how: None,
        samples: None,
    };
    workload.table = homogeneous(&costs, workload.depth);
    workload.contracts.costs = Some(costs);
    workload
}

/// Returns the trial of such a workload; only its bounds by costs are checked.
#[must_use]
pub fn trial(seed: u64, number: u64, workload: Workload) -> Trial {
    let releases = match number % 2 {
        0 => Arrivals::Periodic,
        _ => workloads::releases(&mut generate::generator(seed, number), &workload),
    };
    let mut trial = Trial::new(number, PolicyName::Dqf, workload, releases, 40);
    trial.hold_to_costs();
    trial
}

/// Returns a drive that keeps the costs of the trial's workload, but positions `positionings` times
/// for a batch.
///
/// # Panics
/// If the workload has no costs.
#[must_use]
pub fn cost_drive(trial: &Trial, positionings: u64) -> PseudoDisk {
    let mut costs = costs(trial);
    costs.positioning_max = costs.positioning_max * positionings;
    drive_of(trial, costs)
}

/// Returns a drive that is slower by `slowdown` than the costs of the trial's workload.
///
/// # Panics
/// If the workload has no costs.
#[must_use]
pub fn slow_cost_drive(trial: &Trial, slowdown: Slowdown) -> PseudoDisk {
    drive_of(trial, slowdown.of_costs(&costs(trial)))
}

fn costs(trial: &Trial) -> CostModel {
    trial.workload.contracts.costs.clone().expect("the workload has costs")
}

fn drive_of(trial: &Trial, costs: CostModel) -> PseudoDisk {
    let depth = trial.workload.depth;
    PseudoDisk::with_costs(depth, homogeneous(&costs, depth), Some(costs), trial.number)
}

/// Returns b(n) of the homogeneous model: all requests have the largest cost.
fn homogeneous(costs: &CostModel, depth: u32) -> BatchTable {
    let request = costs.requests.iter().map(|cost| cost.time_max).max().expect("four kinds");
    let times = (1..=u64::from(depth)).map(|n| costs.positioning_max + request * n);
    BatchTable::new(&times.collect::<Vec<_>>()).expect("no entry is zero")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Properties over all kinds of workloads: no checker reports a violation of this project's
//! policies, every job completes, and no batch on a drained drive takes longer than b.

use proptest::prelude::*;
use tidegate_model::{
    Arrivals, Bandwidth, BatchTable, BestEffort, BestEffortOrder, Class, Duration, Intensity,
    Outcome, Plan, PolicyName, Request, Task, Time, Workload,
};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, Observer, SimParams};

use super::common::{SIZE, any_op, load, ms, plan, run, table, task, workload};

/// An observer that compares the time of every batch with b.
struct BatchTimes<'a> {
    table: &'a BatchTable,
    dispatched: Time,
    size: u32,
}

impl Observer for BatchTimes<'_> {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.dispatched = now;
        self.size = u32::try_from(batch.len()).unwrap();
    }
    fn completed(&mut self, now: Time, _request: &Request, _outcome: Outcome) {
        assert!(now - self.dispatched <= self.table.time_max(self.size));
    }
}

fn any_task() -> impl Strategy<Value = Task> {
    let class = prop::sample::select(&[Class::Hard, Class::Soft, Class::Interactive][..]);
    (1_u64..80, 1_u64..100, 1_u32..5, 0_u64..50, class, any_op()).prop_map(
        |(period, deadline, requests, offset, class, op)| {
            let (deadline, offset) = (ms(deadline), ms(offset));
            Task { deadline, requests, offset, class, op, ..task("task", period) }
        },
    )
}

fn any_load() -> impl Strategy<Value = BestEffort> {
    let closed = (1_u32..20).prop_map(Intensity::Outstanding);
    let open =
        (1_u64..200).prop_map(|per_s| Intensity::Rate(Bandwidth::new(per_s * SIZE.get()).unwrap()));
    (prop_oneof![closed, open], any_op())
        .prop_map(|(intensity, op)| BestEffort { op, ..load("load", intensity) })
}

/// The drain times here are arbitrary: the drive may take longer.
fn any_workload() -> impl Strategy<Value = Workload> {
    let times = || prop::collection::vec(1_u64..30, 1..9);
    let tasks = prop::collection::vec(any_task(), 0..5);
    let loads = prop::collection::vec(any_load(), 0..3);
    (times(), times(), tasks, loads).prop_map(|(times, drain, tasks, loads)| {
        let mut workload = workload(&times, tasks, loads);
        workload.contracts.drain = Some(table(&drain));
        workload
    })
}

/// The orders of best effort that need no model of the drive.
const ORDERS: [BestEffortOrder; 3] =
    [BestEffortOrder::Fifo, BestEffortOrder::Elevator, BestEffortOrder::Nearest];

proptest! {
    #[test]
    fn policies_keep_their_promises(
        mut workload in any_workload(),
        choice: prop::sample::Index,
        batch_share in 0_u32..8,
        fill_share in 0_u32..9,
        extra_ms in 0_u64..30,
        is_bunched: bool,
        jitter_percent in prop::sample::select(&[0_u64, 1, 60, 99][..]),
        order in prop::sample::select(&ORDERS[..]),
        queued_max in prop::sample::select(&[1, 2, 7, Plan::QUEUED_MAX_DEFAULT][..]),
        seed: u64,
    ) {
        let extra_max = ms(extra_ms);
        let sporadic = Arrivals::Sporadic { extra_max };
        for task in &mut workload.tasks {
            task.arrivals = if is_bunched { Arrivals::Bunched } else { sporadic };
            task.jitter = Duration::from_ns(task.period.min(task.deadline).ns() * jitter_percent / 100);
        }
        let batch_max = batch_share % workload.depth + 1;
        let plan = plan(&workload, batch_max, fill_share % (batch_max + 1));
        let plan = Plan { queued_max, best_effort_order: order, ..plan };
        let names = tidegate_policy::available(&plan);
        let name = names[choice.index(names.len())];
        let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(30)) };
        let mut checkers = Checkers::of_policy(name, &plan);
        let run = run(&params, name, &plan, &mut checkers);
        prop_assert_eq!(checkers.violations(), vec![]);
        prop_assert_eq!(run.real_time_left, 0);
        for (task, metrics) in workload.tasks.iter().zip(run.metrics.tasks()) {
            prop_assert_eq!(metrics.jobs(), 30);
            prop_assert_eq!(metrics.completed.requests, 30 * u64::from(task.requests));
            prop_assert!(metrics.responses.min().unwrap() <= metrics.responses.mean().unwrap());
            prop_assert!(metrics.responses.mean().unwrap() <= metrics.responses.max().unwrap());
        }
    }

    #[test]
    fn no_batch_of_a_drained_drive_exceeds_b(
        workload in any_workload(), fill_share in 0_u32..9, seed: u64,
    ) {
        let plan = plan(&workload, workload.depth, fill_share % (workload.depth + 1));
        let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(30)) };
        let mut watch = BatchTimes { table: &workload.table, dispatched: Time::ZERO, size: 0 };
        run(&params, PolicyName::Dqf, &plan, &mut watch);
    }
}

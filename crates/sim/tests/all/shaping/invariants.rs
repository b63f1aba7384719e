// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random workloads, with regulators around each policy: no request is lost or served twice, real
//! time never waits for tokens, and every policy keeps its rules for the events that it sees.

use std::num::NonZeroU32;

use proptest::prelude::*;
use tidegate_drive::PseudoDisk;
use tidegate_model::parameters::{Shaping, TokenRate, TokenUnit};
use tidegate_model::{
    Bandwidth, BatchTable, BestEffort, Class, Duration, Intensity, Plan, RegulatorName, Task,
    Workload,
};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, SimParams, simulate};

use super::common::{SIZE, any_op, bytes, load, requests, shape, task};

fn any_task() -> impl Strategy<Value = Task> {
    let classes = &[Class::Hard, Class::Soft, Class::Interactive][..];
    let limits = &[None, Some(1), Some(3)][..];
    let choices = (prop::sample::select(classes), prop::sample::select(limits), any_op());
    (1_u64..80, 1_u32..4, choices).prop_map(|(period, requests, (class, outstanding_max, op))| {
        Task { requests, op, outstanding_max, class, ..task("task", period) }
    })
}

fn any_load() -> impl Strategy<Value = BestEffort> {
    (1_u32..20, 1_u64..200, 0..3, any_op()).prop_map(|(outstanding, per_s, kind, op)| {
        let rate = Bandwidth::new(per_s * SIZE.get()).unwrap();
        let intensity = match kind {
            0 => Intensity::Outstanding(outstanding),
            1 => Intensity::Rate(rate),
            _ => Intensity::Paced { rate, outstanding },
        };
        BestEffort { op, ..load("load", intensity) }
    })
}

fn any_rate() -> impl Strategy<Value = TokenRate> {
    (1_u64..200, 0..3).prop_map(|(part, kind)| match kind {
        0 => requests(part),
        1 => bytes(part * SIZE.get()),
        _ => TokenRate { unit: TokenUnit::DeviceTime, per_s: part * 5_000_000 },
    })
}

fn any_shaping() -> impl Strategy<Value = Shaping> {
    let write_rate = prop::option::of(any_rate());
    let interactive_rate = prop::option::of((20_u64..200).prop_map(requests));
    let parts = (0_u64..300, write_rate, interactive_rate, any::<bool>());
    parts.prop_map(|(burst_ms, write_rate, interactive_rate, is_detecting)| Shaping {
        burst: Duration::from_ms(burst_ms),
        write_rate,
        is_detecting,
        interactive_rate,
    })
}

fn any_plan() -> impl Strategy<Value = (Workload, Plan)> {
    let times = prop::collection::vec(1_u64..30, 1..9);
    let tasks = prop::collection::vec(any_task(), 0..5);
    let loads = prop::collection::vec(any_load(), 0..3);
    let regulators = prop::sample::select(&RegulatorName::ALL[..]);
    let regulators = prop::collection::vec(regulators, 1..4);
    let queued_max = prop::sample::select(&[1, 2, 7, Plan::QUEUED_MAX_DEFAULT][..]);
    let parts = (times, tasks, loads, regulators, queued_max);
    (parts, any_rate(), any_shaping(), 1_u32..6).prop_map(
        |(parts, rate, shaping, in_flight_max)| {
            let (times, tasks, best_effort, regulators, queued_max) = parts;
            let mut tasks = tasks;
            if best_effort.iter().any(|load| matches!(load.intensity, Intensity::Rate(_))) {
                // Beside an open loop that overloads the drive, a task that waits for its own jobs
                // would wait several times as long for each job as for the previous one, so the run
                // would not end.
                for task in &mut tasks {
                    task.outstanding_max = None;
                }
            }
            let times: Vec<Duration> = times.into_iter().map(Duration::from_ms).collect();
            let table = BatchTable::new(&times).unwrap();
            let mut workload = Workload {
                tasks,
                best_effort,
                regulators,
                ..Workload::new("test", table.batch_max(), table.clone())
            };
            // With drain times, the policies that decide by them run too.
            workload.contracts.drain = Some(table);
            shape(&mut workload.parameters, rate, shaping);
            workload.parameters.depth_limit.in_flight_max = NonZeroU32::new(in_flight_max);
            let batch_max = workload.depth;
            let plan = Plan { queued_max, best_effort_fill: batch_max / 2, ..Plan::of(&workload) };
            (workload, plan)
        },
    )
}

proptest! {
    // Shrinking is limited, because each case is a whole run, and a failing case is soon small
    // enough.
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_no_rule_broken_behind_regulators(
        (workload, plan) in any_plan(),
        choice: prop::sample::Index,
        seed: u64,
    ) {
        let names = tidegate_policy::available(&plan);
        let name = names[choice.index(names.len())];
        let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(30)) };
        let (policy, mut checkers) = Checkers::watching(name, &plan, None).unwrap();
        let drive = PseudoDisk::new(workload.depth, workload.table.clone(), seed);
        let run = simulate(&params, policy, drive, &mut checkers);
        prop_assert_eq!(checkers.violations(), vec![]);
        prop_assert_eq!(run.real_time_left, 0);
        for metrics in run.metrics.tasks() {
            prop_assert_eq!(metrics.jobs(), 30);
        }
    }
}

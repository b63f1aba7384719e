// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the loop's properties hold for every workload, policy and lateness of the host. Method:
//! random cases on the pseudo-disk.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use tidegate_drive::{Drive, PseudoDisk};
use tidegate_engine::{DeviceRun, Length, Limits, RunEnd, RunParams};
use tidegate_host::Backend;
use tidegate_model::{
    Bandwidth, BatchTable, BestEffort, Bytes, Class, DispatchMode, Duration, Intensity, Place,
    Plan, PolicyName, Task, Time, Workload,
};
use tidegate_sim::VirtualDrive;

const SIZE: Bytes = Bytes::from_kib(4);

/// The parameters of a case; all times are in milliseconds.
#[derive(Debug, Clone)]
struct Case {
    tasks: Vec<(u64, u64, u32)>,
    loads: Vec<u32>,
    table: Vec<u64>,
    batch_max: u32,
    best_effort_fill: u32,
    queued_max: u32,
    jobs: u64,
    seed: u64,
}

fn any_case() -> impl Strategy<Value = Case> {
    let task = (1_u64..40, 0_u64..20, 1_u32..4);
    let parts = (
        prop::collection::vec(task, 1..4),
        prop::collection::vec(1_u32..20, 0..3),
        prop::collection::vec(1_u64..6, 1..5),
        (any::<u32>(), any::<u32>(), 1_u32..8),
        (1_u64..12, any::<u64>()),
    );
    parts.prop_map(|(tasks, loads, table, (batch, fill, queued_max), (jobs, seed))| {
        let batch_max = batch % u32::try_from(table.len()).unwrap() + 1;
        let best_effort_fill = fill % (batch_max + 1);
        Case { tasks, loads, table, batch_max, best_effort_fill, queued_max, jobs, seed }
    })
}

fn workload(case: &Case) -> Workload {
    let mut time = Duration::ZERO;
    let times: Vec<_> = case
        .table
        .iter()
        .map(|&step| {
            time += Duration::from_ms(step);
            time
        })
        .collect();
    let tasks = case.tasks.iter().zip(0..).map(|(&(period, offset, requests), index)| Task {
        entry: index,
        requests,
        place: Place::Sequential,
        offset: Duration::from_ms(offset),
        class: Class::Soft,
        ..Task::periodic(format!("task-{index}"), Duration::from_ms(period), SIZE)
    });
    let loads = case.loads.iter().enumerate().map(|(index, &strength)| {
        let rate = || Bandwidth::new(SIZE.get() * u64::from(strength) * 10).expect("not zero");
        let intensity = match strength % 2 {
            0 => Intensity::Outstanding(strength),
            _ => Intensity::Rate(rate()),
        };
        BestEffort::reads(format!("load-{index}"), intensity, SIZE)
    });
    Workload {
        tasks: tasks.collect(),
        best_effort: loads.collect(),
        ..Workload::new(
            "pseudo",
            u32::try_from(times.len()).unwrap(),
            BatchTable::new(&times).unwrap(),
        )
    }
}

/// Returns every policy that needs only a batch table.
fn policies(case: &Case) -> Vec<PolicyName> {
    tidegate_policy::available(&Plan::of(&workload(case)))
}

fn run(case: &Case, policy: PolicyName, lateness_max: Duration) -> (DeviceRun, bool) {
    let workload = workload(case);
    let plan = Plan {
        batch_max: case.batch_max,
        best_effort_fill: case.best_effort_fill,
        queued_max: case.queued_max,
        ..Plan::of(&workload)
    };
    let limits = Limits {
        capacity: Bytes::from_kib(1 << 20),
        alignment: SIZE,
        size_max: SIZE,
        in_flight_max: workload.depth,
        is_writable: false,
    };
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), case.seed);
    let backend = VirtualDrive::new(drive);
    // The lateness is between zero and `lateness_max`, and always the same for one instant.
    let mut backend = backend.with_lateness(move |at: Time| {
        Duration::from_ns(at.ns().wrapping_mul(0x9E37_79B9_7F4A_7C15) % (lateness_max.ns() + 1))
    });
    let params = RunParams {
        workload: &workload,
        plan: &plan,
        policy,
        length: Length::Jobs(case.jobs),
        seed: case.seed,
        limits,
    };
    let outcome =
        tidegate_engine::run(&params, None, &mut backend, (), &AtomicBool::new(false)).unwrap();
    let mut completions = Vec::new();
    let Ok(()) = backend.reap(&mut completions);
    let is_idle = backend.drive().next_event().is_none() && completions.is_empty();
    (outcome, is_idle)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every job of every task completes once, and no request remains in flight.
    #[test]
    fn every_job_is_finished_once(case in any_case(), late_ms in 0_u64..30) {
        for policy in policies(&case) {
            let (outcome, is_idle) = run(&case, policy, Duration::from_ms(late_ms));
            prop_assert!(is_idle);
            let DeviceRun { run, watch } = outcome;
            prop_assert_eq!(run.end, RunEnd::Complete);
            for task in run.metrics.tasks() {
                let counts = (task.jobs(), task.failed_jobs, task.unfinished_jobs);
                prop_assert_eq!(counts, (case.jobs, 0, 0));
            }
            prop_assert_eq!(watch.device_time.count(), run.metrics.all().completed.requests);
            let lateness = watch.host_lateness;
            let all_jobs = case.jobs * u64::try_from(case.tasks.len()).unwrap();
            prop_assert_eq!(lateness.count(), all_jobs);
            let slowest = run.metrics.tasks().iter().map(|task| task.responses.max());
            prop_assert!(lateness.max() <= slowest.max().unwrap());
        }
    }

    /// The same parameters give the same run.
    #[test]
    fn run_repeats_itself(case in any_case(), late_ms in 0_u64..30) {
        for policy in policies(&case) {
            let again = || run(&case, policy, Duration::from_ms(late_ms)).0;
            prop_assert!(again() == again());
        }
    }

    /// The pseudo-disk stays within its table, so a punctual host sees no overrun.
    #[test]
    fn punctual_host_sees_no_overrun_of_a_drive_that_keeps_its_table(case in any_case()) {
        for policy in policies(&case) {
            let watch = run(&case, policy, Duration::ZERO).0.watch.batches;
            prop_assert_eq!((watch.overruns, watch.overrun_max), (0, Duration::ZERO));
            prop_assert!(policy.facts().dispatch != DispatchMode::Batches || watch.batches > 0);
        }
    }
}

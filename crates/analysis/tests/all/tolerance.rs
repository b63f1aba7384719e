// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the tolerance of every kind of plan: by count, by cost, behind regulators, under each
//! contract of the drive. Method: sums by hand.

use tidegate_analysis::{Answer, Tolerance, assess, tolerance};
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{
    BatchChoice, BatchTable, BestEffort, Bytes, DriveContract, Duration, Intensity, Op, PolicyName,
    RegulatorName, ServicePrediction, Slowdown, Task, Workload,
};

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// Returns this many tasks of one request every 200 ms with a deadline of 100 ms, on a drive with
/// b(i) = 10 ms + i ms, z = 4.
fn workload(count: u32) -> Workload {
    let times: Vec<Duration> = (1..=8).map(|n| ms(10 + n)).collect();
    let task = |entry: u32| Task {
        entry,
        deadline: ms(100),
        ..Task::periodic(format!("task-{entry}"), ms(200), Bytes::from_kib(4))
    };
    let table = BatchTable::new(&times).expect("a table");
    Workload {
        tasks: (0..count).map(task).collect(),
        batch: BatchChoice::Fixed(4),
        ..Workload::new("d", 8, table)
    }
}

fn found(workload: &Workload, policy: PolicyName) -> Tolerance {
    let assessment = assess(workload, policy);
    assert_eq!(assessment.answer, Answer::Proven, "{policy}");
    tolerance(workload, &assessment).expect("proven, with a task")
}

/// One in flight and three behind it, or two and two: b(s) + b(4 - s) = 24 ms. So 2 delta = 76 ms,
/// and a factor of 100 / 24.
#[test]
fn a_plan_by_count_shares_its_slack_between_two_batches() {
    let found = found(&workload(4), PolicyName::Dqf);
    assert_eq!((found.contract, found.added), (DriveContract::Batches, ms(38)));
    assert_eq!(found.factor_ppm, 3_166_666);
    assert_eq!(found.beyond_plan, found.added);
}

#[test]
fn nothing_is_tolerated_where_nothing_is_proven() {
    let mut late = workload(4);
    late.tasks[0].deadline = ms(23);
    assert_eq!(tolerance(&late, &assess(&late, PolicyName::Dqf)), None);
    let unknown = workload(4);
    assert_eq!(tolerance(&unknown, &assess(&unknown, PolicyName::Noop)), None);
    let empty = workload(0);
    assert_eq!(tolerance(&empty, &assess(&empty, PolicyName::Dqf)), None);
}

/// With a depth of 1, the bound is the one for batches of one request: 4 b(1) = 44 ms, so each
/// batch tolerates 14 ms.
#[test]
fn regulators_are_part_of_the_plan() {
    let mut limited = workload(4);
    limited.regulators = vec![RegulatorName::DepthLimit, RegulatorName::TokensPerTask];
    limited.parameters.depth_limit.in_flight_max = std::num::NonZeroU32::new(1);
    assert_eq!(found(&limited, PolicyName::Dqf).added, ms(14));
}

/// Returns the workload with a cost of 1 ms for each request, A = 10 ms, and batches of at most
/// `cost_max_ms`.
fn by_cost(cost_max_ms: u64) -> Workload {
    let mut workload = workload(4);
    let cost = |op| RequestCost { op, size: Bytes::from_kib(4), time_max: ms(1) };
    workload.contracts.costs = Some(CostModel {
        positioning_max: ms(10),
        requests: vec![cost(Op::Read), cost(Op::Write)],
        switch_max: None,
        fua_max: None,
        batch_max: Some(8),
        how: None,
        samples: None,
    });
    workload.parameters.dqf.batch_cost = Some(ms(cost_max_ms));
    workload
}

/// 2 A + C = 24 ms: 38 ms for A. The longest batch takes 10 + 6 ms; 237.5 % more is 54 ms, 38 ms
/// longer.
#[test]
fn a_plan_by_cost_gives_its_slack_to_each_batch() {
    let found = found(&by_cost(6), PolicyName::Dqf);
    assert_eq!((found.added, found.factor_ppm), (ms(38), 2_375_000));
}

/// With a margin of 10 %, A = 11 ms and C = 4.4 ms are planned, so the bound is 26.4 ms, and
/// 36.8 ms are left for each batch. Counted from the drive's own A, 37.8 ms are left. The policy
/// charges each request 1.1 ms.
#[test]
fn a_margin_counts_in_a_plan_by_cost() {
    let with = Workload { margin_ppm: 100_000, ..by_cost(6) };
    let found = found(&with, PolicyName::Dqf);
    assert_eq!(found.beyond_plan, Duration::from_us(36_800));
    assert_eq!(found.added, Duration::from_us(37_800));
    let cost = assess(&with, PolicyName::Dqf).batch_cost.expect("limited by cost");
    assert_eq!(cost.charge_ns(Op::Read, Bytes::from_kib(4)), 1_100_000);
}

/// A limit of exactly one request stays a limit of one request.
#[test]
fn a_margin_never_makes_a_request_cost_more_than_a_batch_may() {
    let with = Workload { margin_ppm: 100_000, ..by_cost(1) };
    let assessment = assess(&with, PolicyName::Dqf);
    assert_eq!(assessment.answer, Answer::Proven);
    let cost = assessment.batch_cost.expect("limited by cost");
    assert_eq!(cost.cost_max, Duration::from_us(1_100));
}

/// Each policy that limits the best-effort depth rests on one contract; the others do not matter to
/// it.
#[test]
fn each_contract_has_its_own_tolerance() {
    let mut workload = workload(1);
    workload.best_effort =
        vec![BestEffort::reads("load", Intensity::Outstanding(4), Bytes::from_kib(4))];
    workload.contracts.starvation_max = Some(ms(70));
    workload.contracts.drain = Some(Slowdown::by(ms(30)).of_table(&workload.table));
    workload.contracts.priority = Some(Slowdown::by(ms(9)).of_table(&workload.table));
    for (policy, contract, added) in [
        (PolicyName::Rtio, DriveContract::Starvation, 30),
        // drain(8) = 48 ms at the largest depth.
        (PolicyName::RtioDrain, DriveContract::Drain, 52),
        (PolicyName::RtioPriority, DriveContract::Priority, 80),
    ] {
        let found = found(&workload, policy);
        assert_eq!((found.contract, found.added), (contract, ms(added)), "{policy}");
        let plan = assess(&workload, policy).tolerant_plan(&workload);
        let (measured, tolerated) = (&plan.limits.measured, &plan.limits.tolerated);
        assert_eq!(measured.batches, tolerated.batches, "{policy}");
        let changed = [
            measured.starvation_max != tolerated.starvation_max,
            measured.drain != tolerated.drain,
            measured.priority != tolerated.priority,
        ];
        assert_eq!(changed.iter().filter(|&&is| is).count(), 1, "{policy}: {changed:?}");
    }
}

/// `das` lets a request take b(1) and spends the rest; with 10 % it counts on 12.1 ms.
#[test]
fn a_policy_that_spends_all_slack_tolerates_its_margin() {
    let mut workload = workload(4);
    let (ceiling, late_max) = (Duration::from_ms(1), Some(Duration::ZERO));
    workload.contracts.prediction = Some(ServicePrediction { ceiling, late_max });
    let without = found(&workload, PolicyName::Das);
    assert_eq!((without.added, without.factor_ppm), (Duration::ZERO, 0));
    assert!(without.spent.is_some());
    workload.margin_ppm = 100_000;
    let with = found(&workload, PolicyName::Das);
    assert_eq!((with.added, with.factor_ppm), (Duration::from_us(1_100), 100_000));
    let plan = assess(&workload, PolicyName::Das).tolerant_plan(&workload);
    assert_eq!(plan.table.time_max(1), Duration::from_us(12_100));
    assert_eq!(plan.limits.tolerated.batches.table, plan.table);
}

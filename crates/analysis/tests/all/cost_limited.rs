// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: batches limited by cost: their number, the requests that join the last one, the rest for
//! best effort, and the limit where nothing is proved. Method: sums by hand.

use tidegate_analysis::cost_limited::{self, CostLimitedSystem};
use tidegate_analysis::heterogeneous::MixedTask;
use tidegate_analysis::{Answer, SporadicTask, Verdict, assess, headroom};
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, DeferredWrites, Duration, Intensity, Op, PolicyName, Task,
    Workload,
};

/// Returns tasks of e requests of cost c, all with this period.
fn tasks(kinds: &[(u32, u64)], period_ns: u64) -> Vec<MixedTask> {
    let of = |&(requests, cost_ns): &(u32, u64)| {
        let period = Duration::from_ns(period_ns);
        let task = SporadicTask { period, requests, deadline: period };
        MixedTask { task, request_max: Duration::from_ns(cost_ns), op: Op::Read }
    };
    kinds.iter().map(of).collect()
}

/// Returns the bound in a system with A = 100.
fn bound(kinds: &[(u32, u64)], period_ns: u64, z: u32, cost_ns: u64, fill_ns: u64) -> Option<u64> {
    let verdicts = cost_limited::responses(&CostLimitedSystem {
        tasks: tasks(kinds, period_ns),
        positioning_max: Duration::from_ns(100),
        batch_max: z,
        cost_max: Duration::from_ns(cost_ns),
        best_effort_fill: Duration::from_ns(fill_ns),
    });
    assert_eq!(verdicts.len(), kinds.len());
    verdicts[0].bound().map(Duration::ns)
}

const NEVER: u64 = 1 << 40;

#[test]
fn where_nothing_is_cut_it_is_theorem_2_or_3_by_cost() {
    assert_eq!(bound(&[(2, 10), (1, 30)], NEVER, 3, 50, 0), Some(200 + 50));
    assert_eq!(bound(&[(2, 10)], NEVER, 3, 50, 0), Some(100 + 20), "nothing before it");
    assert_eq!(bound(&[(2, 10), (1, 30)], NEVER, 3, 50, 40), Some(200 + 40 + 50));
    assert_eq!(bound(&[(2, 10), (1, 30)], NEVER, 3, 60, 60), Some(200 + 60 + 60));
    assert_eq!(bound(&[(2, 10)], NEVER, 3, 50, 40), Some(200 + 40 + 40), "best effort before it");
}

/// After a request of 10 in flight come 10, 30 and 30 under Z = 30: each in its own batch.
#[test]
fn batches_are_counted_by_what_does_not_fit() {
    assert_eq!(bound(&[(2, 10), (2, 30)], NEVER, 9, 30, 0), Some(4 * 100 + 80));
    // After 10 in flight, 70 fit; with nothing in flight, 80 need two batches.
    assert_eq!(bound(&[(2, 10), (2, 30)], NEVER, 9, 70, 0), Some(2 * 100 + 80));
    assert_eq!(bound(&[(1, 30), (3, 30)], NEVER, 2, NEVER, 0), Some(3 * 100 + 120), "by count");
    assert_eq!(bound(&[(4, 10)], NEVER, 9, 10, 0), Some(4 * 100 + 40), "each alone");
}

/// Only a task that releases a second job during the wait can add requests to the last batch.
#[test]
fn what_comes_again_may_ride_in_the_last_batch() {
    // R = 280 and the last batch is sent by 170, so periods up to 450 count.
    let kinds = &[(2, 10), (2, 30)];
    assert_eq!(bound(kinds, 451, 9, 70, 0), Some(280));
    // Both tasks come again: without the cheaper one, they add 60. Z - c = 60, and C - (Z + 1) = 9
    // is the least.
    assert_eq!(bound(kinds, 450, 9, 70, 0), Some(280 + 9));
    assert_eq!(bound(kinds, 289, 9, 70, 0), None, "not below the period");
    assert_eq!(bound(kinds, 290, 9, 70, 0), Some(289));
    // Each of the eight requests may be alone in its batch: 10 and 30 exceed Z = 30. All tasks come
    // again and `C - (Z + 1) = 129`, but beside the job's last request the batch holds at most
    // `Z - c = 20`.
    assert_eq!(bound(&[(4, 10), (4, 30)], 1_500, 9, 30, 0), Some(8 * 100 + 160 + 20));
}

/// Returns a workload with A = 10 ms, costs of 1 ms for 4 KiB and 20 ms for 1 MiB, four small tasks
/// and a large one: C = 24 ms.
fn workload(cost_ms: u64, is_shared: bool) -> Workload {
    let times: Vec<Duration> = (1..=8).map(|n| Duration::from_ms(10 + 20 * n)).collect();
    let mut workload = Workload::new("d", 8, BatchTable::new(&times).unwrap());
    let cost = |kib: u64, ms: u64| RequestCost {
        op: Op::Read,
        size: Bytes::from_kib(kib),
        time_max: Duration::from_ms(ms),
    };
    workload.contracts.costs = Some(CostModel {
        positioning_max: Duration::from_ms(10),
        requests: vec![cost(4, 1), cost(1024, 20)],
        switch_max: None,
        fua_max: None,
        batch_max: Some(6),
        how: None,
        samples: None,
    });
    workload.tasks = [4, 4, 4, 4, 1024].map(task).to_vec();
    workload.tasks[4].entry = 1;
    workload.entries = vec!["small".to_owned(), "large".to_owned()];
    workload.parameters.dqf.batch_cost = Some(Duration::from_ms(cost_ms));
    if is_shared {
        workload.best_effort =
            vec![BestEffort::reads("load", Intensity::Outstanding(4), Bytes::from_kib(1024))];
    }
    workload
}

fn task(kib: u64) -> Task {
    Task {
        deadline: Duration::from_ms(100),
        ..Task::periodic(format!("{kib}"), Duration::from_ms(200), Bytes::from_kib(kib))
    }
}

/// 2 A + F + max(C, F) = 100 ms gives F = 40 ms.
#[test]
fn best_effort_gets_what_the_deadlines_leave() {
    let assessment = assess(&workload(60, true), PolicyName::Dqf);
    assert_eq!(assessment.answer, Answer::Proven);
    let plan = assessment.plan(&workload(60, true));
    let cost = plan.batch_cost.expect("limited by cost");
    assert_eq!(cost.best_effort_fill, Duration::from_ms(40));
    assert_eq!((plan.batch_max, plan.best_effort_fill), (6, 6), "the costs cover six");
}

/// The remaining time is too short for any best-effort request, so one would wait forever at the
/// head of the queue.
#[test]
fn best_effort_gets_nothing_that_holds_no_request() {
    let mut workload = workload(60, true);
    for task in &mut workload.tasks {
        task.deadline = Duration::from_ms(63);
    }
    let assessment = assess(&workload, PolicyName::Dqf);
    assert_eq!(assessment.answer, Answer::Proven);
    assert_eq!(assessment.best_effort_fill, 0);
    assert_eq!(assessment.batch_cost.expect("limited").best_effort_fill, Duration::ZERO);
}

/// With k small tasks, C = 20 + k, and R = 20 + C while all requests fit into a batch of six;
/// beyond that batches are cut.
#[test]
fn headroom_is_that_of_the_limited_batches() {
    let rooms = headroom(&workload(60, false), PolicyName::Dqf).expect("two entries");
    assert!(rooms[0].more > 0 && rooms[1].more > 0, "{rooms:?}");
    let mut fuller = workload(60, false);
    let more = vec![fuller.tasks[0].clone(); rooms[0].more];
    fuller.tasks.splice(0..0, more);
    assert_eq!(assess(&fuller, PolicyName::Dqf).answer, Answer::Proven);
    fuller.tasks.insert(0, fuller.tasks[0].clone());
    assert_eq!(assess(&fuller, PolicyName::Dqf).answer, Answer::NotProven);
}

/// `dqf` applies the limit of the file even without a proof; other policies ignore it.
#[test]
fn the_limit_stands_where_nothing_is_proved() {
    let mut unknown = workload(60, true);
    unknown.contracts.deferred_writes = DeferredWrites::Unmeasured;
    let assessment = assess(&unknown, PolicyName::Dqf);
    assert!(matches!(assessment.answer, Answer::NotApplicable { .. }));
    assert_eq!(assessment.batch_cost.expect("as asked").cost_max, Duration::from_ms(60));
    for other in [PolicyName::DqEdf, PolicyName::DqfElastic, PolicyName::Fifo] {
        assert_eq!(assess(&workload(60, true), other).batch_cost, None, "{other}");
    }
}

#[test]
fn every_task_has_the_same_bound() {
    let verdicts = cost_limited::responses(&CostLimitedSystem {
        tasks: tasks(&[(1, 5), (2, 7), (1, 9)], NEVER),
        positioning_max: Duration::from_ns(1),
        batch_max: 2,
        cost_max: Duration::from_ns(9),
        best_effort_fill: Duration::ZERO,
    });
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]));
    assert!(matches!(verdicts[0], Verdict::Bounded(_)));
}

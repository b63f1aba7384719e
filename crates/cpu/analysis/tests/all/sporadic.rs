// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Aperiodic servers as tasks, and the work behind them, compared to figures computed by hand.

use tidegate_cpu_analysis::{
    CpuAnswer, CpuAssessment, CpuBound, CpuThreadAssessment, Objection, assess,
};
use tidegate_cpu_model::{
    Arrivals, Background, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority,
    Scheduling, ServerKind, ServerParams,
};
use tidegate_model::Duration;

const NS: fn(u64) -> Duration = Duration::from_ns;

fn bounded(ns: u64) -> CpuBound {
    CpuBound::Bounded(NS(ns))
}

/// Returns table 6.1 with task 2 as a server of this kind.
fn table_6_1(kind: ServerKind) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    let task = |name, execution, period, deadline, priority| CpuTask {
        deadline: NS(deadline),
        ..CpuTask::new(name, NS(execution), NS(period), Priority(priority))
    };
    workload.tasks.push(task("task-1", 10, 200, 20, 3));
    workload.tasks.push(task("task-3", 49, 200, 100, 1));
    let params = ServerParams::new(kind, NS(20), NS(50));
    workload.servers.push(CpuServer::new("task-2", Priority(2), params));
    workload
}

fn assessed(workload: &CpuWorkload) -> CpuAssessment {
    assess(workload, &[])
}

/// R3 = 10 + 2 * 20 + 49 = 99, and the deadline is 100.
#[test]
fn table_6_1_is_proven_with_corrected_servers() {
    let kinds = [
        ServerKind::Sporadic,
        ServerKind::HybridImmediate,
        ServerKind::HybridGradual,
        ServerKind::Polling,
    ];
    for kind in kinds {
        let assessment = assessed(&table_6_1(kind));
        assert_eq!(assessment.answer, CpuAnswer::Proven, "{kind}");
        assert_eq!(assessment.tasks[1].bound, bounded(99));
        assert_eq!(assessment.tasks[0].bound, bounded(10));
        assert_eq!(assessment.servers[0].bound, bounded(30));
    }
}

/// With POSIX, SpSL and work without a server, task 3 takes up to 117 (figure 6.2), and nothing
/// below the server is guaranteed.
#[test]
fn nothing_is_said_below_posix_spsl_and_work_without_a_server() {
    let server = || "task-2".to_owned();
    let unbounded = |kind| (kind, Objection::ServerUnbounded { server: server(), kind });
    for (kind, reason) in [
        unbounded(ServerKind::PosixSporadic),
        unbounded(ServerKind::PosixSporadicStrict),
        unbounded(ServerKind::Spsl),
        (ServerKind::FixedPriority, Objection::NoBudget { server: server() }),
    ] {
        let assessment = assessed(&table_6_1(kind));
        assert_eq!(assessment.answer, CpuAnswer::NotApplicable { reason: reason.clone() });
        assert_eq!(assessment.tasks[1].bound, CpuBound::NotApplicable(reason));
        assert_eq!(assessment.tasks[0].bound, bounded(10), "above it all is well");
    }
}

/// The bound contains one enforcement delay (`timer_latency`), and only once: 99 + 1 is within the
/// deadline of 100, 99 + 2 is not.
#[test]
fn an_overrun_counts_once() {
    let mut workload = table_6_1(ServerKind::Sporadic);
    workload.timer_latency = NS(1);
    let assessment = assessed(&workload);
    assert_eq!(
        (assessment.answer, assessment.tasks[1].response_max()),
        (CpuAnswer::Proven, Some(NS(100)))
    );
    workload.timer_latency = NS(2);
    let assessment = assessed(&workload);
    // The longer window also reaches the third period of the server.
    assert_eq!(assessment.tasks[1].bound, bounded(99 + 2 + 20));
    assert_eq!(assessment.answer, CpuAnswer::NotProven);
}

/// A deferrable server can use two budgets back to back: 10 + 3 * 20 + 49.
#[test]
fn deferrable_servers_hit_back_to_back() {
    let mut workload = table_6_1(ServerKind::Deferrable);
    assert_eq!(assessed(&workload).tasks[1].bound, bounded(119));
    workload.switch = NS(1);
    let assessment = assessed(&workload);
    let reason = Objection::SwitchesUnbounded { server: "task-2".to_owned(), switch: NS(1) };
    assert_eq!(assessment.tasks[1].bound, CpuBound::NotApplicable(reason));
}

/// A server whose background priority is a task's priority can delay the task without limit.
#[test]
fn background_at_a_tasks_priority_is_no_proof() {
    let mut workload = table_6_1(ServerKind::Sporadic);
    workload.servers[0].background = Background::At(Priority(0));
    assert_eq!(assessed(&workload).answer, CpuAnswer::Proven);
    workload.servers[0].background = Background::At(Priority(1));
    let reason = Objection::Background { server: "task-2".to_owned() };
    assert_eq!(assessed(&workload).answer, CpuAnswer::NotApplicable { reason });
}

/// With a switch of 1 and two replenishments, task 1 costs others 12 and itself 11. The server
/// costs 20 + 3 * 2, or 20 + 3 * 1 if preemptions charge 2 to its budget.
#[test]
fn switches_are_charged_by_activation() {
    let mut workload = table_6_1(ServerKind::Sporadic);
    workload.switch = NS(1);
    workload.servers[0].params.replenishments_max = 2;
    let bounds = |workload: &CpuWorkload| {
        let assessment = assessed(workload);
        let rows: Vec<&CpuThreadAssessment> =
            assessment.tasks.iter().chain(&assessment.servers).collect();
        rows.iter().map(|row| row.response_max().unwrap().ns()).collect::<Vec<_>>()
    };
    // Task 3: 50 + 12 + 3 * 26 = 140, for ceil(140 / 50) = 3 budgets.
    assert_eq!(bounds(&workload), [11, 50 + 12 + 3 * 26, 26 + 12]);
    workload.servers[0].params.preemption_charge = NS(2);
    // 50 + 12 + 3 * 23 = 131.
    assert_eq!(bounds(&workload), [11, 50 + 12 + 3 * 23, 23 + 12]);
}

fn with_work(kind: ServerKind, execution: u64, gap: u64) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.servers.push(CpuServer::new(
        "server",
        Priority(1),
        ServerParams::new(kind, NS(2), NS(10)),
    ));
    workload.tasks.push(CpuTask::new("above", NS(3), NS(40), Priority(2)));
    workload.work.push(CpuWork {
        deadline: Some(NS(100)),
        ..CpuWork::new(
            "jobs",
            0,
            Arrivals::Sporadic { gap_min: NS(gap) },
            Execution::Fixed(NS(execution)),
        )
    });
    workload
}

/// The server has two units in every ten. A job of 3 finds the budget used up, gets two units after
/// one period and the last unit after another, and the task above can delay it: 2 * 10 + 1 + 3.
#[test]
fn work_waits_for_two_budgets() {
    let bound = |workload: &CpuWorkload| assessed(workload).work[0].bound.clone();
    assert_eq!(bound(&with_work(ServerKind::Sporadic, 3, 60)), bounded(24));
    assert_eq!(bound(&with_work(ServerKind::Polling, 3, 60)), bounded(24));
    assert_eq!(bound(&with_work(ServerKind::Deferrable, 3, 60)), bounded(24));
    // A lock held by a less urgent thread can delay the job once.
    let mut blocked = with_work(ServerKind::Sporadic, 3, 60);
    blocked.servers[0].blocking = NS(2);
    assert_eq!(bound(&blocked), bounded(26));
    // Coalescing can postpone all replenishments by one period, once.
    assert_eq!(bound(&with_work(ServerKind::HybridImmediate, 3, 60)), bounded(34));
    // A job of 2 in every 15: the previous job arrived 15 before and completes within 10 + 2 + 3.
    assert_eq!(bound(&with_work(ServerKind::Sporadic, 2, 15)), bounded(15));
    // A job of 2 in every 11 may still find the previous one: 2 * 10 + 2 + 3 - 11 is less than 15.
    assert_eq!(bound(&with_work(ServerKind::Sporadic, 2, 11)), bounded(15));
    // A job of 3 in every 16: 2 * 10 + 1 + 3 alone; behind the previous one 3 * 10 + 2 + 3 - 16.
    assert_eq!(bound(&with_work(ServerKind::Sporadic, 3, 16)), bounded(24));
    // A job of 3 in every 15 needs all of the server's budget: a backlog may never end.
    assert_eq!(bound(&with_work(ServerKind::Sporadic, 3, 15)), CpuBound::NoBound);
}

#[test]
fn work_without_bounds_is_said_to_have_none() {
    let mut workload = with_work(ServerKind::Sporadic, 3, 60);
    workload.work[0].arrivals = Arrivals::Poisson { gap_mean: NS(60) };
    let reason = Objection::ArrivalsUnbounded { work: "jobs".to_owned() };
    assert_eq!(assessed(&workload).answer, CpuAnswer::NotApplicable { reason });
    // Work without a deadline cannot miss one.
    workload.work[0].deadline = None;
    assert_eq!(assessed(&workload).answer, CpuAnswer::Proven);

    let mut workload = with_work(ServerKind::Sporadic, 3, 60);
    workload.work[0].execution = Execution::Exponential { mean: NS(1) };
    let reason = Objection::ExecutionUnbounded { work: "jobs".to_owned() };
    assert_eq!(assessed(&workload).work[0].bound, CpuBound::NotApplicable(reason));

    let mut workload = with_work(ServerKind::Sporadic, 2, 15);
    workload.servers[0].queued_max = 1;
    let reason = Objection::QueueTooShort { server: "server".to_owned(), queued_max: 1 };
    assert_eq!(assessed(&workload).work[0].bound, CpuBound::NotApplicable(reason));

    let mut workload = with_work(ServerKind::Sporadic, 3, 60);
    workload.tasks[0].execution = NS(9);
    let reason = Objection::ServerLate { server: "server".to_owned() };
    assert_eq!(assessed(&workload).work[0].bound, CpuBound::NotApplicable(reason));
}

/// The bound for a list of instants uses its largest burst and its least gap.
#[test]
fn listed_arrivals_are_bounded() {
    let mut workload = with_work(ServerKind::Sporadic, 1, 60);
    workload.work[0].arrivals = Arrivals::At([0, 60, 60, 130].map(NS).to_vec());
    // Two jobs arrive at the same time: 10 + 2 + 3.
    assert_eq!(assessed(&workload).work[0].bound, bounded(15));
}

/// Under EDF a server's deadline is its period, so a job of 3 takes 2 * 10 + 10.
#[test]
fn under_edf_a_server_is_a_task() {
    let mut workload = with_work(ServerKind::Sporadic, 3, 60);
    workload.scheduling = Scheduling::Edf;
    let assessment = assessed(&workload);
    assert_eq!(assessment.answer, CpuAnswer::Proven);
    assert_eq!(assessment.work[0].bound, bounded(30));
    workload.tasks[0].execution = NS(33);
    assert_eq!(assessed(&workload).answer, CpuAnswer::NotProven);
    workload.servers[0].params.kind = ServerKind::Deferrable;
    let reason = Objection::EdfServer { kind: ServerKind::Deferrable };
    assert_eq!(assessed(&workload).answer, CpuAnswer::NotApplicable { reason });
}

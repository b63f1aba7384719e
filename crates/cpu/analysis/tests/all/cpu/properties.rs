// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that a larger parameter never makes a bound smaller.

use tidegate_cpu_analysis::{CpuAnswer, CpuAssessment, CpuBound, Load, assess};
use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_model::{Duration, Random};

use super::generate;

const NS: fn(u64) -> Duration = Duration::from_ns;

/// Draws tasks, a server, and its work, with every parameter in use.
fn workload(random: &mut Random) -> CpuWorkload {
    let tasks = generate::tasks(random);
    let mut workload = generate::workload(&tasks, Scheduling::FixedPriority);
    for task in &mut workload.tasks {
        for time in [&mut task.execution, &mut task.period, &mut task.deadline] {
            *time = *time * 1_000;
        }
        task.execution = NS(task.execution.ns() / 3);
        task.jitter = NS(random.below(2) * random.below(1_000));
        task.blocking = NS(random.below(2) * random.below(500));
    }
    let budget = 500 + random.below(2_000);
    let period = 4 * budget + random.below(9_000);
    let mut params = ServerParams::new(ServerKind::Sporadic, NS(budget), NS(period));
    params.replenishments_max = 1 + u32::try_from(random.below(5)).unwrap();
    params.preemption_charge = NS(random.below(20));
    let priority = Priority(u32::try_from(random.below(5)).unwrap());
    workload.servers.push(CpuServer::new("server", priority, params));
    workload.work.push(CpuWork {
        deadline: Some(NS(200_000)),
        ..CpuWork::new(
            "work",
            0,
            Arrivals::Sporadic { gap_min: NS(2_000 + random.below(30_000)) },
            Execution::Fixed(NS(100 + random.below(900))),
        )
    });
    workload.switch = NS(random.below(20));
    workload.timer_latency = NS(random.below(2) * random.below(30));
    workload
}

/// Returns all bounds; a missing bound counts as the largest number.
fn bounds(assessment: &CpuAssessment) -> Vec<u64> {
    let rows = assessment.tasks.iter().chain(&assessment.work);
    rows.map(|row| row.response_max().map_or(u64::MAX, Duration::ns)).collect()
}

/// Chooses a task at random.
fn a_task<'a>(workload: &'a mut CpuWorkload, random: &mut Random) -> &'a mut CpuTask {
    let index = random.index(workload.tasks.len());
    &mut workload.tasks[index]
}

/// Makes one parameter worse.
fn worsen(workload: &mut CpuWorkload, which: u64, random: &mut Random) {
    let more = NS(1 + random.below(400));
    match which {
        0 => a_task(workload, random).execution += more,
        1 => {
            let task = a_task(workload, random);
            let period = task.period.ns() - random.below(task.period.ns() / 3);
            task.period = NS(period);
        }
        2 => a_task(workload, random).jitter += more,
        3 => a_task(workload, random).blocking += more,
        10 => workload.servers[0].blocking += more,
        4 => workload.switch += NS(1 + random.below(20)),
        5 => workload.timer_latency += NS(1 + random.below(20)),
        6 => {
            let Execution::Fixed(execution) = &mut workload.work[0].execution else { return };
            *execution += more;
        }
        7 => {
            let Arrivals::Sporadic { gap_min } = &mut workload.work[0].arrivals else { return };
            *gap_min = NS(gap_min.ns() - random.below(gap_min.ns() / 2));
        }
        8 => workload.servers[0].params.preemption_charge += NS(1 + random.below(20)),
        _ => {
            let task = CpuTask::new("one more", NS(1 + random.below(500)), NS(20_000), Priority(9));
            workload.tasks.push(task);
        }
    }
}

/// A charge pays for switches: it delays the server's work, and helps the threads below the server.
/// If switches cost nothing, a charge helps no thread.
#[test]
fn more_of_anything_never_lowers_a_bound() {
    let mut random = Random::new(10, 1);
    let mut changed = [0; 11];
    for round in 0..20_000 {
        let which = round % 11;
        let mut before = workload(&mut random);
        if which == 8 {
            before.switch = Duration::ZERO;
        }
        let mut after = before.clone();
        worsen(&mut after, which, &mut random);
        let (old, new) = (bounds(&assess(&before, &[])), bounds(&assess(&after, &[])));
        let tasks = before.tasks.len();
        let new: Vec<u64> = new[..tasks].iter().chain(&new[new.len() - 1..]).copied().collect();
        for (index, (old, new)) in old.iter().zip(&new).enumerate() {
            assert!(new >= old, "{which} {index} {old} {new}\n{before:?}");
        }
        changed[usize::try_from(which).unwrap()] += u32::from(old != new);
    }
    assert!(changed.iter().all(|changed| *changed > 50), "{changed:?}");
}

/// Even with jitter, blocking, servers and switches, the exact analysis accepts every set that a
/// load test accepts, and the refined test accepts every set that the other load tests accept.
#[test]
fn tests_of_loads_are_nested() {
    let mut random = Random::new(13, 1);
    let mut met = [0; 3];
    for _ in 0..5_000 {
        let workload = workload(&mut random);
        for (task, row) in workload.tasks.iter().zip(&assess(&workload, &[]).tasks) {
            let is_met = row.loads.map(|load| load.is_some_and(Load::is_met));
            assert!(is_met[1] || !(is_met[0] || is_met[2]), "{task:?} {row:?}\n{workload:?}");
            assert!(row.is_deadline_met() || !is_met[1], "{task:?} {row:?}\n{workload:?}");
            for (met, is_met) in met.iter_mut().zip(is_met) {
                *met += u32::from(is_met);
            }
            for load in row.loads.into_iter().flatten() {
                assert_eq!(load.ppm().is_some_and(|ppm| ppm <= 1_000_000), load.is_met());
            }
        }
    }
    let [ceil, refined, hyperbolic] = met;
    assert!(refined > ceil && ceil > hyperbolic && hyperbolic > 1_000, "{met:?}");
}

/// The assessment of a task does not depend on less urgent threads: here a server is replaced with
/// a task that needs half of the processor.
#[test]
fn less_urgent_threads_cost_nothing() {
    let mut random = Random::new(11, 1);
    for _ in 0..500 {
        let mut workload = workload(&mut random);
        workload.servers[0].priority = Priority(0);
        let before = assess(&workload, &[]);
        workload.servers.clear();
        workload.work.clear();
        workload.tasks.push(CpuTask::new("idle", NS(1), NS(2), Priority(0)));
        let after = assess(&workload, &[]);
        assert_eq!(before.tasks[..], after.tasks[..before.tasks.len()]);
    }
}

/// Numbers at the end of the range give no bound and no panic.
#[test]
fn overflow_is_no_bound() {
    for scheduling in Scheduling::ALL {
        let mut workload = CpuWorkload::new(scheduling);
        let long = Duration::MAX;
        for name in ["a", "b", "c"] {
            workload.tasks.push(CpuTask {
                jitter: long,
                blocking: long,
                ..CpuTask::new(name, NS(long.ns() / 2), long, Priority(1))
            });
        }
        workload.switch = NS(1);
        let assessment = assess(&workload, &[]);
        assert_eq!(assessment.answer, CpuAnswer::NotProven);
        assert!(assessment.tasks.iter().all(|row| row.bound == CpuBound::NoBound));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the bounds of random processors with simulated responses.

use tidegate_cpu_analysis::assess;
use tidegate_cpu_model::{
    Arrivals, Background, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority,
    Scheduling, ServerKind, ServerParams,
};
use tidegate_cpu_sim::{CpuParams, simulate};
use tidegate_model::{Duration, Random};

use crate::compare;
use crate::generate::{Costs, workload};

const KINDS: [ServerKind; 5] = [
    ServerKind::Polling,
    ServerKind::Deferrable,
    ServerKind::Sporadic,
    ServerKind::HybridImmediate,
    ServerKind::HybridGradual,
];

/// The counts of the comparisons that were made.
#[derive(Debug, Default)]
struct Compared {
    tasks: u32,
    tight_tasks: u32,
    work: u32,
    /// The response of work that was closest to its bound, in percent of the bound.
    closest_work: u64,
}

/// Describes the first response that is beyond its bound.
fn first_broken(workload: &CpuWorkload, seed: u64, compared: &mut Compared) -> Option<String> {
    let assessment = assess(workload, &[]);
    let params = CpuParams::new(workload, Duration::from_ns(6_000), seed);
    let run = simulate(&params, &mut ());
    let of_tasks = compare::first_broken(&assessment.tasks, &run.tasks, |_, bound, longest| {
        compared.tasks += 1;
        compared.tight_tasks += u32::from(longest == bound);
    });
    let of_work = || {
        compare::first_broken(&assessment.work, &run.work, |_, bound, longest| {
            compared.work += 1;
            compared.closest_work = compared.closest_work.max(longest.ns() * 100 / bound.ns());
        })
    };
    of_tasks.or_else(of_work)
}

fn compare_all(stream: u64, costs: Costs) -> Compared {
    let mut random = Random::new(12, stream);
    let mut compared = Compared::default();
    for seed in 0..WORKLOADS {
        let workload = workload(&mut random, &KINDS, costs);
        let broken = first_broken(&workload, seed, &mut compared);
        assert_eq!(broken, None, "seed {seed}, {workload:#?}");
    }
    println!("{costs:?}: {compared:?}");
    compared
}

/// The number of random processors that each test tries.
const WORKLOADS: u64 = 3_000;

#[test]
fn bounds_hold_where_nothing_is_late() {
    let compared = compare_all(1, Costs::None);
    assert!(compared.tight_tasks > 500, "{compared:?}");
    assert!(compared.work > 1_000 && compared.closest_work >= 95, "{compared:?}");
}

#[test]
fn bounds_hold_with_overruns() {
    let compared = compare_all(2, Costs::Overrun);
    assert!(compared.work > 1_000, "{compared:?}");
}

#[test]
fn bounds_hold_with_switches_and_charges() {
    let compared = compare_all(3, Costs::All);
    assert!(compared.work > 300, "{compared:?}");
}

/// Draws a server whose budget is 30 to 89 % of its period, with small jobs about as far apart as
/// the rest of the period and a long job after them. A task of lower priority is released at about
/// the time of the first job.
fn often_active(random: &mut Random) -> CpuWorkload {
    let ns = Duration::from_ns;
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    (workload.switch, workload.timer_latency) = (ns(1 + random.below(3)), ns(random.below(3)));
    let kinds = [ServerKind::Sporadic, ServerKind::HybridImmediate, ServerKind::HybridGradual];
    let budget = 30 + random.below(60);
    let params = ServerParams {
        replenishments_max: u32::try_from(1 + random.below(4)).unwrap(),
        preemption_charge: ns(random.below(2 * workload.switch.ns() + 2)),
        ..ServerParams::new(kinds[random.index(3)], ns(budget), ns(100))
    };
    workload.servers.push(CpuServer::new("often", Priority(2), params));
    let (count, gap) = (1 + random.below(12), 100 - budget + random.below(6) - 3);
    let mut at: Vec<u64> = (0..count).map(|job| job * gap + random.below(2)).collect();
    at.sort_unstable();
    let execution = 1 + random.below(3);
    let long = at[at.len() - 1] + random.below(gap + 1);
    for (name, at, execution) in [("small", at, execution), ("long", vec![long], 2 * budget)] {
        workload.work.push(CpuWork::new(
            name,
            0,
            Arrivals::At(at.into_iter().map(ns).collect()),
            Execution::Fixed(ns(execution)),
        ));
    }
    let below = CpuTask::new("below", ns(1 + random.below(150)), ns(4_000), Priority(1));
    workload.tasks.push(CpuTask { offset: ns(random.below(8)), ..below });
    workload
}

/// Goal: threads of lower priority are delayed by no more than the bound even if a server is active
/// more often in a period than it has chunks. This happens because chunks that merge when the
/// server unblocks leave room for others.
#[test]
fn bounds_hold_where_a_server_is_active_more_often_than_it_has_chunks() {
    let mut random = Random::new(12, 6);
    let (mut compared, mut often) = (Compared::default(), 0);
    for seed in 0..4 * WORKLOADS {
        let workload = often_active(&mut random);
        let broken = first_broken(&workload, seed, &mut compared);
        assert_eq!(broken, None, "seed {seed}, {workload:#?}");
        let period = CpuParams::new(&workload, Duration::from_ns(100), seed);
        let active = simulate(&period, &mut ()).servers[0].preemptions;
        often += u32::from(active > u64::from(workload.servers[0].params.replenishments_max) + 1);
    }
    println!("{compared:?}, often {often}");
    assert!(compared.tasks > 2_000 && often > 200, "{compared:?} {often}");
}

/// Returns the workload under EDF, with each deadline drawn between a task's execution time and its
/// period.
fn under_edf(mut workload: CpuWorkload, random: &mut Random) -> CpuWorkload {
    workload.scheduling = Scheduling::Edf;
    for server in &mut workload.servers {
        server.background = Background::Never;
    }
    for task in &mut workload.tasks {
        let (execution, period) = (task.execution.ns(), task.period.ns());
        task.deadline =
            Duration::from_ns(period - random.below(2) * random.below(period - execution));
    }
    workload
}

/// Goal: the bounds are correct under EDF, where a server is a task with its period as its
/// deadline.
#[test]
fn bounds_hold_under_edf() {
    let mut random = Random::new(12, 4);
    let kinds = KINDS.map(|kind| match kind {
        // Deferrable servers have no analysis under EDF.
        ServerKind::Deferrable => ServerKind::Sporadic,
        kind => kind,
    });
    for costs in [Costs::None, Costs::Overrun, Costs::All] {
        let mut compared = Compared::default();
        for seed in 0..WORKLOADS / 2 {
            let workload = workload(&mut random, &kinds, costs);
            let workload = under_edf(workload, &mut random);
            let broken = first_broken(&workload, seed, &mut compared);
            assert_eq!(broken, None, "seed {seed}, {workload:#?}");
        }
        println!("edf, {costs:?}: {compared:?}");
        assert!(compared.tasks > 1_000 && compared.work > 500, "{compared:?}");
    }
}

/// Canary: the POSIX server breaks the bounds of the corrected one.
#[test]
fn posix_servers_break_promises() {
    let mut random = Random::new(12, 5);
    let (mut broken, mut promised_all_the_same) = (0, 0);
    for seed in 0..2_000 {
        let promised = workload(&mut random, &[ServerKind::Sporadic], Costs::Overrun);
        let assessment = assess(&promised, &[]);
        let mut kept = promised.clone();
        for server in &mut kept.servers {
            server.params = ServerParams { kind: ServerKind::PosixSporadic, ..server.params };
        }
        let params = CpuParams::new(&kept, Duration::from_ns(6_000), seed);
        let run = simulate(&params, &mut ());
        broken += u32::from(compare::is_broken(&assessment.tasks, &run.tasks));
        // The bounds of threads above such servers are still correct.
        let honest = assess(&kept, &[]);
        promised_all_the_same +=
            honest.tasks.iter().filter(|row| row.response_max().is_some()).count();
        assert!(!compare::is_broken(&honest.tasks, &run.tasks), "{kept:#?}");
    }
    println!("broken by POSIX: {broken}");
    assert!(broken > 10 && promised_all_the_same > 500, "{broken} {promised_all_the_same}");
}

/// Canary: a bound with one period less for the work behind a server is too small.
#[test]
fn a_supply_without_its_first_wait_is_caught() {
    let mut random = Random::new(12, 6);
    let mut caught = 0;
    for seed in 0..1_500 {
        let workload = workload(&mut random, &[ServerKind::Sporadic], Costs::None);
        let assessment = assess(&workload, &[]);
        let params = CpuParams::new(&workload, Duration::from_ns(6_000), seed);
        let run = simulate(&params, &mut ());
        let works = workload.work.iter().zip(&assessment.work).zip(&run.work);
        for ((work, row), metrics) in works {
            let period = workload.servers[work.server].params.period;
            let optimistic = row.response_max().and_then(|bound| bound.checked_sub(period));
            let longest = metrics.responses.max();
            caught +=
                u32::from(optimistic.zip(longest).is_some_and(|(bound, longest)| longest > bound));
        }
    }
    assert!(caught > 10, "{caught}");
}

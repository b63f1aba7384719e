// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds against what happens.

use analysis::cpu::{CpuThreadAssessment, assess};
use model::cpu::{Background, CpuWorkload, Scheduling, ServerKind, ServerParams};
use model::{Duration, Random};
use sim::cpu::{CpuParams, JobMetrics, simulate};

use crate::generate::{Costs, workload};

const KINDS: [ServerKind; 5] = [
    ServerKind::Polling,
    ServerKind::Deferrable,
    ServerKind::Sporadic,
    ServerKind::HybridImmediate,
    ServerKind::HybridGradual,
];

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    tasks: u32,
    tight_tasks: u32,
    work: u32,
    /// The response of work that came closest to its bound, in hundredths of it.
    closest_work: u64,
}

/// Bound and longest response, where there are both.
fn pair(row: &CpuThreadAssessment, metrics: &JobMetrics) -> Option<(Duration, Duration)> {
    row.response_max().zip(metrics.responses.max())
}

/// The first response beyond its bound, in words.
fn first_broken(workload: &CpuWorkload, seed: u64, compared: &mut Compared) -> Option<String> {
    let assessment = assess(workload, &[]);
    let params = CpuParams::new(workload, Duration::from_ns(6_000), seed);
    let run = simulate(&params, &mut ());
    for (index, (row, metrics)) in assessment.tasks.iter().zip(&run.tasks).enumerate() {
        let Some((bound, longest)) = pair(row, metrics) else { continue };
        compared.tasks += 1;
        compared.tight_tasks += u32::from(longest == bound);
        if longest > bound {
            return Some(format!("task {index}: {longest} > {bound}"));
        }
    }
    for (index, (row, metrics)) in assessment.work.iter().zip(&run.work).enumerate() {
        let Some((bound, longest)) = pair(row, metrics) else { continue };
        compared.work += 1;
        compared.closest_work = compared.closest_work.max(longest.ns() * 100 / bound.ns());
        if longest > bound {
            return Some(format!("work {index}: {longest} > {bound}"));
        }
    }
    None
}

fn compare(stream: u64, workloads: u64, costs: Costs) -> Compared {
    let mut random = Random::new(12, stream);
    let mut compared = Compared::default();
    for seed in 0..workloads {
        let workload = workload(&mut random, &KINDS, costs);
        let broken = first_broken(&workload, seed, &mut compared);
        assert_eq!(broken, None, "seed {seed}, {workload:#?}");
    }
    println!("{costs:?}: {compared:?}");
    compared
}

/// How many random processors each test tries.
const WORKLOADS: u64 = 3_000;

#[test]
fn bounds_hold_where_nothing_is_late() {
    let compared = compare(1, WORKLOADS, Costs::None);
    assert!(compared.tight_tasks > 500, "{compared:?}");
    assert!(compared.work > 1_000 && compared.closest_work >= 95, "{compared:?}");
}

#[test]
fn bounds_hold_with_overruns() {
    let compared = compare(2, WORKLOADS, Costs::Overrun);
    assert!(compared.work > 1_000, "{compared:?}");
}

#[test]
fn bounds_hold_with_switches_and_charges() {
    let compared = compare(3, WORKLOADS, Costs::All);
    assert!(compared.work > 300, "{compared:?}");
}

/// The workload under EDF, with deadlines drawn from what a task executes to its period.
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

/// Under EDF servers are tasks with their periods as deadlines.
#[test]
fn bounds_hold_under_edf() {
    let mut random = Random::new(12, 4);
    let kinds = KINDS.map(|kind| match kind {
        // There is no analysis of it.
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

/// Canary: the POSIX server under the promises of the corrected one breaks them.
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
        let is_broken = |(row, metrics): (&CpuThreadAssessment, &JobMetrics)| {
            pair(row, metrics).is_some_and(|(bound, longest)| longest > bound)
        };
        broken += u32::from(assessment.tasks.iter().zip(&run.tasks).any(is_broken));
        // What is promised all the same, above such servers, holds.
        let honest = assess(&kept, &[]);
        promised_all_the_same +=
            honest.tasks.iter().filter(|row| row.response_max().is_some()).count();
        assert!(!honest.tasks.iter().zip(&run.tasks).any(is_broken), "{kept:#?}");
    }
    println!("broken by POSIX: {broken}");
    assert!(broken > 10 && promised_all_the_same > 500, "{broken} {promised_all_the_same}");
}

/// Canary: one period less for the work behind a server is too little.
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

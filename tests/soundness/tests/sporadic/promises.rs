// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds against what happens.

use analysis::cpu::{CpuAnswer, CpuThreadAssessment, assess};
use model::cpu::{CpuWorkload, Scheduling, ServerKind, ServerParams};
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
    tight_work: u32,
}

/// A response beyond its bound, in words.
fn broken(
    what: &str,
    row: &CpuThreadAssessment,
    metrics: &JobMetrics,
    compared: (&mut u32, &mut u32),
) -> Option<String> {
    let (bound, seen) = (row.response_max()?, metrics.responses.max()?);
    *compared.0 += 1;
    *compared.1 += u32::from(seen == bound);
    (seen > bound).then(|| format!("{what}: {seen} > {bound}"))
}

fn first_broken(workload: &CpuWorkload, seed: u64, compared: &mut Compared) -> Option<String> {
    let assessment = assess(workload, &[]);
    let params = CpuParams { workload, duration: Duration::from_ns(6_000), seed };
    let run = simulate(&params, &mut ());
    let tasks = assessment.tasks.iter().zip(&run.tasks);
    for (index, (row, metrics)) in tasks.enumerate() {
        let counts = (&mut compared.tasks, &mut compared.tight_tasks);
        if let Some(broken) = broken(&format!("task {index}"), row, metrics, counts) {
            return Some(broken);
        }
    }
    let work = assessment.work.iter().zip(&run.work);
    for (index, (row, metrics)) in work.enumerate() {
        let counts = (&mut compared.work, &mut compared.tight_work);
        if let Some(broken) = broken(&format!("work {index}"), row, metrics, counts) {
            return Some(broken);
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
    assert!(compared.work > 1_000, "{compared:?}");
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

/// Under EDF servers are tasks with their periods as deadlines.
#[test]
fn bounds_hold_under_edf() {
    let mut random = Random::new(12, 4);
    let kinds = [ServerKind::Polling, ServerKind::Sporadic, ServerKind::HybridImmediate];
    let mut compared = Compared::default();
    for seed in 0..WORKLOADS {
        let mut workload = workload(&mut random, &kinds, Costs::Overrun);
        workload.scheduling = Scheduling::Edf;
        let broken = first_broken(&workload, seed, &mut compared);
        assert_eq!(broken, None, "seed {seed}, {workload:#?}");
    }
    println!("edf: {compared:?}");
    assert!(compared.tasks > 1_000 && compared.work > 500, "{compared:?}");
}

/// Canary: the POSIX server under the promises of the corrected one breaks them.
#[test]
fn posix_servers_break_promises() {
    let mut random = Random::new(12, 5);
    let mut broken = 0;
    for seed in 0..2_000 {
        let promised = workload(&mut random, &[ServerKind::Sporadic], Costs::Overrun);
        let assessment = assess(&promised, &[]);
        let mut kept = promised.clone();
        for server in &mut kept.servers {
            server.params = ServerParams { kind: ServerKind::PosixSporadic, ..server.params };
        }
        let params = CpuParams { workload: &kept, duration: Duration::from_ns(6_000), seed };
        let run = simulate(&params, &mut ());
        let is_broken = |(row, metrics): (&CpuThreadAssessment, &JobMetrics)| {
            row.response_max()
                .zip(metrics.responses.max())
                .is_some_and(|(bound, seen)| seen > bound)
        };
        broken += u32::from(assessment.tasks.iter().zip(&run.tasks).any(is_broken));
        // Of the POSIX server itself nothing is promised to those below.
        if assess(&kept, &[]).answer == CpuAnswer::Proven {
            assert!(!assessment.tasks.iter().zip(&run.tasks).any(is_broken), "{kept:#?}");
        }
    }
    println!("broken by POSIX: {broken}");
    assert!(broken > 10, "{broken}");
}

/// Canary: one period less for the work behind a server is too little.
#[test]
fn a_supply_without_its_first_wait_is_caught() {
    let mut random = Random::new(12, 6);
    let mut caught = 0;
    for seed in 0..1_500 {
        let workload = workload(&mut random, &[ServerKind::Sporadic], Costs::None);
        let assessment = assess(&workload, &[]);
        let params = CpuParams { workload: &workload, duration: Duration::from_ns(6_000), seed };
        let run = simulate(&params, &mut ());
        let works = workload.work.iter().zip(&assessment.work).zip(&run.work);
        for ((work, row), metrics) in works {
            let period = workload.servers[work.server].params.period;
            let optimistic = row.response_max().and_then(|bound| bound.checked_sub(period));
            let seen = metrics.responses.max();
            caught += u32::from(optimistic.zip(seen).is_some_and(|(bound, seen)| seen > bound));
        }
    }
    assert!(caught > 10, "{caught}");
}

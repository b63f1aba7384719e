// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests every pattern of arrivals on small processors, to find errors that a random search can
//! miss.
//!
//! Jobs of one size can arrive at each of eleven ticks. A more urgent task arrives at one of them
//! or never, and a less urgent task is ready from the start. A tick is a microsecond.

use tidegate_cpu_conformance::{Case, Invariant, check};
use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_model::Duration;

/// The number of ticks at which a job can arrive.
const ARRIVALS: u32 = 11;

/// The duration of a case in ticks, long enough to complete all work.
const DURATION: u64 = 90;

const fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// The parameters of a small processor with one server.
#[derive(Debug, Clone, Copy)]
struct Small {
    budget: u64,
    replenishments_max: u32,
    overrun: u64,
    job: u64,
    /// The tick at which the more urgent task arrives; `None` for never.
    above_at: Option<u64>,
}

fn smalls() -> Vec<Small> {
    let mut smalls = Vec::new();
    for budget in [2, 3] {
        for replenishments_max in [1, 2, 20] {
            for overrun in [0, 1] {
                for job in [1, 2] {
                    for above_at in [None, Some(1), Some(3), Some(6)] {
                        let small = Small { budget, replenishments_max, overrun, job, above_at };
                        smalls.push(small);
                    }
                }
            }
        }
    }
    smalls
}

fn case(small: &Small, pattern: u32) -> Case {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.timer_latency = us(small.overrun);
    let params = ServerParams {
        replenishments_max: small.replenishments_max,
        ..ServerParams::new(ServerKind::Sporadic, us(small.budget), us(6))
    };
    workload.servers.push(CpuServer::new("server", Priority(2), params));
    let is_set = |tick: &u64| pattern & (1 << tick) != 0;
    let at = (0..u64::from(ARRIVALS)).filter(is_set).map(us).collect();
    workload.work.push(CpuWork::new("jobs", 0, Arrivals::At(at), Execution::Fixed(us(small.job))));
    if let Some(at) = small.above_at {
        let above = CpuTask::new("above", us(3), us(100), Priority(3));
        workload.tasks.push(CpuTask { offset: us(at), ..above });
    }
    workload.tasks.push(CpuTask::new("below", us(5), us(100), Priority(1)));
    Case { workload, duration: us(DURATION), seed: 0 }
}

/// Returns for each invariant the number of patterns that violated it, and the number of runs.
fn failures(kind: ServerKind) -> ([u32; Invariant::COUNT], u32) {
    let (mut failures, mut runs) = ([0; Invariant::COUNT], 0);
    for small in smalls() {
        for pattern in 0..1 << ARRIVALS {
            let case = case(&small, pattern);
            let server = tidegate_cpu_servers::build(&ServerParams { kind, ..*case.params() });
            let outcome = check(&case, server, false);
            runs += 1;
            for invariant in Invariant::ALL {
                failures[invariant as usize] += u32::from(!outcome.holds(invariant));
            }
            if kind.is_like_a_periodic_task() {
                let first = outcome.violations().next();
                assert!(first.is_none(), "{kind} {small:?} {pattern:b}: {}", first.unwrap());
            }
        }
    }
    (failures, runs)
}

#[test]
fn no_pattern_breaks_the_corrected_server() {
    let (_, runs) = failures(ServerKind::Sporadic);
    assert_eq!(runs, 96 << ARRIVALS);
}

#[test]
fn no_pattern_breaks_the_hybrids() {
    for kind in [ServerKind::HybridImmediate, ServerKind::HybridGradual] {
        failures(kind);
    }
}

/// Canary: the search finds the defects of POSIX, and shows that a deferrable server is not a
/// periodic task.
#[test]
fn patterns_break_posix_and_the_deferrable_server() {
    let (posix, _) = failures(ServerKind::PosixSporadic);
    println!("posix-sporadic: {posix:?}");
    assert!([0, 1, 2].iter().all(|&invariant| posix[invariant] > 100), "{posix:?}");
    let (deferrable, _) = failures(ServerKind::Deferrable);
    println!("deferrable: {deferrable:?}");
    assert!(deferrable[1] > 100, "{deferrable:?}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Figures 6.14, 6.17 and 6.18: small jobs, each of which preempts a task, and their cost.
//!
//! Budget 100, period 1000, jobs of 2, 3 charged for a preemption, at most 20 replenishments, and
//! a less urgent task with endless work.

use tidegate_cpu_model::{Arrivals, CpuWork, Execution, ServerKind, ServerParams};
use tidegate_cpu_sim::CpuRun;
use tidegate_model::Duration;

use crate::common::{jobs_at, run, server, task, ticks, with_server};

/// Runs a server at this load, in percent of the processor.
fn under_load(kind: ServerKind, load: u64) -> CpuRun {
    let params = ServerParams { preemption_charge: ticks(3), ..server(kind, 100, 1_000) };
    let mut workload = with_server(params, 2, 0);
    workload.tasks.push(task("hourglass", 1 << 40, 1 << 40, 1));
    workload.work.push(CpuWork {
        arrivals: Arrivals::Poisson { gap_mean: Duration::from_ns(ticks(200).ns() / load) },
        execution: Execution::Fixed(ticks(2)),
        ..jobs_at(&[], 1)
    });
    run(&workload, 1_000_000, 1)
}

/// Returns the mean response in ticks.
fn response(kind: ServerKind, load: u64) -> u64 {
    under_load(kind, load).work[0].responses.mean().expect("jobs complete").ns() / ticks(1).ns()
}

const POLLING: ServerKind = ServerKind::Polling;
const SPORADIC: ServerKind = ServerKind::Sporadic;
const IMMEDIATE: ServerKind = ServerKind::HybridImmediate;
const GRADUAL: ServerKind = ServerKind::HybridGradual;

/// Figure 6.14 at light load: a sporadic server and the hybrids respond at once, a polling server
/// after half a period.
#[test]
fn light_load_is_answered_at_once_by_all_but_polling() {
    for kind in [SPORADIC, IMMEDIATE, GRADUAL] {
        assert!(response(kind, 1) <= 3, "{kind}");
    }
    assert!(response(POLLING, 1) > 450);
}

/// Figure 6.18 at middle load: gradual, immediate, polling, sporadic.
#[test]
fn middle_load_is_where_gradual_coalescing_pays() {
    let means = [GRADUAL, IMMEDIATE, POLLING, SPORADIC].map(|kind| response(kind, 4));
    assert!(means.is_sorted_by(|a, b| a < b), "{means:?}");
    assert!(means[0] * 5 < means[1], "gradual is by far the quickest: {means:?}");
}

/// Figures 6.14 and 6.18 at heavy load: a sporadic server spends its budget on preemptions and
/// never catches up (45 % of packets lost in the dissertation); the hybrids serve all jobs, as
/// quickly as polling.
#[test]
fn heavy_load_is_served_by_all_but_sporadic() {
    let served = |kind| {
        let work = &under_load(kind, 8).work[0];
        work.responses.count() * 100 / (work.responses.count() + work.unfinished)
    };
    assert!((45..60).contains(&served(SPORADIC)), "{}", served(SPORADIC));
    let polling = response(POLLING, 8);
    for kind in [POLLING, IMMEDIATE, GRADUAL] {
        assert_eq!(served(kind), 99, "{kind}");
        assert!(response(kind, 8) < polling * 11 / 10, "{kind}");
    }
    assert!(response(GRADUAL, 8) < polling);
}

/// Figure 6.17: the server's effect on others, preemptions included, never exceeds its budget;
/// beyond middle load immediate coalescing uses less of it than gradual coalescing, which pays
/// for preemptions as long as it can.
#[test]
fn charged_preemptions_keep_utilisation_within_the_budget() {
    let taken = |kind, load| {
        let run = under_load(kind, load);
        let server = &run.servers[0];
        (server.executed + server.charged).ns() / ticks(1_000).ns()
    };
    for kind in [POLLING, SPORADIC, IMMEDIATE, GRADUAL] {
        for load in [1, 4, 6, 8] {
            assert!(taken(kind, load) <= 100, "{kind} at {load} %: {}", taken(kind, load));
        }
    }
    assert!(taken(SPORADIC, 6) >= 99, "all of it");
    assert!(taken(IMMEDIATE, 4) + 10 < taken(GRADUAL, 4), "{}", taken(GRADUAL, 4));
}

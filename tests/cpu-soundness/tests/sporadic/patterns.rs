// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the bounds for sporadic work on small servers with every legal pattern of arrivals.

use tidegate_cpu_analysis::assess;
use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_cpu_sim::{CpuParams, simulate};
use tidegate_model::Duration;

const NS: fn(u64) -> Duration = Duration::from_ns;

/// The number of instants at which a job can arrive, 1 ns apart.
const INSTANTS: u32 = 15;

/// The parameters of a small server, its work, and a task above it.
#[derive(Debug, Clone, Copy)]
struct Small {
    kind: ServerKind,
    budget: u64,
    period: u64,
    replenishments: u32,
    execution: u64,
    gap: u64,
    above: Option<(u64, u64)>,
    overrun: u64,
}

impl Small {
    fn workload(self, arrivals: Arrivals) -> CpuWorkload {
        let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
        workload.timer_latency = NS(self.overrun);
        let mut params = ServerParams::new(self.kind, NS(self.budget), NS(self.period));
        params.replenishments_max = self.replenishments;
        workload.servers.push(CpuServer::new("server", Priority(1), params));
        if let Some((execution, period)) = self.above {
            let task = CpuTask::new("above", NS(execution), NS(period), Priority(2));
            workload.tasks.push(CpuTask { offset: NS(3), ..task });
        }
        workload.work.push(CpuWork::new("work", 0, arrivals, Execution::Fixed(NS(self.execution))));
        workload
    }

    fn promise(self) -> Option<Duration> {
        let workload = self.workload(Arrivals::Sporadic { gap_min: NS(self.gap) });
        assess(&workload, &[]).work[0].response_max()
    }

    /// Returns the longest response over all patterns with at least the gap between jobs, and their
    /// number.
    fn worst(self) -> (Duration, u32) {
        let (mut worst, mut patterns) = (Duration::ZERO, 0);
        for pattern in 1_u32..1 << INSTANTS {
            let at: Vec<u64> =
                (0..INSTANTS).filter(|bit| pattern >> bit & 1 == 1).map(u64::from).collect();
            if at.windows(2).any(|pair| pair[1] - pair[0] < self.gap) {
                continue;
            }
            let workload = self.workload(Arrivals::At(at.into_iter().map(NS).collect()));
            let params = CpuParams::new(&workload, NS(200), 1);
            let run = simulate(&params, &mut ());
            worst = worst.max(run.work[0].responses.max().unwrap_or_default());
            patterns += 1;
        }
        (worst, patterns)
    }
}

fn systems() -> Vec<Small> {
    let kinds = [
        ServerKind::Polling,
        ServerKind::Sporadic,
        ServerKind::HybridImmediate,
        ServerKind::HybridGradual,
    ];
    let mut systems = Vec::new();
    for kind in kinds {
        let many = if kind == ServerKind::Polling { [1, 1, 1] } else { [1, 2, 4] };
        for (budget, period, execution, gap) in [(2, 6, 1, 4), (3, 7, 2, 5), (2, 5, 3, 9)] {
            for replenishments in many {
                for above in [None, Some((1, 8))] {
                    let overrun = u64::from(replenishments) % 2;
                    let small = Small {
                        kind,
                        budget,
                        period,
                        replenishments,
                        execution,
                        gap,
                        above,
                        overrun,
                    };
                    systems.push(small);
                    systems.push(Small { overrun: 0, ..small });
                }
            }
        }
    }
    systems
}

/// Goal: the bound is correct for all arrivals at 15 instants with at least the gap between jobs.
/// Method: exhaustive search.
#[test]
fn no_legal_pattern_exceeds_the_promise() {
    let (mut promised, mut patterns, mut near) = (0, 0, 0);
    for small in systems() {
        let Some(promise) = small.promise() else { continue };
        let (worst, tried) = small.worst();
        assert!(worst <= promise, "{worst} > {promise}: {small:?}");
        promised += 1;
        patterns += tried;
        near += u32::from(worst + NS(2) >= promise);
    }
    println!("{promised} systems, {patterns} patterns, {near} within 2 of the promise");
    assert!(promised > 80 && near > 5, "{promised} {near}");
}

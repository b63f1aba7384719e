// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Generates random processors: tasks, servers, and work that arrives as fast as allowed, with
//! offsets that make arrivals coincide in many ways. Times are dozens to hundreds of ns, because
//! small numbers coincide often.

use tidegate_cpu_model::{
    Arrivals, Background, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority,
    Scheduling, ServerKind, ServerParams, TaskArrivals,
};
use tidegate_model::{Duration, Random};

const NS: fn(u64) -> Duration = Duration::from_ns;

/// The costs of a processor that a test includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Costs {
    /// No costs.
    None,
    /// Only late enforcement of budgets.
    Overrun,
    /// Context switches, preemption charges, and late enforcement.
    All,
}

fn maybe(random: &mut Random, below: u64) -> Duration {
    NS(random.below(2) * random.below(below))
}

fn priority(random: &mut Random) -> Priority {
    Priority(u32::try_from(random.below(5)).expect("a small number"))
}

/// Draws a processor with servers of these kinds.
pub(crate) fn workload(random: &mut Random, kinds: &[ServerKind], costs: Costs) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    if costs != Costs::None {
        workload.timer_latency = NS(random.below(4));
    }
    if costs == Costs::All {
        workload.switch = NS(random.below(3));
    }
    for number in 0..=random.below(3) {
        workload.tasks.push(task(&format!("task-{number}"), random));
    }
    for number in 0..=random.below(2) {
        let kind = kinds[random.index(kinds.len())];
        let server = server(&format!("server-{number}"), kind, costs, random);
        for stream in 0..=random.below(2) {
            let index = workload.servers.len();
            workload.work.push(work(&format!("work-{number}-{stream}"), index, &server, random));
        }
        workload.servers.push(server);
    }
    workload
}

fn task(name: &str, random: &mut Random) -> CpuTask {
    let period = 20 + random.below(200);
    let execution = 1 + random.below(period / 4);
    let arrivals = TaskArrivals::ALL[random.index(2)];
    CpuTask {
        offset: NS(random.below(100)),
        jitter: maybe(random, 40),
        arrivals,
        ..CpuTask::new(name, NS(execution), NS(period), priority(random))
    }
}

fn server(name: &str, kind: ServerKind, costs: Costs, random: &mut Random) -> CpuServer {
    let budget = 2 + random.below(20);
    let period = 2 * budget + random.below(150);
    let mut params = ServerParams::new(kind, NS(budget), NS(period));
    params.replenishments_max = 1 + u32::try_from(random.below(5)).expect("a small number");
    if costs == Costs::All {
        params.preemption_charge = NS(random.below(3).min(budget - 1));
    }
    let mut server = CpuServer::new(name, priority(random), params);
    let background = priority(random);
    if random.below(3) == 0 && background < server.priority {
        server.background = Background::At(background);
    }
    if random.below(4) == 0 {
        server.queued_max = 1 + u32::try_from(random.below(8)).expect("a small number");
    }
    server
}

/// Draws bursts of one size, one to three jobs, and omits some of them. The gaps grow with the
/// bursts.
fn listed(gap: u64, random: &mut Random) -> Arrivals {
    let burst = 1 + random.below(3);
    let mut at = Vec::new();
    for number in 0..6_000 / (gap * burst) {
        if random.below(5) > 0 {
            at.extend((0..burst).map(|_| NS(number * gap * burst)));
        }
    }
    Arrivals::At(at)
}

/// Draws work that takes about half of the server's capacity, in jobs of 1 ns to three times the
/// budget.
fn work(name: &str, index: usize, server: &CpuServer, random: &mut Random) -> CpuWork {
    let budget = server.params.budget.ns();
    let execution = match random.below(3) {
        0 => 1,
        1 => 1 + random.below(budget),
        _ => 1 + random.below(3 * budget),
    };
    let share = server.params.period.ns() * execution / budget;
    let gap = 1 + share + random.below(3 * share + 2);
    let arrivals = match random.below(4) {
        0 => Arrivals::Sporadic { gap_min: NS(gap) },
        1 => listed(gap, random),
        _ => Arrivals::Periodic { period: NS(gap) },
    };
    CpuWork {
        deadline: Some(NS(1_000_000)),
        offset: NS(random.below(200)),
        ..CpuWork::new(name, index, arrivals, Execution::Fixed(NS(execution)))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random processors for the suite: a server of any size under any load, with budgets enforced up
//! to three ticks late, alone or between tasks above and below it. A tick is a microsecond.

use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams, TaskArrivals,
};
use tidegate_model::{Duration, Random};

use crate::case::Case;

/// The duration of a case in periods of the server.
const PERIODS: u64 = 200;

/// The largest delay of enforcement in ticks.
const OVERRUN_MAX: u64 = 3;

/// Returns the case for this seed; the same seed always gives the same case.
pub fn random_case(seed: u64) -> Case {
    let mut random = Random::new(seed, 0);
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.timer_latency = Duration::from_us(random.below(OVERRUN_MAX + 1));
    let params = params(&mut random);
    let duration = params.period * PERIODS;
    workload.servers.push(CpuServer::new("server", Priority(50), params));
    for number in 0..=random.below(2) {
        let work = work(&mut random, &params, number);
        workload.work.push(work);
    }
    let above = random.below(3);
    for number in 0..above {
        let task = task(&mut random, format!("above {number}"), 60, 12);
        workload.tasks.push(task);
    }
    for number in 0..random.below(3) {
        let task = task(&mut random, format!("below {number}"), 40, 8);
        workload.tasks.push(task);
    }
    Case { workload, duration, seed }
}

/// Draws a duration of `least` to `most` ticks.
fn ticks(random: &mut Random, least: u64, most: u64) -> Duration {
    Duration::from_us(least + random.below(most - least + 1))
}

fn params(random: &mut Random) -> ServerParams {
    let period = ticks(random, 10, 120);
    let budget = ticks(random, 1, (period.ns() / 2_000).max(1));
    let most = [1, 2, 3, 4, 8, 20];
    let charge = ticks(random, 0, 3);
    let is_charged = random.below(4) == 0 && charge < budget;
    ServerParams {
        replenishments_max: most[random.index(most.len())],
        preemption_charge: if is_charged { charge } else { Duration::ZERO },
        ..ServerParams::new(ServerKind::Sporadic, budget, period)
    }
}

/// Draws work that demands a fifth to three times the server's capacity.
fn work(random: &mut Random, params: &ServerParams, number: u64) -> CpuWork {
    let mean = ticks(random, 1, (params.budget.ns() / 1_000).max(2));
    let share = 20 + random.below(280);
    let load = u128::from(params.budget.ns()) * u128::from(share);
    let gap = u128::from(mean.ns()) * u128::from(params.period.ns()) * 100 / load;
    let gap = Duration::from_ns(u64::try_from(gap).expect("a gap of ticks").max(500));
    let arrivals = match random.below(4) {
        0 => Arrivals::Periodic { period: gap },
        1 => Arrivals::Sporadic { gap_min: gap },
        2 => Arrivals::Poisson { gap_mean: gap },
        _ => Arrivals::Bursty { burst: 4, gap_mean: gap * 4 },
    };
    let is_fixed = random.below(2) == 0;
    let execution = if is_fixed { Execution::Fixed(mean) } else { Execution::Exponential { mean } };
    CpuWork::new(format!("work {number}"), 0, arrivals, execution)
}

/// Draws a task whose execution time is at most `3 / part` of its period, or one tick.
fn task(random: &mut Random, name: String, priority: u32, part: u64) -> CpuTask {
    let period = ticks(random, 20, 400);
    let execution = ticks(random, 1, (period.ns() / 1_000 * 3 / part).max(1));
    let is_sporadic = random.below(2) == 0;
    CpuTask {
        offset: ticks(random, 0, 100),
        arrivals: if is_sporadic { TaskArrivals::Sporadic } else { TaskArrivals::Periodic },
        ..CpuTask::new(name, execution, period, Priority(priority))
    }
}

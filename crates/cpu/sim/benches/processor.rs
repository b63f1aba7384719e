// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulated scheduling events per second: a sporadic server between tasks, and tasks alone.
//! Divan counts events (releases, completions, exhaustions, replenishments, preemptions), not
//! context switches.

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_cpu_sim::{CpuParams, CpuRun, simulate};
use tidegate_model::Duration;

/// Shows that a longer run needs no more memory.
#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

const fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// Returns `count` tasks with different periods that need three quarters of the processor.
fn tasks(scheduling: Scheduling, count: u32) -> CpuWorkload {
    let mut workload = CpuWorkload::new(scheduling);
    workload.switch = us(2);
    for number in 1..=count {
        let period = us(1_000 + 137 * u64::from(number));
        let execution = Duration::from_ns(period.ns() * 3 / 4 / u64::from(count));
        let task = CpuTask::new(format!("task {number}"), execution, period, Priority(number));
        workload.tasks.push(task);
    }
    workload
}

/// Returns eight tasks and a server for packets that is more urgent than six of the tasks.
fn with_server(kind: ServerKind) -> CpuWorkload {
    let mut workload = tasks(Scheduling::FixedPriority, 8);
    workload.timer_latency = us(5);
    for task in &mut workload.tasks {
        task.execution = Duration::from_ns(task.execution.ns() * 4 / 5);
        task.priority = Priority(task.priority.0 * 2);
    }
    let params =
        ServerParams { preemption_charge: us(4), ..ServerParams::new(kind, us(2_000), us(10_000)) };
    workload.servers.push(CpuServer::new("server", Priority(13), params));
    workload.work.push(CpuWork::new(
        "packets",
        0,
        Arrivals::Poisson { gap_mean: us(100) },
        Execution::Fixed(us(8)),
    ));
    workload
}

fn run(workload: &CpuWorkload, seconds: u64) -> CpuRun {
    let duration = Duration::from_ms(1_000 * seconds);
    simulate(&CpuParams::new(workload, duration, divan::black_box(1)), &mut ())
}

fn bench(bencher: Bencher, workload: &CpuWorkload, seconds: u64) {
    let events = run(workload, seconds).events;
    bencher.counter(ItemsCount::new(events)).bench(|| run(workload, seconds));
}

#[divan::bench(args = [10, 100])]
fn sporadic_server_between_tasks(bencher: Bencher, seconds: u64) {
    bench(bencher, &with_server(ServerKind::Sporadic), seconds);
}

#[divan::bench(args = [ServerKind::Polling, ServerKind::PosixSporadic, ServerKind::HybridGradual])]
fn other_servers(bencher: Bencher, kind: ServerKind) {
    bench(bencher, &with_server(kind), 10);
}

#[divan::bench(args = [4, 16, 64])]
fn fixed_priority_tasks(bencher: Bencher, count: u32) {
    bench(bencher, &tasks(Scheduling::FixedPriority, count), 10);
}

#[divan::bench(args = [4, 16, 64])]
fn edf_tasks(bencher: Bencher, count: u32) {
    bench(bencher, &tasks(Scheduling::Edf, count), 10);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Processors to test servers on.

use tidegate_cpu_model::{
    Arrivals, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority, Scheduling,
    ServerKind, ServerParams,
};
use tidegate_cpu_sim::{CpuObserver, CpuParams, CpuRun, Thread, simulate};
use tidegate_model::{Duration, Time};

/// Returns a number of ticks as a duration.
pub(crate) const fn ticks(ticks: u64) -> Duration {
    Duration::from_ms(ticks)
}

/// Returns a time in ticks; it must be whole ticks.
pub(crate) fn in_ticks(time: Duration) -> u64 {
    assert_eq!(time.ns() % ticks(1).ns(), 0, "{time} is whole ticks");
    time.ns() / ticks(1).ns()
}

/// Returns a processor with one server at this priority, whose budget is enforced `overrun` ticks
/// late.
pub(crate) fn with_server(params: ServerParams, priority: u32, overrun: u64) -> CpuWorkload {
    let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
    workload.timer_latency = ticks(overrun);
    workload.servers.push(CpuServer::new("server", Priority(priority), params));
    workload
}

/// Returns jobs of the server that arrive at these ticks, each of this length.
pub(crate) fn jobs_at(at: &[u64], execution: u64) -> CpuWork {
    CpuWork::new(
        "jobs",
        0,
        Arrivals::At(at.iter().map(|&at| ticks(at)).collect()),
        Execution::Fixed(ticks(execution)),
    )
}

/// Adds more work at the start than the server can execute in the run.
pub(crate) fn endless_work(workload: &mut CpuWorkload, duration: u64) {
    workload.work.push(jobs_at(&[0], duration));
}

pub(crate) fn server(kind: ServerKind, budget: u64, period: u64) -> ServerParams {
    ServerParams::new(kind, ticks(budget), ticks(period))
}

pub(crate) fn task(name: &str, execution: u64, period: u64, priority: u32) -> CpuTask {
    CpuTask::new(name, ticks(execution), ticks(period), Priority(priority))
}

pub(crate) fn run(workload: &CpuWorkload, duration: u64, seed: u64) -> CpuRun {
    simulate(&CpuParams::new(workload, ticks(duration), seed), &mut ())
}

/// The intervals in which the server executed within its budget, in ticks.
#[derive(Debug, Default)]
pub(crate) struct Stretches(pub(crate) Vec<(u64, u64)>);

impl CpuObserver for Stretches {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        if thread != Thread::Server(0) || !in_budget {
            return;
        }
        let tick = |at: Time| in_ticks(at - Time::ZERO);
        match self.0.last_mut() {
            Some(last) if last.1 == tick(from) => last.1 = tick(to),
            _ => self.0.push((tick(from), tick(to))),
        }
    }
}

/// Returns the intervals of a run.
pub(crate) fn stretches(workload: &CpuWorkload, duration: u64) -> Vec<(u64, u64)> {
    let mut stretches = Stretches::default();
    let params = CpuParams::new(workload, ticks(duration), 1);
    simulate(&params, &mut stretches);
    stretches.0
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One processor in virtual time: tasks with deadlines, and aperiodic servers with their work,
//! under fixed priorities or earliest deadline first.
//!
//! # The model
//! - Scheduling is preemptive. Equals are served first come, first served, and a preempted thread
//!   keeps its position among its equals.
//! - Each time a thread takes the processor, it first spends one context switch, which is charged
//!   to no budget.
//! - A server's budget is always enforced `timer_latency` late: the worst case for other threads.
//!   Replenishments and releases are on time, which is also the worst case.
//! - A job always executes for the whole execution time that its task states.
//! - Bounded but unscheduled disturbance, which is blocking and stolen time, follows
//!   [`Disturbance`]. Stolen time stops the processor. The running thread stays the running one and
//!   no switch is charged, because the measured time includes the cost of switches.
//! - At the same instant, completions come first, then arrivals of work, releases of tasks, alarms
//!   of servers, stolen time, and sections.

mod arrivals;
mod disturbance;
mod metrics;
mod observer;
mod params;
mod processor;
mod ready;
mod server_state;
mod stolen_time;
mod task_state;
mod timeline;
mod timing;
mod window;

use tidegate_cpu_servers::{self, Server};

pub use disturbance::Disturbance;
pub use metrics::{CpuRun, CpuRunEnd, JobMetrics, ServerMetrics};
pub use observer::{CpuObserver, ServerCall, Thread};
pub use params::CpuParams;
pub use stolen_time::StolenTime;
pub use timing::Timing;
pub use window::WindowMax;

use processor::Processor;

/// Runs a workload with the servers that it describes.
///
/// # Panics
/// If a server's parameters are invalid ([`tidegate_cpu_model::ServerParams::checked`]), or
/// `Time` overflows.
///
/// # Example
/// ```
/// use tidegate_model::Duration;
/// use tidegate_cpu_model::{CpuTask, CpuWorkload, Priority, Scheduling};
/// use tidegate_cpu_sim::{CpuParams, simulate};
///
/// let ms = Duration::from_ms;
/// let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
/// workload.tasks.push(CpuTask::new("urgent", ms(1), ms(4), Priority(2)));
/// workload.tasks.push(CpuTask::new("other", ms(2), ms(6), Priority(1)));
/// let run = simulate(&CpuParams::new(&workload, ms(12), 1), &mut ());
/// assert_eq!(run.tasks[1].responses.max(), Some(ms(3)));
/// ```
pub fn simulate(params: &CpuParams<'_>, observer: &mut impl CpuObserver) -> CpuRun {
    let build = |server: &tidegate_cpu_model::CpuServer| -> Box<dyn Server> {
        tidegate_cpu_servers::build(&server.params)
    };
    let servers = params.workload.servers.iter().map(build).collect();
    simulate_with(params, servers, observer)
}

/// Runs a workload with the given servers, one for each server in the workload; these replace the
/// rules that the workload states for its servers.
///
/// # Panics
/// If `servers` does not contain exactly one server for each in the workload, or `Time` overflows.
pub fn simulate_with(
    params: &CpuParams<'_>,
    servers: Vec<Box<dyn Server + '_>>,
    observer: &mut impl CpuObserver,
) -> CpuRun {
    assert_eq!(servers.len(), params.workload.servers.len(), "one server for each");
    Processor::new(params, servers, observer).run()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One processor in virtual time: tasks with deadlines, and aperiodic servers with their work,
//! under fixed priorities or earliest deadline first.
//!
//! # The model
//! - Preemptive; among equals first come first served, and a preempted thread keeps its place.
//! - A thread that takes the processor first spends one context switch, which is charged to no
//!   budget.
//! - A server's budget is always enforced `timer_latency` late: the worst case for others.
//!   Replenishments and releases are on time, which is also the worst case.
//! - A job always executes as long as its task says.
//! - Bounded but unscheduled disturbance, blocking and stolen time, follows [`Disturbance`].
//!   Stolen time stops the processor: the running thread keeps it, and the measured time includes
//!   the cost.
//! - At one instant completions come first, then arrivals of work, releases of tasks, and alarms
//!   of servers.

mod arrivals;
mod disturbance;
mod metrics;
mod processor;
mod ready;
mod server_state;
mod stolen_time;
mod task_state;
mod timeline;
mod window;

use tidegate_cpu_model::CpuWorkload;
use tidegate_cpu_servers::{self, Server, ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

pub use disturbance::{Disturbance, Timing};
pub use metrics::{CpuRun, JobMetrics, ServerMetrics};
pub use stolen_time::StolenTime;
pub use window::WindowMax;

use processor::Processor;

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct CpuParams<'a> {
    /// The workload that shares the processor.
    pub workload: &'a CpuWorkload,
    /// The duration of the run.
    pub duration: Duration,
    /// The seed of everything random.
    pub seed: u64,
    /// The blocking sections and the stolen time.
    pub disturbance: Disturbance<'a>,
}

impl<'a> CpuParams<'a> {
    /// Creates a run without disturbance.
    pub const fn new(workload: &'a CpuWorkload, duration: Duration, seed: u64) -> Self {
        Self { workload, duration, seed, disturbance: Disturbance::NONE }
    }
}

/// A thread of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// A task, by its index in the workload.
    Task(usize),
    /// A server, by its index in the workload.
    Server(usize),
}

/// Observes a run; every method does nothing by default.
pub trait CpuObserver {
    /// Reports uninterrupted execution of a thread; `in_budget` is false for a server in the
    /// background.
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        let _ = (thread, from, to, in_budget);
    }

    /// Reports a completed job.
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        let _ = (thread, arrival, now);
    }

    /// Reports stolen time.
    fn stolen(&mut self, from: Time, to: Time) {
        let _ = (from, to);
    }

    /// Reports an event of a server, and its status afterwards.
    fn observed(&mut self, call: &ServerCall<'_>) {
        let _ = call;
    }
}

/// An event that was passed to a server.
pub struct ServerCall<'a> {
    /// The server's index.
    pub index: usize,
    /// The instant.
    pub now: Time,
    /// The execution since the last call.
    pub executed: Duration,
    /// The event.
    pub event: ServerEvent,
    /// The server's status afterwards.
    pub status: ServerStatus,
    /// The server itself.
    pub server: &'a dyn Server,
}

impl CpuObserver for () {}

impl<A: CpuObserver, B: CpuObserver> CpuObserver for (A, B) {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        self.0.executed(thread, from, to, in_budget);
        self.1.executed(thread, from, to, in_budget);
    }
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        self.0.completed(thread, arrival, now);
        self.1.completed(thread, arrival, now);
    }
    fn stolen(&mut self, from: Time, to: Time) {
        self.0.stolen(from, to);
        self.1.stolen(from, to);
    }
    fn observed(&mut self, call: &ServerCall<'_>) {
        self.0.observed(call);
        self.1.observed(call);
    }
}

impl<O: CpuObserver + ?Sized> CpuObserver for &mut O {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        (**self).executed(thread, from, to, in_budget);
    }
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        (**self).completed(thread, arrival, now);
    }
    fn stolen(&mut self, from: Time, to: Time) {
        (**self).stolen(from, to);
    }
    fn observed(&mut self, call: &ServerCall<'_>) {
        (**self).observed(call);
    }
}

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

/// Runs a workload with the given servers, one for each in the workload, whose descriptions of
/// rules are ignored.
///
/// # Panics
/// If there is not one server for each, or `Time` overflows.
pub fn simulate_with(
    params: &CpuParams<'_>,
    servers: Vec<Box<dyn Server + '_>>,
    observer: &mut impl CpuObserver,
) -> CpuRun {
    assert_eq!(servers.len(), params.workload.servers.len(), "one server for each");
    Processor::new(params, servers, observer).run()
}

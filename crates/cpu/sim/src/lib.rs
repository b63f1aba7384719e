// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One processor in virtual time: tasks with deadlines, and aperiodic servers with their work,
//! under fixed priorities or earliest deadline first.
//!
//! # The model
//! - Preemptive; among equals first come first served, and who is preempted keeps its place.
//! - Whoever takes the processor first spends one context switch on it; it is nobody's budget.
//! - A server's budget is enforced `timer_latency` late, always: that is the worst case for
//!   others. Replenishments and releases are on time, which is the worst case, too.
//! - A job executes as long as its task says, never shorter.
//! - What is bounded and not scheduled, blocking and thieves, comes as [`Disturbance`] says. A thief
//!   stops the processor: whoever has it keeps it, and what that costs is in what was measured.
//! - At one instant completions come first, then arrivals of work, releases of tasks, and alarms
//!   of servers.

mod arrivals;
mod disturbance;
mod metrics;
mod processor;
mod ready;
mod server_state;
mod task_state;
mod thief;
mod timeline;
mod window;

use tidegate_cpu_model::CpuWorkload;
use tidegate_cpu_servers::{self, Server, ServerEvent, Standing};
use tidegate_model::{Duration, Time};

pub use disturbance::{Disturbance, Timing};
pub use metrics::{CpuRun, JobMetrics, ServerMetrics};
pub use thief::Thief;
pub use window::WindowMax;

use processor::Processor;

/// A run.
#[derive(Debug, Clone, Copy)]
pub struct CpuParams<'a> {
    /// Who shares the processor.
    pub workload: &'a CpuWorkload,
    /// How long to go on.
    pub duration: Duration,
    /// Fixes everything random.
    pub seed: u64,
    /// Sections that block, and thieves.
    pub disturbance: Disturbance<'a>,
}

impl<'a> CpuParams<'a> {
    /// A run that nothing disturbs.
    pub const fn new(workload: &'a CpuWorkload, duration: Duration, seed: u64) -> Self {
        Self { workload, duration, seed, disturbance: Disturbance::NONE }
    }
}

/// Who executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// A task, by its index in the workload.
    Task(usize),
    /// A server, by its index in the workload.
    Server(usize),
}

/// Who watches a run; every method does nothing unless it is written.
pub trait CpuObserver {
    /// A thread executed without a break; `in_budget` is false for a server in the background.
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        let _ = (thread, from, to, in_budget);
    }

    /// A job was complete.
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        let _ = (thread, arrival, now);
    }

    /// Thieves had the processor.
    fn stolen(&mut self, from: Time, to: Time) {
        let _ = (from, to);
    }

    /// A server was told something, and this is how it stands since.
    fn observed(&mut self, call: &ServerCall<'_>) {
        let _ = call;
    }
}

/// What a server was told.
pub struct ServerCall<'a> {
    /// Which one.
    pub index: usize,
    /// When.
    pub now: Time,
    /// Executed since the last call.
    pub executed: Duration,
    /// What happened.
    pub event: ServerEvent,
    /// How it stands since.
    pub standing: Standing,
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
/// When there is no such server ([`tidegate_cpu_model::ServerParams::checked`]), or at the end of time.
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

/// The same with servers from elsewhere, one for each in the workload; what the workload says of
/// their rules is not used.
///
/// # Panics
/// When there is not one for each, or at the end of time.
pub fn simulate_with(
    params: &CpuParams<'_>,
    servers: Vec<Box<dyn Server + '_>>,
    observer: &mut impl CpuObserver,
) -> CpuRun {
    assert_eq!(servers.len(), params.workload.servers.len(), "one server for each");
    Processor::new(params, servers, observer).run()
}

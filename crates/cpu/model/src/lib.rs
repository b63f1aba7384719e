// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The CPU side of a workload: tasks, aperiodic servers, and the work that servers execute.
//!
//! One processor, preemptive, with fixed priorities or earliest deadline first. A workload file
//! holds it in `[cpu]`, `[[cpu_task]]`, `[[cpu_server]]`, `[[cpu_work]]` and
//! `[[cpu_interference]]`, beside its disk part
//! or alone; [`MachineFile`] reads both.

mod file;
mod file_raw;
mod interference;
mod machine_file;
mod profile;
mod server;
mod task;
mod work;

pub use interference::{CpuInterference, InterferenceBound};
pub use machine_file::MachineFile;
pub use profile::{
    CpuConditions, CpuProfile, DemandFit, LoadFit, StolenPoint, WHOLE_PPB, corners, running_max,
};
pub use server::{Background, CpuServer, ServerKind, ServerParams, ServerParamsError};
pub use task::{CpuTask, Priority, TaskArrivals};
pub use work::{Arrivals, CpuWork, Execution};

use tidegate_model::names;
use tidegate_model::units::Duration;

names! {
    /// How the processor chooses among what is ready.
    pub enum Scheduling {
        /// The highest priority, always; among equals, first come first served.
        FixedPriority => "fixed-priority",
        /// The earliest absolute deadline.
        Edf => "edf",
    }
}

/// Everything that shares one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuWorkload {
    /// How the processor chooses.
    pub scheduling: Scheduling,
    /// What one context switch costs, to a task or from it.
    pub switch: Duration,
    /// How late a timer may fire. A server whose budget is enforced by one overruns by as much,
    /// once in each stretch of execution.
    pub timer_latency: Duration,
    /// The tasks, in the order of the file.
    pub tasks: Vec<CpuTask>,
    /// The servers, in the order of the file.
    pub servers: Vec<CpuServer>,
    /// What the servers execute, in the order of the file.
    pub work: Vec<CpuWork>,
    /// What takes the processor beside them, as measured.
    pub interference: Vec<CpuInterference>,
}

impl CpuWorkload {
    /// An empty processor that costs nothing and is never late.
    pub const fn new(scheduling: Scheduling) -> Self {
        Self {
            scheduling,
            switch: Duration::ZERO,
            timer_latency: Duration::ZERO,
            tasks: Vec::new(),
            servers: Vec::new(),
            work: Vec::new(),
            interference: Vec::new(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The processor part of a workload: tasks, aperiodic servers, and the work that servers execute.
//!
//! It models one preemptive processor with fixed priorities or earliest deadline first. A workload
//! file describes it in `[cpu]`, `[[cpu_task]]`, `[[cpu_server]]`, `[[cpu_work]]` and
//! `[[cpu_interference]]`, with or without a disk part; [`MachineFile`] reads both.

mod assignment;
mod file;
mod file_raw;
mod interference;
mod machine_file;
mod profile;
mod server;
mod task;
mod work;

pub use assignment::Assignment;
pub use interference::CpuInterference;
pub use machine_file::MachineFile;
pub use profile::{
    CpuConditions, CpuProfile, DemandFit, LoadFit, StolenPoint, WHOLE_PPB, corners, running_max,
};
pub use server::{Background, CpuServer, ServerKind, ServerParams, ServerParamsError};
pub use task::{CpuTask, Priority, TaskArrivals};
pub use tidegate_model::InterferenceBound;
pub use work::{Arrivals, CpuWork, Execution};

use tidegate_model::names;
use tidegate_model::units::Duration;

names! {
    /// How the processor chooses among ready threads.
    pub enum Scheduling {
        /// The thread with the highest priority executes; equals are served first come, first
        /// served.
        FixedPriority => "fixed-priority",
        /// The thread with the earliest absolute deadline executes.
        Edf => "edf",
    }
}

/// Everything that shares one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuWorkload {
    /// How the processor chooses among ready threads.
    pub scheduling: Scheduling,
    /// The processor time of one context switch, to a task or from it.
    pub switch: Duration,
    /// The longest delay of a timer. A server whose budget is enforced by a timer overruns by at
    /// most this, once in each interval of execution.
    pub timer_latency: Duration,
    /// The tasks, in the order of the file.
    pub tasks: Vec<CpuTask>,
    /// The servers, in the order of the file.
    pub servers: Vec<CpuServer>,
    /// The work that the servers execute, in the order of the file.
    pub work: Vec<CpuWork>,
    /// Measured interference from outside the file.
    pub interference: Vec<CpuInterference>,
}

impl CpuWorkload {
    /// Creates an empty processor whose switches cost nothing and whose timers are never late.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A real-time task that needs the processor.

use std::fmt;

use tidegate_model::names;
use tidegate_model::units::Duration;

/// A priority: larger is more urgent, as in SCHED_FIFO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Priority(pub u32);

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

names! {
    /// When a task's jobs arrive.
    pub enum TaskArrivals {
        /// Every period.
        Periodic => "periodic",
        /// At least a period apart; a simulation draws gaps of one to two periods.
        Sporadic => "sporadic",
    }
}

/// A task: its jobs need up to `execution` of processor time within `deadline` of their arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuTask {
    /// The name, unique on its processor.
    pub name: String,
    /// The least time between two arrivals.
    pub period: Duration,
    /// The longest execution of a job, without context switches.
    pub execution: Duration,
    /// The deadline, counted from the arrival (not from the release, so jitter counts).
    pub deadline: Duration,
    /// The priority; 0 for every task under EDF.
    pub priority: Priority,
    /// The time from the start of a run to the first arrival.
    pub offset: Duration,
    /// The longest time from a job's arrival to its release.
    pub jitter: Duration,
    /// The longest time that less urgent tasks delay this one, by holding locks or by disabling
    /// preemption.
    pub blocking: Duration,
    /// When jobs arrive.
    pub arrivals: TaskArrivals,
}

impl CpuTask {
    /// Creates a periodic task with its deadline at the end of the period, without jitter or
    /// blocking.
    pub fn new(
        name: impl Into<String>,
        execution: Duration,
        period: Duration,
        priority: Priority,
    ) -> Self {
        Self {
            name: name.into(),
            period,
            execution,
            deadline: period,
            priority,
            offset: Duration::ZERO,
            jitter: Duration::ZERO,
            blocking: Duration::ZERO,
            arrivals: TaskArrivals::Periodic,
        }
    }
}

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
    /// When a task releases its jobs.
    pub enum TaskArrivals {
        /// Every period.
        Periodic => "periodic",
        /// No sooner than a period after the last; a simulation draws gaps of one to two periods.
        Sporadic => "sporadic",
    }
}

/// A task: jobs that need up to `execution` of the processor within `deadline` of their arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuTask {
    /// Unique on its processor.
    pub name: String,
    /// The least time between two arrivals.
    pub period: Duration,
    /// The longest that a job executes, context switches apart.
    pub execution: Duration,
    /// From arrival (not from release: jitter counts).
    pub deadline: Duration,
    /// Under EDF all are equal, and this is 0.
    pub priority: Priority,
    /// The first arrival, from the start of a run.
    pub offset: Duration,
    /// How much later than its arrival a job may be released.
    pub jitter: Duration,
    /// The longest that less urgent tasks keep it waiting, with locks or with preemption off.
    pub blocking: Duration,
    /// When jobs arrive.
    pub arrivals: TaskArrivals,
}

impl CpuTask {
    /// A periodic task with the deadline at the end of the period, without jitter or blocking.
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

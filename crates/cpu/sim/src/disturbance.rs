// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounded but unscheduled disturbance: sections of less urgent threads, and stolen time.
//!
//! A *section* delays more urgent threads: a lock with its ceiling, or disabled preemption. It is
//! part of a task's normal execution, or belongs to a thread that is outside the workload and
//! less urgent than everything in it. It lasts no longer than the blocking term of every thread
//! that it delays, which are the threads above its owner up to its ceiling. Under EDF no thread
//! preempts it, and it may delay every thread with a shorter deadline. Servers have no sections.

use tidegate_model::Duration;

use super::stolen_time::StolenTime;
use super::timing::Timing;

/// The disturbance of a run.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance<'a> {
    /// The instants of disturbance.
    pub timing: Timing,
    /// The sources of stolen time; sections follow from the blocking terms of the workload.
    pub stolen: &'a [StolenTime],
    /// The least amount that a source waits for before it steals again: one nanosecond is the worst
    /// case, and slow to simulate.
    pub grain: Duration,
}

impl Disturbance<'static> {
    /// No disturbance.
    pub const NONE: Self = Self { timing: Timing::Never, stolen: &[], grain: Duration::from_ns(1) };
}

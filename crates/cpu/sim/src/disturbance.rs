// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounded but unscheduled disturbance: sections of less urgent threads, and stolen time.
//!
//! A *section* is execution that delays more urgent threads, because its owner holds a lock with a
//! ceiling or has disabled preemption. The owner is a task of the workload, or a thread outside the
//! workload that is less urgent than everything in it. A section delays the threads above its owner
//! up to its ceiling, and is no longer than the blocking term of any of them. Under EDF no thread
//! preempts a section, and it can delay every thread with a shorter deadline. Servers have no
//! sections.

use tidegate_model::Duration;

use super::stolen_time::StolenTime;
use super::timing::Timing;

/// The disturbance of a run.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance<'a> {
    /// When sections begin and time is stolen.
    pub timing: Timing,
    /// The sources of stolen time; sections follow from the blocking terms of the workload.
    pub stolen: &'a [StolenTime],
    /// The amount that a source waits to have available before it steals again. One nanosecond is
    /// the worst case, and slow to simulate.
    pub grain: Duration,
}

impl Disturbance<'static> {
    /// No disturbance.
    pub const NONE: Self = Self { timing: Timing::Never, stolen: &[], grain: Duration::from_ns(1) };
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is bounded and not scheduled: sections of less urgent threads, and thieves.
//!
//! A *section* keeps more urgent threads waiting: a lock with its ceiling, or preemption that is
//! off. It is a part of what a task executes anyway, or of a thread that is not in the workload
//! and less urgent than all that is. It lasts no longer than the blocking term of every thread that
//! it keeps waiting, which are those above its owner up to its ceiling; under EDF nobody preempts
//! it, and it may delay whoever has a shorter deadline. Servers hold none.

use tidegate_model::Duration;

use super::thief::Thief;

/// When sections begin and thieves strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Never.
    Never,
    /// When it hurts most: just before something is released, as long or as much as allowed.
    Critical,
    /// At random.
    Random,
}

/// What disturbs a run.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance<'a> {
    /// When.
    pub timing: Timing,
    /// Who steals; sections follow from the blocking terms of the workload.
    pub thieves: &'a [Thief],
    /// The least that a thief waits for before it steals on: a nanosecond is the worst, and slow.
    pub grain: Duration,
}

impl Disturbance<'static> {
    /// Nothing.
    pub const NONE: Self =
        Self { timing: Timing::Never, thieves: &[], grain: Duration::from_ns(1) };
}

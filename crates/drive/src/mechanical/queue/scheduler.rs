// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's scheduler. The only state that it keeps between requests is a direction.

use tidegate_model::mechanics::{Queue, Scheduler};

use super::by_access::{soonest, soonest_with_aging};
use super::by_position::{Direction, nearest, nearest_then_sweep, next_in_sweep, next_inwards};
use super::eligible::Eligible;
use super::reach::Reach;

/// The position from which the next seek is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArmPosition {
    /// The cylinder of the arm.
    pub(super) arm: u32,
    /// The cylinder of the sweep: the last request's cylinder if others waited then, or else the
    /// arm's.
    pub(super) sweep: u32,
}

/// A scheduler and its state.
#[derive(Debug, Clone, Copy)]
pub(super) enum SchedulerState {
    /// Chooses the oldest request.
    Fifo,
    /// Chooses the nearest request.
    Sstf,
    /// Chooses the next request in this direction.
    Scan(Direction),
    /// Chooses the next request inwards.
    CLook,
    /// Chooses the request with the shortest access.
    Satf,
    /// Chooses the shortest access, reduced in proportion to the waiting time.
    SatfAging {
        /// The reduction in nanoseconds per millisecond of waiting.
        aging_ns_per_ms: u64,
    },
    /// Chooses the nearest request, then the next ones in its direction.
    ScanSstf(Option<Direction>),
}

impl SchedulerState {
    /// Creates the scheduler that a drive file names.
    pub(super) fn new(params: &Queue) -> Self {
        match params.scheduler {
            Scheduler::Fifo => Self::Fifo,
            Scheduler::Sstf => Self::Sstf,
            Scheduler::Scan => Self::Scan(Direction::Inwards),
            Scheduler::CLook => Self::CLook,
            Scheduler::Satf => Self::Satf,
            Scheduler::SatfAging => {
                Self::SatfAging { aging_ns_per_ms: params.aging_ns_per_ms.unwrap_or(0) }
            }
            Scheduler::ScanSstf => Self::ScanSstf(None),
        }
    }

    /// Returns the index of the next request.
    pub(super) fn choose(
        &mut self,
        eligible: &Eligible<'_>,
        position: ArmPosition,
        reach: &impl Reach,
    ) -> usize {
        match self {
            Self::Fifo => eligible.oldest(),
            Self::Sstf => nearest(eligible, position.arm),
            Self::CLook => next_inwards(eligible, position.sweep),
            Self::Satf => soonest(eligible, reach),
            Self::SatfAging { aging_ns_per_ms } => {
                soonest_with_aging(eligible, *aging_ns_per_ms, reach)
            }
            Self::Scan(direction) => {
                let (index, kept) = next_in_sweep(eligible, position.sweep, *direction);
                *direction = kept;
                index
            }
            Self::ScanSstf(direction) => {
                let (index, kept) = nearest_then_sweep(eligible, position.sweep, *direction);
                *direction = kept;
                index
            }
        }
    }

    /// Resets the state when no request is left.
    pub(super) fn rest(&mut self) {
        if let Self::ScanSstf(direction) = self {
            *direction = None;
        }
    }
}

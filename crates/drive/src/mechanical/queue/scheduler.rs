// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which scheduler a drive has, and what the scheduler remembers from one request to the
//! next: at most a direction.

use tidegate_model::mechanics::{Queue, Scheduler};

use super::Reach;
use super::by_access::{soonest, soonest_with_aging};
use super::by_position::{Direction, nearest, nearest_then_sweep, next_in_sweep, next_inwards};
use super::eligible::Eligible;

/// From where the next seek is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The cylinder of the arm.
    pub(super) arm: u32,
    /// The cylinder of the sweep: where the last request lay, while others wait.
    pub(super) sweep: u32,
}

/// A scheduler and what it remembers.
#[derive(Debug, Clone, Copy)]
pub(super) enum OnDisk {
    /// The oldest.
    Fifo,
    /// The nearest.
    Sstf,
    /// The next in a direction.
    Scan(Direction),
    /// The next one inwards.
    CLook,
    /// The shortest access.
    Satf,
    /// The same, less what waiting is worth.
    SatfAging {
        /// What a millisecond of it is worth.
        aging_ns_per_ms: u64,
    },
    /// The nearest, then the next in its direction.
    ScanSstf(Option<Direction>),
}

impl OnDisk {
    /// The scheduler that a drive file names.
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

    /// The index of what is next.
    pub(super) fn choose(
        &mut self,
        eligible: &Eligible<'_>,
        place: Place,
        reach: &impl Reach,
    ) -> usize {
        match self {
            Self::Fifo => eligible.oldest(),
            Self::Sstf => nearest(eligible, place.arm),
            Self::CLook => next_inwards(eligible, place.sweep),
            Self::Satf => soonest(eligible, reach),
            Self::SatfAging { aging_ns_per_ms } => {
                soonest_with_aging(eligible, *aging_ns_per_ms, reach)
            }
            Self::Scan(direction) => {
                let (index, kept) = next_in_sweep(eligible, place.sweep, *direction);
                *direction = kept;
                index
            }
            Self::ScanSstf(direction) => {
                let (index, kept) = nearest_then_sweep(eligible, place.sweep, *direction);
                *direction = kept;
                index
            }
        }
    }

    /// Nothing is left to be served: what comes next begins afresh.
    pub(super) fn rest(&mut self) {
        if let Self::ScanSstf(direction) = self {
            *direction = None;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how much time others take from a thread: the Hourglass technique.
//!
//! A thread on one processor reads the clock as fast as it can; where two readings are far apart,
//! somebody else had the processor. [`trace`], [`tally`] and [`fit`] make of such gaps the most
//! that intervals of each length lose, and bounds through that; they know no clock. [`profile()`]
//! is the thread itself.
//!
//! # Source
//! Stanovich, dissertation, 5.4. **What differs:** there each interval length is measured by itself,
//! at random phases. Here the gaps of a stretch of time, of random phase, are kept, and the worst
//! window of every length in it is found: no phase within a stretch is missed, one that is rare
//! counts for every length and not for the one that was being measured, and all lengths take
//! the time of the longest.

mod calibration;
pub mod fit;
mod hourglass;
pub mod plan;
mod profile;
mod report;
pub mod tally;
mod thief;
pub mod trace;

pub use calibration::{Calibration, Coverage, OtherQuestion, check_baseline};
pub use hourglass::{Steps, execute};
pub use plan::{IntervalRange, PlanError};
pub use profile::{
    CpuMeasurement, CpuProfileEnd, CpuProfileError, CpuProfileParams, CpuProgress, HostShare,
    profile,
};
pub use tally::Tally;
pub use thief::{SyntheticThief, ThiefError, ThiefReport};

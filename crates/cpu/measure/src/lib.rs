// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how much processor time others take from a thread: the Hourglass technique.
//!
//! A thread on one processor reads the clock as fast as it can; if two readings are far apart,
//! something else had the processor. From such gaps, [`trace`], [`tally`] and [`fit`] compute the
//! longest time that intervals of each length lose, and bounds above these points. They use no
//! clock. [`profile()`] runs the thread.
//!
//! # Source
//! Stanovich, dissertation, 5.4. **Difference:** the dissertation measures each interval length
//! separately, at random phases. Here a measured interval has a random phase, all of its gaps are
//! kept, and the worst window of every length in it is found. So no phase within it is missed, a
//! rare phase counts for every length, and all lengths together take the time of the longest.

mod calibration;
pub mod fit;
mod hourglass;
mod measurement;
mod partial_file;
pub mod plan;
mod profile;
mod report;
mod synthetic_load;
pub mod tally;
pub mod trace;

pub use calibration::{Calibration, Coverage, OtherQuestion, calibrated, check_baseline};
pub use hourglass::{Steps, execute};
pub use measurement::{CpuMeasurement, CpuProfileEnd, CpuProfileParams, HostShare};
pub use partial_file::{PartialFault, PartialFile};
pub use plan::{IntervalRange, PlanError};
pub use profile::{CpuProfileError, CpuProgress, profile};
pub use synthetic_load::{SyntheticLoad, SyntheticLoadError, SyntheticLoadReport};
pub use tally::Tally;

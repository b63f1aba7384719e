// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the times of a device and writes a drive file: b(i), the time of i requests sent
//! together; drain(q), the time until the device is empty; the bytes per second that flows of
//! requests transfer; and the time for which other requests can delay one request.
//!
//! [`profile()`] measures a block device or a file; [`profile_drive`] measures a simulated drive in
//! virtual time, with the same experiments and statistics. Delays that the host adds are never
//! subtracted; warnings name conditions that may have distorted the figures.
//!
//! Each experiment has one file in `experiments/`; no other module knows how it works:
//!
//! ```text
//!   profile ---> run ---> experiments ---> rounds, found ---> subject, journal
//!      |---> plan --------^     |--------> geometry, stripe, flush_times
//!      `---> outcome: the drive file from what was found
//! ```

mod cache_fill;
pub mod compare;
mod context;
pub mod envelope;
pub mod experiment;
mod experiments;
#[cfg(test)]
mod extremes_coverage;
mod families;
pub mod finding;
mod flow;
mod flush_times;
mod found;
pub mod geometry;
mod grouped;
mod held_up;
pub mod journal;
pub mod kind;
mod kind_batches;
mod lateness;
mod load;
mod measurable;
pub mod merge;
pub mod origin;
mod outcome;
pub mod output_file;
#[cfg(test)]
mod overrun_coverage;
mod params;
mod places;
pub mod plan;
mod procedure;
pub mod profile;
mod record;
mod rounds;
mod run;
mod run_control;
mod run_record;
pub mod samples_file;
mod selection;
mod simulated_target;
mod start;
pub mod stripe;
mod subject;
mod table;
pub mod time_left;
pub mod warning;

pub use cache_fill::FlushStart;
pub use experiment::Experiment;
pub use experiments::flush;
pub use finding::Finding;
pub use flush_times::FlushTimes;
pub use held_up::Disturbance;
pub use journal::{Journal, JournalError};
pub use kind::Kind;
pub use measurable::Measurable;
pub use origin::Origin;
pub use outcome::Profile;
pub use output_file::{Expected, OutputFault, OutputFile};
pub use params::{ProfileError, ProfileParams};
pub use plan::Step;
pub use procedure::Pace;
pub use profile::{plan, plan_drive, profile, profile_drive};
pub use run_control::Progress;
pub use samples_file::{SamplesFault, SamplesFile};
pub use selection::Selection;
pub use simulated_target::{SimulatedTarget, SimulatedTargetError};
pub use start::{Start, StartTimes};
pub use stripe::Stripe;
pub use subject::SubjectError;
pub use time_left::TimeLeft;
pub use warning::{Entries, Skip, Warning};

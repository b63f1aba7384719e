// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how a device behaves in time: how long i requests given at once take, b(i); how
//! long it takes to be empty, drain(q); what flows of requests move; how long others can hold up
//! one. Writes what it found into a drive file.
//!
//! [`profile()`] measures a block device or a file, [`profile_drive`] a simulated drive in
//! virtual time: the same experiments, the same statistics. What the host added to the
//! figures is never subtracted; what may have spoilt them is said.
//!
//! [`cpu`] measures a processor instead: how much time others take from a thread.

mod bench;
mod cache_fill;
pub mod envelope;
pub mod experiment;
mod experiments;
#[cfg(test)]
mod extremes_coverage;
pub mod finding;
mod flow;
mod flush_times;
mod followers;
mod found;
pub mod geometry;
mod grouped;
mod held_up;
pub mod journal;
pub mod kind;
mod lateness;
mod load;
mod outcome;
mod params;
mod places;
pub mod plan;
mod procedure;
pub mod profile;
mod record;
mod rounds;
mod run;
mod run_record;
mod start;
pub mod stripe;
mod subject;
mod table;
pub mod warning;

pub use cache_fill::FlushStart;
pub use experiment::Experiment;
pub use experiments::flush;
pub use finding::Finding;
pub use flush_times::FlushTimes;
pub use followers::Progress;
pub use held_up::Disturbance;
pub use journal::{Journal, JournalError};
pub use kind::Kind;
pub use outcome::Profile;
pub use params::{ProfileError, ProfileParams};
pub use plan::Step;
pub use procedure::Pace;
pub use profile::{plan, plan_drive, profile, profile_drive};
pub use record::device_identity;
pub use start::{Start, StartTimes};
pub use stripe::Stripe;
pub use subject::SubjectError;
pub use warning::{Entries, Skip, Warning};

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

pub mod compare;
pub mod drain;
pub mod envelope;
pub mod experiment;
#[cfg(test)]
mod extremes_coverage;
pub mod finding;
mod flow;
pub mod flush;
pub mod geometry;
mod grouped;
mod held_up;
pub mod journal;
pub mod kind;
mod lateness;
mod load_meter;
pub mod merge;
mod mixed;
pub mod new_file;
pub mod origin;
mod outcome;
pub mod output_file;
mod places;
pub mod plan;
mod priority;
pub mod profile;
mod record;
mod rounds;
mod run;
mod run_record;
pub mod samples_file;
mod single;
mod starvation;
pub mod stripe;
mod structure;
mod subject;
mod throughput;
pub mod time_left;
pub mod warning;

pub use drain::Start;
pub use experiment::Experiment;
pub use finding::Finding;
pub use flush::{FlushStart, FlushTimes};
pub use held_up::Disturbance;
pub use journal::{Journal, JournalError};
pub use kind::Kind;
pub use new_file::{FileFault, NewFile};
pub use origin::Origin;
pub use output_file::{Expected, OutputFault, OutputFile};
pub use plan::{Pace, Step};
pub use profile::{
    Profile, ProfileError, ProfileParams, StartTimes, plan, plan_drive, profile, profile_drive,
};
pub use record::device_identity;
pub use rounds::Progress;
pub use samples_file::{SamplesFault, SamplesFile};
pub use stripe::Stripe;
pub use subject::SubjectError;
pub use time_left::TimeLeft;
pub use warning::{Entries, Skip, Warning};

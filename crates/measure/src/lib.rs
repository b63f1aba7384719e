// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how long a device takes: for i requests given at once, b(i); until it is empty,
//! drain(q); for requests of priority; for one that others hold up. Writes what it found into
//! a drive file.
//!
//! [`profile()`] measures a block device or a file, [`profile_drive`] a simulated drive in
//! virtual time: the same experiments, the same statistics. What the host added to the
//! figures is never subtracted; what may have spoilt them is said.

pub mod confidence;
pub mod drain;
pub mod experiment;
mod flow;
pub mod geometry;
mod lateness;
pub mod order_statistics;
mod places;
mod priority;
pub mod profile;
mod record;
mod rounds;
mod run;
mod starvation;
mod subject;
pub mod warning;

pub use drain::Start;
pub use experiment::Experiment;
pub use profile::{Profile, ProfileError, ProfileParams, StartTimes, profile, profile_drive};
pub use record::device_identity;
pub use rounds::Progress;
pub use subject::SubjectError;
pub use warning::{Skip, Warning};

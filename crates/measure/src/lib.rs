// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures b(i), how long a device takes for i requests given at once, and writes what it
//! found into a drive file.
//!
//! [`profile()`] measures a block device or a file, [`profile_drive`] a simulated drive in
//! virtual time: the same rounds, the same statistics. What the host added to the figures
//! is never subtracted; what may have spoilt them is said.

pub mod confidence;
mod lateness;
pub mod order_statistics;
pub mod profile;
mod record;
mod rounds;
mod subject;
pub mod warning;

pub use profile::{Profile, ProfileError, ProfileParams, profile, profile_drive};
pub use record::device_identity;
pub use rounds::Progress;
pub use subject::SubjectError;
pub use warning::Warning;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings of one disk under the kernel's own `mq-deadline`: what stands in the way of a
//! proof, which settings it needs and why, and how to make, keep, check and undo them.
//!
//! Everything is below one directory, the [`Root`], so that tests and rehearsals use a copy of a
//! machine's `sys` and `etc`. The hypotheses are those of `docs/theory/stock-kernel.md` section 31.
//!
//! ```text
//!   Disk ---- refusals(demand) ----> reasons why no proof is possible
//!     \------ settings(demand) ----> [Setting] --apply--> sysfs, and a Record of the old values
//!                                                <--undo--
//! ```

mod demand;
mod disk;
mod install;
mod record;
mod refusal;
mod setting;

pub use demand::Demand;
pub use disk::{Disk, NoDisk, Root};
pub use install::NewFile;
pub use record::{Drift, Record, RecordError, Undone};
pub use refusal::Refusal;
pub use setting::Setting;

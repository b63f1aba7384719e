// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tunes one disk under the kernel's own `mq-deadline`: finds the obstacles to a proof, determines
//! the settings that it needs and why, and applies, keeps, checks and undoes them.
//!
//! All paths are below one directory, the [`Root`], so that tests and rehearsals use a copy of a
//! machine's `sys`, `etc` and `proc`. The hypotheses are those of `docs/theory/stock-kernel.md`,
//! section 31.
//!
//! ```text
//!   Disk ---- refusals(demand) ----> reasons why no proof is possible
//!     \------ settings(demand) ----> [Setting] --apply--> sysfs, and a Record of the old values
//!                                                <--undo--
//!   Running <- Service: the threads of a systemd service, and their I/O class
//! ```

mod demand;
mod disk;
mod file_systems;
mod gone;
mod install;
mod others;
mod record;
mod record_error;
mod refusal;
mod services;
mod setting;
mod store;
mod threads;
mod undo;

pub use demand::Demand;
pub use disk::{Disk, NoDisk, Root};
pub use file_systems::{Experience, FileSystem};
pub use gone::{GoneError, GoneSearch};
pub use install::{NewFile, slug};
pub use record::{Drift, Record};
pub use record_error::RecordError;
pub use refusal::Refusal;
pub use services::Running;
pub use setting::Setting;
pub use threads::Stranger;
pub use undo::Undone;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Attaches a simulated drive as a block device of this machine, in real time.
//!
//! ```text
//!   a program, a file system            /dev/loopN, with direct I/O
//!   the kernel's scheduler                   |  up to K requests at once
//!   FUSE, nothing cached                mount/disk
//!   the thread that reads requests           |  stamps each arrival
//!   the drive's thread                  tidegate_drive::Drive, and a store for the data
//! ```
//! Every request that the kernel would send to a disk reaches the drive's model, which determines
//! the completion times and their order; the kernel's request waits until then.
//!
//! Decision 0014 states the reasons. Only root can attach drives.

mod attachment;
mod detach;
mod disk;
mod error;
mod file_system;
mod inbox;
mod loop_device;
pub mod record;
mod server;
mod simulate;
mod statistics;

pub use attachment::{AttachParams, Attachment};
pub use detach::{detach, devices, holders};
pub use error::{AttachError, DetachError, Holders};
pub use record::{AttachmentFolder, Record};
pub use statistics::Statistics;

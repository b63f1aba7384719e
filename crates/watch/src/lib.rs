// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Watches the requests on a disk that the kernel serves, by the kernel's block tracepoints: gives
//! response times by program and class, compares them with the bounds of a workload, and learns a
//! workload from them.
//!
//! ```text
//!   tracefs --pages--> Records --> Event --> Bios -----> Served --> Accounts   who, how long
//!   (Instance)        (ring buffer) |           |                \-> Declared  bounds, contracts
//!                                   |           |                 \-> Learner   a workload file
//!                                   +--> OnDevice --> ContractWatch             the drive's tables
//! ```
//!
//! Only `tracefs`, `session` and `process` access the machine; everything else is a function of the
//! stream of events. `docs/decisions/0047-watch.md` says why tracepoints are used and not eBPF.

mod accounts;
mod bios;
mod declared;
mod decode;
mod event;
mod extents;
mod format;
mod learn;
mod learned_file;
mod metrics;
mod on_device;
mod process;
mod ring_page;
mod served;
mod session;
mod streams;
mod tracefs;
mod watcher;
mod yielding;

pub use accounts::{Account, Accounts, Source};
pub use declared::{Declared, DeclaredEntry, Record as DeclaredRecord};
pub use decode::Formats;
pub use event::{Event, EventKind, Extent, IoClass, Operation, Submitter};
pub use format::{BadFormat, EventFormat};
pub use learn::{Learner, Learnt, LearntPlace, Rhythm};
pub use learned_file::{FileHead, workload_text};
pub use metrics::metrics;
pub use on_device::{DeviceRecord, OnDevice};
pub use process::{Process, ProcessTable, Processes};
pub use ring_page::{PageLayout, Record, records};
pub use served::Served;
pub use session::Session;
pub use streams::Streams;
pub use tracefs::{Instance, TracefsError};
pub use watcher::{Seen, Watcher};
pub use yielding::Pacer;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The virtual-time host: runs any policy on any simulated drive under any workload.
//!
//! Time jumps from event to event; nothing here reads a clock, and a run follows from its
//! parameters and its seed alone. Memory grows with what is outstanding, never with the
//! length of a run. See [`simulate`].

pub mod checkers;
mod held;
mod host;
mod ledger;
pub mod metrics;
mod observer;
mod params;
mod place;
mod source;
mod workload;

pub use host::{SimRun, simulate};
pub use metrics::{ResponseTimes, RunMetrics, SourceMetrics, Totals};
pub use observer::Observer;
pub use params::{Length, Releases, SimParams};

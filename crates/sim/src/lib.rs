// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The virtual-time host: runs any policy on any simulated drive under any workload.
//!
//! Time jumps from event to event. This crate reads no clock, so a run depends only on its
//! parameters and its seed. The loop is the same for every host (`host`); this crate adds the
//! backend for simulated drives, and the checkers. See [`simulate()`].

#![deny(clippy::wildcard_enum_match_arm)]

mod behind_host;
mod checked;
pub mod checkers;
pub mod replay;
mod simulate;
mod virtual_drive;

pub use behind_host::BehindHost;
pub use checked::{CheckedRun, CheckedSimulation, NotSimulated, perfect_knowledge};
pub use simulate::{simulate, simulate_until};
pub use tidegate_host::metrics;
pub use tidegate_host::{
    BatchWatch, ContractWatch, HostParams as SimParams, Length, Observer, Run as SimRun, RunEnd,
    RunMetrics, SourceMetrics, Totals,
};
pub use virtual_drive::VirtualDrive;

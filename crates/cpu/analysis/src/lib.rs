// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Processor analysis: bounds for tasks, servers and the work behind servers.
//!
//! Chapter 5 of M. J. Stanovich's dissertation bounds a task's demand for the processor in a
//! window, derives a load test from the bound, and adds measured demand. Chapter 6 adds servers
//! that behave like periodic tasks. docs/reference/processor.md explains the analysis for users.
//! docs/theory/processors.md and docs/theory/servers-as-tasks.md prove it and list the differences
//! from the text.
//!
//! All fixed-priority bounds refer to the window that starts at a critical instant: everything at
//! least as urgent is released there together, and no earlier work is left. They are not bounds on
//! arbitrary windows (docs/theory/processors.md section 15).

mod assessment;
mod demand;
mod edf;
mod host;
mod interference;
mod level;
mod load_test;
mod objection;
mod overhead;
mod priorities;
mod ratio;
mod response;
mod served;
mod server;
mod thread_assessment;
mod threads;

pub use assessment::{CpuAnswer, CpuAssessment, CpuLimit, CpuThread, assess};
pub use demand::{DemandBound, Source};
pub use edf::{EdfSource, EdfVerdict, processor_demand};
pub use host::under_interference;
pub use interference::{MeasuredDemand, MissingFit};
pub use level::Level;
pub use load_test::{Load, load_test};
pub use objection::Objection;
pub use priorities::{Prioritised, fitting_priorities};
pub use ratio::Ratio;
pub use response::response;
pub use served::{ServedWork, Supply};
pub use server::ServerLoad;
pub use thread_assessment::{CpuBound, CpuThreadAssessment};

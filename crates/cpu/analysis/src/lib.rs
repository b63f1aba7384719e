// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The processor: what tasks, servers and the work behind them may expect of it.
//!
//! Chapter 5 of M. J. Stanovich's dissertation bounds what a task demands of a processor in a
//! window, makes of it a test of loads, and puts what was measured beside it; chapter 6 adds
//! servers that behave like periodic tasks. docs/reference/processor.md says it for users, docs/theory/processors.md
//! (sections 15 to 18 and 21) and docs/theory/servers-as-tasks.md (sections 19 and 20) prove it and name what differs from print.
//!
//! All fixed-priority bounds speak of the window that starts at a critical instant: everything as
//! urgent is released there at once, nothing of it is left over from before. They are not bounds
//! on arbitrary windows (docs/theory/processors.md section 15).

mod assessment;
mod demand;
mod edf;
mod interference;
mod level;
mod load_test;
mod objection;
mod overhead;
mod ratio;
mod response;
mod served;
mod server;
mod threads;

pub use assessment::{
    CpuAnswer, CpuAssessment, CpuBound, CpuLimit, CpuThread, CpuThreadAssessment, assess,
};
pub use demand::{DemandBound, Source};
pub use edf::{EdfSource, EdfVerdict, processor_demand};
pub use interference::{MeasuredDemand, MissingFit};
pub use level::Level;
pub use load_test::{Load, load_test};
pub use objection::Objection;
pub use ratio::Ratio;
pub use response::response;
pub use served::{ServedWork, Supply};
pub use server::ServerLoad;

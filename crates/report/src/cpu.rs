// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate cpu`.

mod charts;
mod check;
mod conformance;
mod profile;
mod serve;
mod sim;

pub use check::CpuReport;
pub use conformance::{ConformanceReport, FaultReport};
pub use profile::{CpuProfileReport, draw_profile};
pub use serve::ServeReport;
pub use sim::{CpuResult, CpuSimReport};

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pages of metrics: families of samples with names, units and labels.
//!
//! ```text
//!   Families --OpenMetrics--> text --Format--> OpenMetrics, or Prometheus' text format
//! ```
//!
//! The service offers such a page over HTTP, and the watch of a disk writes one to a file. This
//! crate defines the format of a page; other crates supply its content.

mod families;
mod format;
#[cfg(any(test, feature = "harness"))]
pub mod page;

pub use families::{Families, Labels, Value, labels};
pub use format::Format;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Statistics of measured times: distributions, order statistics, the conclusions that samples
//! support, extremes, and tests for independence and for a common distribution.
//!
//! This crate measures nothing and contains nothing specific to disks.

pub mod cell;
pub mod confidence;
pub mod distribution;
pub mod drift;
pub mod extremes;
pub mod float;
pub mod independence;
pub mod order_statistics;
pub mod overrun_rate;
pub mod response_counts;

pub use distribution::{Distribution, Memory};
pub use response_counts::ResponseCounts;

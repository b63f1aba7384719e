// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Statistics of measured times: distributions, order statistics, what samples allow to claim,
//! extremes, and whether samples are independent and of one distribution.
//!
//! Nothing here measures anything, and nothing knows a disk.

pub mod cell;
pub mod confidence;
pub mod distribution;
pub mod drift;
pub mod extremes;
pub mod float;
pub mod independence;
pub mod order_statistics;

pub use distribution::{Distribution, Memory};

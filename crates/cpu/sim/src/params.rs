// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a run.

use std::sync::atomic::AtomicBool;

use tidegate_cpu_model::CpuWorkload;
use tidegate_model::Duration;

use super::disturbance::Disturbance;

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct CpuParams<'a> {
    /// The workload that shares the processor.
    pub workload: &'a CpuWorkload,
    /// The duration of the run.
    pub duration: Duration,
    /// The seed of all random draws.
    pub seed: u64,
    /// The blocking sections and the stolen time.
    pub disturbance: Disturbance<'a>,
    /// A flag that ends the run early once it is set.
    pub interrupted: Option<&'a AtomicBool>,
}

impl<'a> CpuParams<'a> {
    /// Creates a run without disturbance.
    pub const fn new(workload: &'a CpuWorkload, duration: Duration, seed: u64) -> Self {
        Self { workload, duration, seed, disturbance: Disturbance::NONE, interrupted: None }
    }
}

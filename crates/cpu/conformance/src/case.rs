// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The case that an implementation runs, and the outcome of its invariant checks.

use tidegate_cpu_model::{CpuWorkload, ServerParams};
use tidegate_cpu_sim::Thread;
use tidegate_model::{Duration, Time};

use crate::invariants::{Invariant, Violation};
use crate::trace::TraceLine;

/// A processor with one server, and the duration of a run.
#[derive(Debug, Clone)]
pub struct Case {
    /// The processor; its only server is the one under test.
    pub workload: CpuWorkload,
    /// The duration of the run.
    pub duration: Duration,
    /// The seed of all random draws.
    pub seed: u64,
}

impl Case {
    /// Returns the parameters of the server under test.
    ///
    /// # Panics
    /// If the workload has no server.
    pub fn params(&self) -> &ServerParams {
        &self.workload.servers[0].params
    }
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The first violation of each invariant, in the order of [`Invariant::ALL`].
    pub violations: [Option<Violation>; Invariant::COUNT],
    /// The number of checks of each invariant.
    pub checks: [u64; Invariant::COUNT],
    /// The number of simulated events.
    pub events: u64,
    /// The calls of the server, if the case was recorded; otherwise empty.
    pub trace: Vec<TraceLine>,
    /// The intervals in which each thread executed, if the case was recorded; otherwise empty.
    pub executed: Vec<(Thread, Time, Time)>,
}

impl Outcome {
    /// Returns the violations, the first of each invariant.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter().flatten()
    }

    /// Returns whether this invariant was not violated.
    pub fn holds(&self, invariant: Invariant) -> bool {
        self.violations[invariant.index()].is_none()
    }
}

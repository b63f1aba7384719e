// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One run of an implementation, and the results of its invariant checks.

use tidegate_cpu_model::{CpuWorkload, ServerParams};
use tidegate_cpu_servers::Server;
use tidegate_cpu_sim::{CpuParams, Thread, simulate_with};
use tidegate_model::{Duration, Time};

use crate::invariants::{Invariant, Violation};
use crate::response::response_max;
use crate::trace::TraceLine;
use crate::watch::Watch;

/// A processor with one server, and the duration of its run.
#[derive(Debug, Clone)]
pub struct Case {
    /// The processor; its only server is the one under test.
    pub workload: CpuWorkload,
    /// The duration of the run.
    pub duration: Duration,
    /// The seed of everything random.
    pub seed: u64,
}

impl Case {
    /// Returns the parameters of the server under test.
    ///
    /// # Panics
    /// If there is none.
    pub fn params(&self) -> &ServerParams {
        &self.workload.servers[0].params
    }
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The first violation of each invariant, in the order of [`Invariant::ALL`].
    pub violations: [Option<Violation>; 5],
    /// The number of checks of each invariant.
    pub checks: [u64; 5],
    /// Simulated events.
    pub events: u64,
    /// The calls of the server, if the case was recorded.
    pub trace: Vec<TraceLine>,
    /// The intervals in which each thread executed, if the case was recorded.
    pub executed: Vec<(Thread, Time, Time)>,
}

impl Outcome {
    /// Returns the violations, the first of each invariant.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter().flatten()
    }

    /// Returns whether this invariant held.
    pub fn holds(&self, invariant: Invariant) -> bool {
        self.violations[invariant.index()].is_none()
    }
}

/// Runs a server through a case; `is_recorded` keeps the events, for diagrams.
///
/// # Panics
/// If the server has work and requests an alarm that is not after now: the calls would never end.
pub fn check(case: &Case, server: Box<dyn Server + '_>, is_recorded: bool) -> Outcome {
    let bounds = bounds(&case.workload);
    let mut workload = case.workload.clone();
    for (task, bound) in workload.tasks.iter_mut().zip(&bounds) {
        task.deadline = bound.unwrap_or(Duration::from_ns(u64::MAX / 4));
    }
    let mut watch = Watch::new(case, bounds, is_recorded);
    let params = CpuParams::new(&workload, case.duration, case.seed);
    let run = simulate_with(&params, vec![server], &mut watch);
    watch.into_outcome(&run)
}

/// Returns the response-time bound of each task below the server.
fn bounds(workload: &CpuWorkload) -> Vec<Option<Duration>> {
    let priority = workload.servers[0].priority;
    let bound = |(index, task): (usize, &tidegate_cpu_model::CpuTask)| {
        if task.priority < priority { response_max(workload, index) } else { None }
    };
    workload.tasks.iter().enumerate().map(bound).collect()
}

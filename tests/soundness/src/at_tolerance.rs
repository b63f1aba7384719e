// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs trials on drives that are slower by exactly what their verdicts tolerate, and by more.

use tidegate_analysis::Tolerance;
use tidegate_model::{Duration, Slowdown};
use tidegate_sim::SimRun;

use crate::trial::Trial;

/// The trials of a policy that were run at their tolerance.
#[derive(Debug)]
pub struct AtTolerance {
    policy: String,
    runs: u32,
    /// The number of trials whose tolerance is above 0.
    tolerant: u32,
    /// Whether a drive that is slower than tolerated has missed a deadline.
    is_caught: bool,
}

impl AtTolerance {
    /// Starts a count, with a name for its summary.
    #[must_use]
    pub fn of(policy: impl Into<String>) -> Self {
        Self { policy: policy.into(), runs: 0, tolerant: 0, is_caught: false }
    }

    /// Asserts that a trial misses no deadline at its tolerance; then runs the canary. `misses`
    /// runs the trial with a slowdown and returns the number of missed deadlines.
    ///
    /// # Panics
    /// If a deadline is missed within the tolerance.
    pub fn attack(
        &mut self,
        trial: &Trial,
        found: &Tolerance,
        mut misses: impl FnMut(Slowdown) -> u64,
    ) {
        self.within(trial, found, &mut misses);
        self.beyond(found, misses);
    }

    /// Asserts that a trial misses no deadline on drives that are slower by its tolerance: by the
    /// tolerated time, and by the tolerated factor.
    ///
    /// # Panics
    /// If a deadline is missed.
    pub fn within(
        &mut self,
        trial: &Trial,
        found: &Tolerance,
        mut misses: impl FnMut(Slowdown) -> u64,
    ) {
        for slowdown in [Slowdown::by(found.added), Slowdown::by_ppm(found.factor_ppm)] {
            let (policy, number) = (&self.policy, trial.number);
            assert_eq!(misses(slowdown), 0, "{policy} number {number}, {slowdown:?} of {found:?}");
        }
        self.runs += 1;
        self.tolerant += u32::from(!found.added.is_zero());
    }

    /// Canary: runs a drive that is slower by twice the tolerated time plus 10 us, unless an
    /// earlier trial has already missed a deadline on such a drive.
    pub fn beyond(&mut self, found: &Tolerance, mut misses: impl FnMut(Slowdown) -> u64) {
        let more = found.added * 2 + Duration::from_us(10);
        self.is_caught = self.is_caught || misses(Slowdown::by(more)) > 0;
    }

    /// Prints the summary.
    ///
    /// # Panics
    /// If there were fewer than `runs_min` trials, if less than a third of them had a tolerance, or
    /// if the canary was not caught.
    pub fn conclude(self, runs_min: u32) {
        println!("{self:?}");
        assert!(self.runs >= runs_min && self.tolerant * 3 >= self.runs, "too few: {self:?}");
        assert!(self.is_caught, "twice the tolerance is never caught: {self:?}");
    }
}

/// Returns the number of missed deadlines in a run, over all tasks.
#[must_use]
pub fn misses(run: &SimRun) -> u64 {
    run.metrics.tasks().iter().map(|task| task.misses).sum()
}

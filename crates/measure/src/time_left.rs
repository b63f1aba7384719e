// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Estimates the remaining time of a measurement.

use tidegate_model::Duration;

use crate::plan::Step;
use crate::run_control::Progress;

/// The estimate of a measurement's remaining time, corrected by the pace so far.
#[derive(Debug)]
pub struct TimeLeft {
    steps: Vec<Step>,
    /// The part of the estimate that was complete at the first report, because an earlier, resumed
    /// measurement had done it.
    over_before: Option<Duration>,
}

impl TimeLeft {
    /// Creates the estimate for a measurement with these steps.
    pub fn of(steps: Vec<Step>) -> Self {
        Self { steps, over_before: None }
    }

    /// Returns the remaining time at this progress.
    pub fn after(&mut self, progress: Progress) -> Duration {
        let is_it =
            |step: &Step| (step.experiment, step.kind) == (progress.experiment, progress.kind);
        let at = self.steps.iter().position(is_it).unwrap_or(0);
        let part = |step: &Step| scaled(step.time, progress.done, progress.total);
        let over = total(&self.steps[..at]) + self.steps.get(at).map_or(Duration::ZERO, part);
        let before = *self.over_before.get_or_insert(over);
        let left = total(&self.steps).checked_sub(over).unwrap_or(Duration::ZERO);
        let estimated = over.checked_sub(before).unwrap_or(Duration::ZERO);
        // The first percent says little about the pace.
        if u128::from(estimated.ns()) * 100 < u128::from(total(&self.steps).ns()) {
            return left;
        }
        scaled(left, progress.elapsed.ns(), estimated.ns())
    }
}

/// Returns `part / whole` of a time.
fn scaled(time: Duration, part: u64, whole: u64) -> Duration {
    let ns = u128::from(time.ns()) * u128::from(part) / u128::from(whole.max(1));
    Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Returns the total time of all steps.
pub fn total(steps: &[Step]) -> Duration {
    Duration::from_ns(steps.iter().fold(0, |sum: u64, step| sum.saturating_add(step.time.ns())))
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    use super::*;

    fn step(experiment: Experiment, minutes: u64) -> Step {
        let time = Duration::from_ms(minutes * 60_000);
        Step { experiment, kind: None, trials: 100, requests: 100, time }
    }

    #[test]
    fn time_left_follows_the_pace() {
        let steps = vec![step(Experiment::BATCH, 10), step(Experiment::DRAIN, 30)];
        let mut left = TimeLeft::of(steps);
        let mut after = |experiment, done, minutes: u64| {
            let elapsed = Duration::from_ms(minutes * 60_000);
            left.after(Progress { experiment, kind: None, done, total: 100, elapsed }).ns()
        };
        let minutes = |minutes: u64| minutes * 60_000_000_000;
        assert_eq!(after(Experiment::BATCH, 0, 0), minutes(40));
        assert_eq!(after(Experiment::BATCH, 50, 5), minutes(35));
        assert_eq!(after(Experiment::DRAIN, 0, 20), minutes(60), "twice as slow as estimated");
        assert_eq!(after(Experiment::DRAIN, 100, 80), 0);
    }
}

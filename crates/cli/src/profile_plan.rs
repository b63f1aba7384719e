// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `tidegate profile --plan` shows: each experiment, and how long it takes.

use tidegate_measure::{Kind, Progress, Step};
use tidegate_model::Duration;

use crate::profile_json;
use crate::show::{self, out, outln};

/// Prints the steps and their sum.
pub(crate) fn print(steps: &[Step], is_json: bool) {
    if is_json {
        return outln!("{:#}", profile_json::of_plan(steps, total(steps)));
    }
    let row = |step: &Step| {
        vec![
            step.experiment.name().to_owned(),
            step.kind.as_ref().map_or_else(|| "several kinds".to_owned(), Kind::to_string),
            step.trials.to_string(),
            step.requests.to_string(),
            long(step.time),
        ]
    };
    let header = ["experiment", "requests are", "samples", "requests", "takes about"];
    outln!();
    out!("{}", show::table(&header, steps.iter().map(row).collect(), 2));
    outln!();
    show::labelled("Together", &format!("about {}", long(total(steps))));
}

/// How much is left of a measurement: the estimate, corrected by how it went so far.
#[derive(Debug)]
pub(crate) struct TimeLeft {
    steps: Vec<Step>,
    /// What of the estimate was over when the first trial was told of: made by an earlier
    /// measurement that is gone on with.
    over_before: Option<Duration>,
}

impl TimeLeft {
    /// Of such a measurement.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Self { steps, over_before: None }
    }

    /// After that trial.
    pub(crate) fn after(&mut self, progress: Progress) -> Duration {
        let is_it =
            |step: &Step| (step.experiment, step.kind) == (progress.experiment, progress.kind);
        let at = self.steps.iter().position(is_it).unwrap_or(0);
        let part = |step: &Step| {
            let ns = u128::from(step.time.ns()) * u128::from(progress.done);
            Duration::from_ns(
                u64::try_from(ns / u128::from(progress.total.max(1))).unwrap_or(u64::MAX),
            )
        };
        let over = total(&self.steps[..at]) + self.steps.get(at).map_or(Duration::ZERO, part);
        let before = *self.over_before.get_or_insert(over);
        let left = total(&self.steps).checked_sub(over).unwrap_or(Duration::ZERO);
        let estimated = over.checked_sub(before).unwrap_or(Duration::ZERO);
        // The first per cent say little about the pace.
        if u128::from(estimated.ns()) * 100 < u128::from(total(&self.steps).ns()) {
            return left;
        }
        let ns = u128::from(left.ns()) * u128::from(progress.elapsed.ns());
        Duration::from_ns(u64::try_from(ns / u128::from(estimated.ns().max(1))).unwrap_or(u64::MAX))
    }
}

/// The time of all steps.
fn total(steps: &[Step]) -> Duration {
    Duration::from_ns(steps.iter().fold(0, |sum: u64, step| sum.saturating_add(step.time.ns())))
}

/// `2 h 13 min`, `45 s`: no more than the estimate is worth.
pub(crate) fn long(time: Duration) -> String {
    let seconds = time.ns().div_ceil(1_000_000_000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_measure::Experiment;

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

    #[test]
    fn a_long_time_has_two_units() {
        let of = |seconds: u64| long(Duration::from_ms(seconds * 1000));
        assert_eq!([of(0), of(59), of(61), of(3661)], ["0 s", "59 s", "1 min 01 s", "1 h 01 min"]);
        assert_eq!(long(Duration::from_ns(1)), "1 s");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate profile --plan`: each experiment, and its duration.

use serde::Serialize;
use tidegate_measure::{Kind, Step, time_left};
use tidegate_model::{Bytes, Duration, Op};

use crate::ns::Ns;
use crate::page::{Answer, Page, Report};

/// The steps of a measurement and their total time.
#[derive(Serialize)]
pub struct PlanReport {
    plan: Vec<StepReport>,
    time_ns: Ns,
}

#[derive(Serialize)]
struct StepReport {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
    experiment: &'static str,
    samples: u64,
    requests: u64,
    time_ns: Ns,
    #[serde(skip)]
    kind: Option<Kind>,
}

impl PlanReport {
    /// Makes the report on these steps.
    pub fn of(steps: &[Step]) -> Self {
        let step = |step: &Step| StepReport {
            op: step.kind.map(|kind| Op::name(kind.op)),
            size_bytes: step.kind.map(|kind| Bytes::get(kind.size)),
            experiment: step.experiment.name(),
            samples: step.trials,
            requests: step.requests,
            time_ns: step.time.into(),
            kind: step.kind,
        };
        Self { plan: steps.iter().map(step).collect(), time_ns: time_left::total(steps).into() }
    }
}

impl Report for PlanReport {
    fn answer(&self) -> Option<Answer> {
        let time = long(self.time_ns.0);
        Some(Answer::good(format!("The measurement would take about {time}.")))
    }

    fn write(&self, page: &mut Page) {
        let row = |step: &StepReport| {
            vec![
                step.experiment.to_owned(),
                step.kind.as_ref().map_or_else(|| "several kinds".to_owned(), Kind::to_string),
                step.samples.to_string(),
                step.requests.to_string(),
                long(step.time_ns.0),
            ]
        };
        let header = ["experiment", "requests are", "samples", "requests", "takes about"];
        writeln!(page);
        page.table(&header, self.plan.iter().map(row).collect(), 2);
    }
}

/// Formats a duration, for example `2 h 13 min` or `45 s`, with few digits, because it is an
/// estimate.
pub fn long(time: Duration) -> String {
    let seconds = time.ns().div_ceil(1_000_000_000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_has_two_units() {
        let of = |seconds: u64| long(Duration::from_ms(seconds * 1000));
        assert_eq!([of(0), of(59), of(61), of(3661)], ["0 s", "59 s", "1 min 01 s", "1 h 01 min"]);
        assert_eq!(long(Duration::from_ns(1)), "1 s");
    }
}

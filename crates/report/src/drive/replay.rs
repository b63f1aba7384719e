// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive replay`: the accuracy of a simulated drive.

use serde::Serialize;
use tidegate_model::Duration;

use crate::figures::{self, thousands};
use crate::page::{Answer, Page, Report};

/// Quantiles, in thousandths of the requests, with their names.
const QUANTILES: [(u64, &str); 6] = [
    (0, "fastest"),
    (100, "10 %"),
    (500, "median"),
    (900, "90 %"),
    (990, "99 %"),
    (1000, "slowest"),
];

/// Two distributions of response times, and the distance between them.
#[derive(Serialize)]
pub struct ReplayReport<'a> {
    drive: &'a str,
    trace: String,
    seed: u64,
    requests: usize,
    demerit_ms: f64,
    measured_ms_mean: f64,
    measured_ms_min: f64,
    measured_ms_p10: f64,
    measured_ms_p50: f64,
    measured_ms_p90: f64,
    measured_ms_p99: f64,
    measured_ms_max: f64,
    simulated_ms_mean: f64,
    simulated_ms_min: f64,
    simulated_ms_p10: f64,
    simulated_ms_p50: f64,
    simulated_ms_p90: f64,
    simulated_ms_p99: f64,
    simulated_ms_max: f64,
    residuals: Vec<KindResidual>,
    #[serde(skip)]
    demerit: Duration,
    /// The measured and the simulated times.
    #[serde(skip)]
    times: [Times; 2],
}

/// The report of a trace with measured response times, or of one with arrival times only.
#[derive(Serialize)]
#[serde(untagged)]
pub enum AnyReplayReport<'a> {
    /// Simulated times compared with measured times.
    Measured(ReplayReport<'a>),
    /// Only simulated times.
    Arrivals(OpenReplayReport<'a>),
}

/// The mean of simulated minus measured response times for one kind of request.
#[derive(Serialize)]
pub struct KindResidual {
    kind: String,
    requests: u64,
    residual_ms_mean: f64,
    #[serde(skip)]
    mean_ns: i64,
}

/// Response times in rising order.
struct Times(Vec<Duration>);

impl<'a> ReplayReport<'a> {
    /// Reports the measured and the simulated response times of the same requests, at least one;
    /// `demerit` is the distance between the two distributions, and `residuals` are the mean
    /// differences for each kind of request.
    pub fn of(
        (drive, trace, seed): (&'a str, String, u64),
        measured: Vec<Duration>,
        simulated: Vec<Duration>,
        demerit: Duration,
        residuals: Vec<KindResidual>,
    ) -> Self {
        let times = [measured, simulated].map(Times::new);
        let [measured, simulated] = times.each_ref().map(Times::figures);
        Self {
            drive,
            trace,
            seed,
            requests: times[0].0.len(),
            demerit_ms: ms(demerit),
            measured_ms_mean: measured[0],
            measured_ms_min: measured[1],
            measured_ms_p10: measured[2],
            measured_ms_p50: measured[3],
            measured_ms_p90: measured[4],
            measured_ms_p99: measured[5],
            measured_ms_max: measured[6],
            simulated_ms_mean: simulated[0],
            simulated_ms_min: simulated[1],
            simulated_ms_p10: simulated[2],
            simulated_ms_p50: simulated[3],
            simulated_ms_p90: simulated[4],
            simulated_ms_p99: simulated[5],
            simulated_ms_max: simulated[6],
            residuals,
            demerit,
            times,
        }
    }
}

impl KindResidual {
    /// Creates the residual of one kind from its number of requests and the mean difference in
    /// nanoseconds.
    pub fn new(kind: &impl ToString, requests: u64, mean_ns: i64) -> Self {
        let mean = ms(Duration::from_ns(mean_ns.unsigned_abs()));
        let residual_ms_mean = if mean_ns < 0 { -mean } else { mean };
        Self { kind: kind.to_string(), requests, residual_ms_mean, mean_ns }
    }

    fn row(&self) -> Vec<String> {
        let sign = if self.mean_ns < 0 { "-" } else { "+" };
        let mean = figures::ms_ceil(Duration::from_ns(self.mean_ns.unsigned_abs()));
        vec![self.kind.clone(), thousands(self.requests), format!("{sign}{mean}")]
    }
}

/// The simulated response times of a trace that contains arrival times, but no response times of a
/// real drive.
#[derive(Serialize)]
pub struct OpenReplayReport<'a> {
    drive: &'a str,
    trace: String,
    seed: u64,
    requests: usize,
    simulated_ms_mean: f64,
    simulated_ms_min: f64,
    simulated_ms_p10: f64,
    simulated_ms_p50: f64,
    simulated_ms_p90: f64,
    simulated_ms_p99: f64,
    simulated_ms_max: f64,
    #[serde(skip)]
    times: Times,
}

impl<'a> OpenReplayReport<'a> {
    /// Reports the simulated response times of at least one request.
    pub fn of(drive: &'a str, trace: String, seed: u64, simulated: Vec<Duration>) -> Self {
        let times = Times::new(simulated);
        let [mean, min, p10, p50, p90, p99, max] = times.figures();
        Self {
            drive,
            trace,
            seed,
            requests: times.0.len(),
            simulated_ms_mean: mean,
            simulated_ms_min: min,
            simulated_ms_p10: p10,
            simulated_ms_p50: p50,
            simulated_ms_p90: p90,
            simulated_ms_p99: p99,
            simulated_ms_max: max,
            times,
        }
    }
}

impl Report for AnyReplayReport<'_> {
    fn answer(&self) -> Option<Answer> {
        match self {
            Self::Measured(report) => report.answer(),
            Self::Arrivals(report) => report.answer(),
        }
    }

    fn write(&self, page: &mut Page) {
        match self {
            Self::Measured(report) => report.write(page),
            Self::Arrivals(report) => report.write(page),
        }
    }
}

impl Report for OpenReplayReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let requests = thousands(self.requests as u64);
        let mean = figures::ms_ceil(self.times.mean());
        Some(Answer::doubtful(format!(
            "SIMULATED ONLY: {requests} requests took {mean} on average; the trace has no measured \
             times to compare."
        )))
    }

    fn write(&self, page: &mut Page) {
        let requests = thousands(self.requests as u64);
        writeln!(page);
        page.labelled("Drive", self.drive);
        page.labelled("Trace", format!("{}, {requests} requests, as they arrive", self.trace));
        page.labelled("Seed", self.seed);
        writeln!(page);
        let row = |name: &str, time| vec![name.to_owned(), figures::ms_ceil(time)];
        let mut rows = vec![row("mean", self.times.mean())];
        rows.extend(QUANTILES.map(|(share, name)| row(name, self.times.quantile(share))));
        page.table(&["response", "simulated"], rows, 1);
    }
}

impl Report for ReplayReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let [measured, _] = &self.times;
        let ppm = u128::from(self.demerit.ns()) * 1000 / u128::from(measured.mean().ns().max(1));
        Some(Answer::good(format!(
            "DEMERIT: the simulated response times lie {} from the measured ones, {}.{} % of their \
             mean, as the distance between the distributions.",
            figures::ms_ceil(self.demerit),
            ppm / 10,
            ppm % 10
        )))
    }

    fn write(&self, page: &mut Page) {
        let [measured, simulated] = &self.times;
        let requests = thousands(self.requests as u64);
        writeln!(page);
        page.labelled("Drive", self.drive);
        page.labelled("Trace", format!("{}, {requests} requests, one at a time", self.trace));
        page.labelled("Seed", self.seed);
        writeln!(page);
        let mean = row("mean", measured.mean(), simulated.mean());
        let quantiles = QUANTILES
            .iter()
            .map(|&(share, name)| row(name, measured.quantile(share), simulated.quantile(share)));
        let rows = std::iter::once(mean).chain(quantiles).collect();
        let header = ["response", "measured", "simulated", "difference"];
        page.table(&header, rows, 1);
        writeln!(page);
        let rows = self.residuals.iter().map(KindResidual::row).collect();
        page.table(&["kind of request", "requests", "simulated less measured"], rows, 1);
    }
}

impl Times {
    /// Sorts the times, of which there must be at least one.
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn mean(&self) -> Duration {
        let sum: u128 = self.0.iter().map(|time| u128::from(time.ns())).sum();
        let mean = sum / self.0.len() as u128;
        Duration::from_ns(u64::try_from(mean).expect("not above the longest"))
    }

    /// Returns the shortest time that `share` thousandths of the requests do not exceed.
    fn quantile(&self, share: u64) -> Duration {
        let rank = (self.0.len() as u64 * share).div_ceil(1000).max(1);
        self.0[usize::try_from(rank).expect("within the list") - 1]
    }

    /// Returns the mean and the quantiles, in milliseconds.
    fn figures(&self) -> [f64; 7] {
        let [min, p10, p50, p90, p99, max] = QUANTILES.map(|(share, _)| ms(self.quantile(share)));
        [ms(self.mean()), min, p10, p50, p90, p99, max]
    }
}

fn row(name: &str, measured: Duration, simulated: Duration) -> Vec<String> {
    let (sign, difference) = match simulated.checked_sub(measured) {
        Some(more) => ("+", more),
        None => ("-", measured - simulated),
    };
    let times = [measured, simulated].map(figures::ms_ceil);
    let [measured, simulated] = times;
    vec![name.to_owned(), measured, simulated, format!("{sign}{}", figures::ms_ceil(difference))]
}

/// Converts to milliseconds, with all digits.
fn ms(time: Duration) -> f64 {
    let text = format!("{}.{:06}", time.ns() / 1_000_000, time.ns() % 1_000_000);
    text.parse::<f64>().expect("a decimal number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ns: &[u64]) -> Times {
        Times::new(ns.iter().copied().map(Duration::from_ns).collect())
    }

    #[test]
    fn quantiles_are_times_that_were_seen() {
        let times = times(&[40, 10, 30, 20]);
        let seen = [0, 250, 251, 500, 999, 1000].map(|share| times.quantile(share).ns());
        assert_eq!(seen, [10, 10, 20, 20, 40, 40]);
        assert_eq!(times.mean().ns(), 25);
    }

    #[test]
    fn milliseconds_keep_their_nanoseconds() {
        assert_eq!(ms(Duration::from_ns(378_123)).to_string(), "0.378123");
        assert_eq!(ms(Duration::from_ns(9_630_000)).to_string(), "9.63");
    }
}

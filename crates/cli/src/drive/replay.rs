// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive replay`: how true a simulated drive is to a measured one.

use std::path::Path;

use serde_json::{Value, json};
use tidegate_model::{DriveFile, Duration, FileError};
use tidegate_sim::replay::{TraceError, TraceRequest, demerit, read_trace};

use super::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::plot::axis::thousands;
use crate::show::{self, out, outln};
use crate::{input, text_file};

/// Shares of the requests, in thousandths, with their names.
const QUANTILES: [(u64, &str, &str); 6] = [
    (0, "fastest", "min"),
    (100, "10 %", "p10"),
    (500, "median", "p50"),
    (900, "90 %", "p90"),
    (990, "99 %", "p99"),
    (1000, "slowest", "max"),
];

/// Two distributions of response times and the distance between them.
struct Comparison {
    measured: Times,
    simulated: Times,
    demerit: Duration,
}

/// Response times in order.
struct Times(Vec<Duration>);

/// Runs the command.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let file = input::drive_named(&arguments.drive)?;
    let trace = trace(&arguments.trace)?;
    let comparison = compare(&file, &trace, arguments.seed)?;
    if arguments.json {
        outln!("{:#}", comparison.to_json(arguments, &file));
    } else {
        comparison.print(arguments, &file);
    }
    Ok(())
}

fn trace(path: &Path) -> Result<Vec<TraceRequest>, Failure> {
    let text = text_file::read(path).map_err(|error| {
        Failure::input(
            format!("cannot read the trace {}: {error}", path.display()),
            "name a file that exists and may be read",
        )
    })?;
    match read_trace(&text) {
        Ok(trace) if trace.is_empty() => Err(Failure::input(
            format!("{}: there is no request in it", path.display()),
            "give a trace with lines as `R tag sector sectors measured_us idle_us`",
        )),
        Ok(trace) => Ok(trace),
        Err(error) => {
            let fault = fault(&text, &error);
            Err(Failure::in_file(path, text, &fault))
        }
    }
}

/// The fault with its line.
fn fault(text: &str, error: &TraceError) -> FileError {
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(error.line - 1).map(str::len).sum();
    let length = lines.next().map_or(0, |line| line.trim_end().len());
    let help = "write `R tag sector sectors measured_us idle_us`, or W for a write";
    FileError::new(start..start + length, error.what.clone(), help)
}

fn compare(file: &DriveFile, trace: &[TraceRequest], seed: u64) -> Result<Comparison, Failure> {
    let Some(kind) = tidegate_drive::parts_of(file) else {
        return Err(Failure::input(
            format!("`{}` has tables only: nothing says where its sectors lie", file.name),
            "name a drive with [mechanics] or [ssd], for example one that `tidegate drive import` made",
        ));
    };
    let mut drive =
        tidegate_drive::from_parts(kind, file, seed).map_err(|error| Failure::unusable(&error))?;
    let simulated = tidegate_sim::replay::replay(&mut *drive, trace)
        .map_err(|error| Failure::unusable(&error))?;
    let measured: Vec<Duration> = trace.iter().map(|request| request.measured).collect();
    let demerit = demerit(&measured, &simulated);
    Ok(Comparison { measured: Times::new(measured), simulated: Times::new(simulated), demerit })
}

impl Times {
    /// At least one.
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn mean(&self) -> Duration {
        let sum: u128 = self.0.iter().map(|time| u128::from(time.ns())).sum();
        let mean = sum / self.0.len() as u128;
        Duration::from_ns(u64::try_from(mean).expect("not above the longest"))
    }

    /// The least time that so many thousandths of the requests do not exceed.
    fn quantile(&self, share: u64) -> Duration {
        let rank = (self.0.len() as u64 * share).div_ceil(1000).max(1);
        self.0[usize::try_from(rank).expect("within the list") - 1]
    }
}

impl Comparison {
    fn print(&self, arguments: &ReplayArguments, file: &DriveFile) {
        let requests = thousands(self.measured.0.len() as u64);
        show::labelled("Drive", &file.name);
        let trace = arguments.trace.display();
        show::labelled("Trace", &format!("{trace}, {requests} requests, one at a time"));
        show::labelled("Seed", &arguments.seed.to_string());
        outln!();
        let mean = row("mean", self.measured.mean(), self.simulated.mean());
        let quantiles = QUANTILES.iter().map(|&(share, name, _)| {
            row(name, self.measured.quantile(share), self.simulated.quantile(share))
        });
        let rows = std::iter::once(mean).chain(quantiles).collect();
        let header = ["response", "measured", "simulated", "difference"];
        out!("{}", show::table(&header, rows, 1));
        outln!();
        let ppm =
            u128::from(self.demerit.ns()) * 1000 / u128::from(self.measured.mean().ns().max(1));
        show::labelled(
            "Demerit",
            &format!(
                "{}, {}.{} % of the measured mean: how far the distributions are apart",
                show::ms_ceil(self.demerit),
                ppm / 10,
                ppm % 10
            ),
        );
    }

    fn to_json(&self, arguments: &ReplayArguments, file: &DriveFile) -> Value {
        let mut value = json!({
            "drive": file.name,
            "trace": arguments.trace.display().to_string(),
            "seed": arguments.seed,
            "requests": self.measured.0.len(),
            "demerit_ms": ms(self.demerit),
        });
        for (who, times) in [("measured", &self.measured), ("simulated", &self.simulated)] {
            value[format!("{who}_ms_mean")] = ms(times.mean());
            for (share, _, name) in QUANTILES {
                value[format!("{who}_ms_{name}")] = ms(times.quantile(share));
            }
        }
        value
    }
}

fn row(name: &str, measured: Duration, simulated: Duration) -> Vec<String> {
    let (sign, difference) = match simulated.checked_sub(measured) {
        Some(more) => ("+", more),
        None => ("-", measured - simulated),
    };
    let times = [measured, simulated].map(show::ms_ceil);
    let [measured, simulated] = times;
    vec![name.to_owned(), measured, simulated, format!("{sign}{}", show::ms_ceil(difference))]
}

/// Milliseconds as a number with all its digits.
fn ms(time: Duration) -> Value {
    let text = format!("{}.{:06}", time.ns() / 1_000_000, time.ns() % 1_000_000);
    text.parse::<f64>().expect("a decimal number").into()
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

    #[test]
    fn a_faulty_line_of_a_trace_is_found() {
        let text = "# head\nR Hit 1 2 3.0 4.0\nR Hit\n";
        let fault = fault(text, &read_trace(text).unwrap_err());
        assert_eq!(&text[fault.span], "R Hit");
        assert!(fault.message.contains("2 columns"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Replays a trace on a simulated drive, either to compare it with measured times, or by sending
//! its requests as they arrive.

use std::fmt::Write as _;
use std::path::Path;

use tidegate_drive::Drive;
use tidegate_model::drive_file::Parts;
use tidegate_model::{DriveFile, Duration, FileError, Op};
use tidegate_report::drive::{AnyReplayReport, KindResidual, OpenReplayReport, ReplayReport};
use tidegate_sim::replay::{
    Arrival, RequestKind, TraceError, TraceFormat, TraceRequest, demerit, read_arrivals,
    read_trace as read_measured, replay as replay_measured, replay_open, residuals,
};

use crate::fault::Faults;
use crate::text::read_text;

/// A trace with at least one request.
pub enum Trace {
    /// Requests with the response times of a real drive.
    Measured(Vec<TraceRequest>),
    /// Requests with arrival times.
    Arrivals(Vec<Arrival>),
}

/// A trace, and the response times of its requests on a simulated drive.
pub struct Replayed {
    trace: Trace,
    simulated: Vec<Duration>,
}

/// Reads a trace with arrival times in this `format`; without a format, reads a trace with measured
/// response times.
///
/// # Errors
/// If the file cannot be read or has no request, or the first faulty line.
pub fn read_trace(path: &Path, format: Option<TraceFormat>) -> Result<Trace, Faults> {
    let text = read_text(path, "trace")?;
    let help = format.map_or(
        "write `R tag sector sectors measured_us idle_us`, W for a write, or name another format",
        TraceFormat::help,
    );
    let trace = match format {
        None => read_measured(&text).map(Trace::Measured),
        Some(format) => read_arrivals(&text, format).map(Trace::Arrivals),
    };
    let in_file = |error| Faults::in_file(path, &text, &fault(&text, &error, help));
    let trace = trace.map_err(in_file)?;
    if trace.is_empty() {
        return Err(Faults::one(format!("{} contains no request", path.display()), help));
    }
    Ok(trace)
}

/// Replays a trace. If it has measured times, one request is sent at a time; otherwise requests are
/// sent as they arrive.
///
/// # Errors
/// If the drive has only tables, cannot be simulated, or cannot serve a request.
pub fn replay(file: &DriveFile, trace: Trace, seed: u64) -> Result<Replayed, Faults> {
    let mut drive = simulated_drive(file, seed)?;
    let simulated = match &trace {
        Trace::Measured(trace) => replay_measured(&mut *drive, trace),
        Trace::Arrivals(trace) => replay_open(&mut *drive, file.depth, trace),
    };
    let simulated = simulated.map_err(|error| Faults::unusable(&error))?;
    Ok(Replayed { trace, simulated })
}

impl Trace {
    const fn is_empty(&self) -> bool {
        match self {
            Self::Measured(trace) => trace.is_empty(),
            Self::Arrivals(trace) => trace.is_empty(),
        }
    }
}

impl Replayed {
    /// Returns the report. `about` holds the drive's name, the trace's name, and the seed.
    pub fn report<'a>(&self, about: (&'a str, String, u64)) -> AnyReplayReport<'a> {
        let simulated = self.simulated.clone();
        match &self.trace {
            Trace::Measured(trace) => {
                let measured: Vec<Duration> = trace.iter().map(|it| it.measured).collect();
                let demerit = demerit(&measured, &simulated);
                let kinds = residuals(trace, &simulated);
                let kinds =
                    kinds.iter().map(|it| KindResidual::new(&it.kind, it.count, it.mean_ns));
                let kinds = kinds.collect();
                let report = ReplayReport::of(about, measured, simulated, demerit, kinds);
                AnyReplayReport::Measured(report)
            }
            Trace::Arrivals(_) => {
                let (drive, trace, seed) = about;
                AnyReplayReport::Arrivals(OpenReplayReport::of(drive, trace, seed, simulated))
            }
        }
    }

    /// Returns the requests as CSV, one row each: the request, the time at which it was issued, and
    /// its response times.
    pub fn rows(&self) -> String {
        match &self.trace {
            Trace::Measured(trace) => measured_rows(trace, &self.simulated),
            Trace::Arrivals(trace) => arrival_rows(trace, &self.simulated),
        }
    }
}

/// Converts a trace error to an error at its line of the file.
fn fault(text: &str, error: &TraceError, help: &str) -> FileError {
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(error.line - 1).map(str::len).sum();
    let length = lines.next().map_or(0, |line| line.trim_end().len());
    FileError::new(start..start + length, error.what.clone(), help)
}

fn simulated_drive(file: &DriveFile, seed: u64) -> Result<Box<dyn Drive>, Faults> {
    let Some(kind) = file.parts().map(Parts::kind) else {
        return Err(Faults::one(
            format!(
                "`{}` has only tables, which do not give the positions of its sectors",
                file.name
            ),
            "name a drive with [mechanics] or [ssd]: `tidegate drive list` shows the built-in ones",
        ));
    };
    let drive = tidegate_drive::from_parts(kind, file, seed);
    drive.map_err(|error| Faults::unusable(&error)).map(|drive| drive as Box<dyn Drive>)
}

fn op_word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
    }
}

fn measured_rows(trace: &[TraceRequest], simulated: &[Duration]) -> String {
    let mut rows = String::from(
        "request,kind,sector,sectors,issued_ns,measured_ns,simulated_ns,difference_ns\n",
    );
    let mut issued_ns = 0_u64;
    let kinds = std::iter::once(None).chain(RequestKind::of_each(trace).map(Some));
    for (index, ((request, simulated), kind)) in trace.iter().zip(simulated).zip(kinds).enumerate()
    {
        let kind = kind.map_or(op_word(request.op).to_owned(), |it| it.to_string());
        let TraceRequest { start, sectors, measured, idle_after, .. } = request;
        let difference = i128::from(simulated.ns()) - i128::from(measured.ns());
        // A comma in the kind would begin another column.
        let kind = kind.replace(',', "");
        let _ = writeln!(
            rows,
            "{},{kind},{},{sectors},{issued_ns},{},{},{difference}",
            index + 1,
            start.get(),
            measured.ns(),
            simulated.ns()
        );
        issued_ns += simulated.ns() + idle_after.ns();
    }
    rows
}

fn arrival_rows(trace: &[Arrival], simulated: &[Duration]) -> String {
    let mut rows = String::from("request,kind,sector,sectors,issued_ns,simulated_ns\n");
    for (index, (arrival, simulated)) in trace.iter().zip(simulated).enumerate() {
        let Arrival { at, op, start, sectors } = *arrival;
        let _ = writeln!(
            rows,
            "{},{},{},{sectors},{},{}",
            index + 1,
            op_word(op),
            start.get(),
            at.ns(),
            simulated.ns()
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faulty_line_of_a_trace_is_found() {
        let text = "# head\nR Hit 1 2 3.0 4.0\nR Hit\n";
        let fault = fault(text, &read_measured(text).unwrap_err(), "");
        assert_eq!(&text[fault.span], "R Hit");
        assert!(fault.message.contains("2 columns"));
    }
}

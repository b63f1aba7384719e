// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive replay`: compares a simulated drive with a measured trace, or sends it the
//! requests of a trace as they arrive.

use std::fmt::Write as _;
use std::path::Path;

use tidegate_commands::{NamedDrive, read_text};
use tidegate_drive::Drive;
use tidegate_model::drive_file::Parts;
use tidegate_model::{DriveFile, Duration, FileError, Op};
use tidegate_platform::NewFile;
use tidegate_report::drive::{KindResidual, OpenReplayReport, ReplayReport};
use tidegate_sim::replay::{
    Arrival, RequestKind, TraceError, TraceFormat, TraceRequest, demerit, read_arrivals,
    read_trace, replay_open, residuals,
};

use super::arguments::{Format, ReplayArguments};
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let file = NamedDrive::new(&arguments.drive)?.file;
    let csv = arguments.csv.as_deref().map(NewFile::prepare).transpose();
    let csv = csv.map_err(|fault| Failure::of_file(&fault))?;
    let text = read_text(&arguments.trace, "trace")?;
    let rows = match format(arguments.format) {
        None => {
            let trace = whole(read_trace(&text), &text, arguments)?;
            let simulated = compare(&file, &trace, arguments)?;
            csv.is_some().then(|| measured_rows(&trace, &simulated))
        }
        Some(format) => {
            let trace = whole(read_arrivals(&text, format), &text, arguments)?;
            let simulated = serve(&file, &trace, arguments)?;
            csv.is_some().then(|| arrival_rows(&trace, &simulated))
        }
    };
    let Some((csv, rows)) = csv.zip(rows) else { return Ok(()) };
    csv.write(&rows).map_err(|fault| Failure::of_file(&fault))
}

/// Returns the format of a trace with arrival times; `None` for one with measured response times.
fn format(format: Format) -> Option<TraceFormat> {
    match format {
        Format::Measured => None,
        Format::Disksim => Some(TraceFormat::Disksim),
        Format::Mqsim => Some(TraceFormat::Mqsim),
        Format::Spc => Some(TraceFormat::Spc),
        Format::Msr => Some(TraceFormat::Msr),
        Format::Blkparse => Some(TraceFormat::Blkparse),
    }
}

fn help(wanted: Format) -> &'static str {
    match wanted {
        Format::Measured => {
            "write `R tag sector sectors measured_us idle_us`, W for a write, or name another --format"
        }
        Format::Disksim => "write `arrival_ms device sector sectors flags`; flag 1 is a read",
        Format::Mqsim => "write `arrival_ns device sector sectors flag`; flag 1 is a read",
        Format::Spc => "write `unit,sector,bytes,R|W,arrival_s`",
        Format::Msr => "write `ticks,host,disk,Read|Write,byte,bytes,response`",
        Format::Blkparse => "give the text output of blkparse with its Q lines",
    }
}

/// Returns a trace that was read whole and is not empty.
fn whole<T>(
    read: Result<Vec<T>, TraceError>,
    text: &str,
    arguments: &ReplayArguments,
) -> Result<Vec<T>, Failure> {
    let (path, help): (&Path, _) = (&arguments.trace, help(arguments.format));
    match read {
        Ok(trace) if trace.is_empty() => {
            Err(Failure::input(format!("{} contains no request", path.display()), help))
        }
        Ok(trace) => Ok(trace),
        Err(error) => Err(Failure::in_file(path, text, &fault(text, &error, help))),
    }
}

/// Returns the error with its line.
fn fault(text: &str, error: &TraceError, help: &str) -> FileError {
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(error.line - 1).map(str::len).sum();
    let length = lines.next().map_or(0, |line| line.trim_end().len());
    FileError::new(start..start + length, error.what.clone(), help)
}

fn simulated_drive(file: &DriveFile, seed: u64) -> Result<Box<dyn Drive>, Failure> {
    let Some(kind) = file.parts().map(Parts::kind) else {
        return Err(Failure::input(
            format!(
                "`{}` has only tables, which do not give the positions of its sectors",
                file.name
            ),
            "name a drive with [mechanics] or [ssd]: `tidegate drive list` shows the built-in ones",
        ));
    };
    let drive = tidegate_drive::from_parts(kind, file, seed);
    drive.map_err(|error| Failure::unusable(&error)).map(|drive| drive as Box<dyn Drive>)
}

/// Replays one request at a time and reports the comparison; returns the simulated times.
fn compare(
    file: &DriveFile,
    trace: &[TraceRequest],
    arguments: &ReplayArguments,
) -> Result<Vec<Duration>, Failure> {
    let mut drive = simulated_drive(file, arguments.seed)?;
    let simulated = tidegate_sim::replay::replay(&mut *drive, trace)
        .map_err(|error| Failure::unusable(&error))?;
    let measured: Vec<Duration> = trace.iter().map(|request| request.measured).collect();
    let demerit = demerit(&measured, &simulated);
    let kinds = residuals(trace, &simulated);
    let kinds = kinds.iter().map(|it| KindResidual::new(&it.kind, it.count, it.mean_ns)).collect();
    let about = (file.name.as_str(), arguments.trace.display().to_string(), arguments.seed);
    let report = ReplayReport::of(about, measured, simulated.clone(), demerit, kinds);
    show::report_in(&report, arguments.form);
    Ok(simulated)
}

/// Replays requests as they arrive, reports their times, and returns these times.
fn serve(
    file: &DriveFile,
    trace: &[Arrival],
    arguments: &ReplayArguments,
) -> Result<Vec<Duration>, Failure> {
    let mut drive = simulated_drive(file, arguments.seed)?;
    let simulated =
        replay_open(&mut *drive, file.depth, trace).map_err(|error| Failure::unusable(&error))?;
    let (name, trace) = (file.name.as_str(), arguments.trace.display().to_string());
    let report = OpenReplayReport::of(name, trace, arguments.seed, simulated.clone());
    show::report_in(&report, arguments.form);
    Ok(simulated)
}

fn op_word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
    }
}

/// Returns a row for each request: what it is, when it was issued, and both times.
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
        // A comma of the kind would end its column.
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
        let fault = fault(text, &read_trace(text).unwrap_err(), "");
        assert_eq!(&text[fault.span], "R Hit");
        assert!(fault.message.contains("2 columns"));
    }
}

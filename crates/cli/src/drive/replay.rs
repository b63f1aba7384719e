// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive replay`: compares a simulated drive with a measured trace.

use std::path::Path;

use tidegate_model::drive_file::Parts;
use tidegate_model::{DriveFile, Duration, FileError};
use tidegate_report::drive::ReplayReport;
use tidegate_sim::replay::{TraceError, TraceRequest, demerit, read_trace};

use super::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::{input, show, text_input};

/// Runs the command.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let file = input::drive_named(&arguments.drive)?;
    let trace = trace(&arguments.trace)?;
    show::report(&compare(&file, &trace, arguments)?, arguments.json);
    Ok(())
}

fn trace(path: &Path) -> Result<Vec<TraceRequest>, Failure> {
    let text = text_input::read_named(path, "trace")?;
    match read_trace(&text) {
        Ok(trace) if trace.is_empty() => Err(Failure::input(
            format!("{} contains no request", path.display()),
            "give a trace with lines like `R tag sector sectors measured_us idle_us`",
        )),
        Ok(trace) => Ok(trace),
        Err(error) => {
            let fault = fault(&text, &error);
            Err(Failure::in_file(path, text, &fault))
        }
    }
}

/// Returns the error with its line.
fn fault(text: &str, error: &TraceError) -> FileError {
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(error.line - 1).map(str::len).sum();
    let length = lines.next().map_or(0, |line| line.trim_end().len());
    let help = "write `R tag sector sectors measured_us idle_us`, or W for a write";
    FileError::new(start..start + length, error.what.clone(), help)
}

fn compare<'a>(
    file: &'a DriveFile,
    trace: &[TraceRequest],
    arguments: &ReplayArguments,
) -> Result<ReplayReport<'a>, Failure> {
    let Some(kind) = file.parts().map(Parts::kind) else {
        return Err(Failure::input(
            format!(
                "`{}` has only tables, which do not give the positions of its sectors",
                file.name
            ),
            "name a drive with [mechanics] or [ssd], for example one from `tidegate drive import`",
        ));
    };
    let mut drive = tidegate_drive::from_parts(kind, file, arguments.seed)
        .map_err(|error| Failure::unusable(&error))?;
    let simulated = tidegate_sim::replay::replay(&mut *drive, trace)
        .map_err(|error| Failure::unusable(&error))?;
    let measured: Vec<Duration> = trace.iter().map(|request| request.measured).collect();
    let demerit = demerit(&measured, &simulated);
    let about = (file.name.as_str(), arguments.trace.display().to_string(), arguments.seed);
    Ok(ReplayReport::of(about, measured, simulated, demerit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faulty_line_of_a_trace_is_found() {
        let text = "# head\nR Hit 1 2 3.0 4.0\nR Hit\n";
        let fault = fault(text, &read_trace(text).unwrap_err());
        assert_eq!(&text[fault.span], "R Hit");
        assert!(fault.message.contains("2 columns"));
    }
}

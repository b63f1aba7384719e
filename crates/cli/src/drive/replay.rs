// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive replay`: compares a simulated drive with a measured trace, or sends it the
//! requests of a trace at their arrival times.

use tidegate_commands::{NamedDrive, read_trace};
use tidegate_platform::NewFile;
use tidegate_sim::replay::TraceFormat;

use super::arguments::{Format, ReplayArguments};
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let file = NamedDrive::new(&arguments.drive)?.file;
    let csv = arguments.csv.as_deref().map(NewFile::prepare).transpose();
    let csv = csv.map_err(|fault| Failure::of_file(&fault))?;
    let trace = read_trace(&arguments.trace, format(arguments.format))?;
    let replayed = tidegate_commands::replay(&file, trace, arguments.seed)?;
    let about = (&*file.name, arguments.trace.display().to_string(), arguments.seed);
    show::report_in(&replayed.report(about), arguments.form);
    let Some(csv) = csv else { return Ok(()) };
    csv.write(&replayed.rows()).map_err(|fault| Failure::of_file(&fault))
}

/// Returns the format of a trace with arrival times; `None` for the format with measured response
/// times.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive import`: makes a drive file from the parameter files of DiskSim or DIXtrac.

use std::path::Path;

use tidegate_measure::{Expected, OutputFile};
use tidegate_report::drive::ImportReport;

use super::arguments::ImportArguments;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn import(arguments: &ImportArguments) -> Result<(), Failure> {
    // The output must be a new file, so that no input file can be overwritten.
    let output = OutputFile::prepare(&arguments.output, Expected::Nothing, Path::new(""))
        .map_err(Failure::of_output)?;
    let import = tidegate_commands::import(&arguments.paths, arguments.name.as_deref())?;
    output.publish(&import.drive, &[]).map_err(Failure::of_output)?;
    let name = output.name();
    let report = ImportReport::of(&import.drive, &import.report, Some(&name));
    show::report_in(&report, arguments.form);
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive import`: makes a drive file from the parameter files of DiskSim or DIXtrac.

use std::path::Path;

use tidegate_disksim::{Import, ImportError};
use tidegate_measure::{Expected, OutputFile};
use tidegate_report::drive::ImportReport;

use super::arguments::ImportArguments;
use super::disk_files::DiskFiles;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn import(arguments: &ImportArguments) -> Result<(), Failure> {
    // The output must be a new file, so no input file can be overwritten.
    let output = OutputFile::prepare(&arguments.output, Expected::Nothing, Path::new(""))
        .map_err(Failure::of_output)?;
    let Import { mut drive, report } =
        tidegate_disksim::import(&arguments.paths, &DiskFiles).map_err(failure)?;
    if let Some(name) = &arguments.name {
        drive.name.clone_from(name);
    }
    output.publish(&drive, &[]).map_err(Failure::of_output)?;
    show::report_in(&ImportReport::of(&drive, &report, &output.name()), arguments.form);
    Ok(())
}

fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::Faulty(fault) => Failure::in_file(&fault.path, &fault.text, &fault.error),
        error => Failure::input(error.to_string(), error.help()),
    }
}

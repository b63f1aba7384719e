// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive list`: lists the built-in drives.

use tidegate_model::DriveFile;
use tidegate_report::drive::ListReport;

use super::arguments::ListArguments;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let drives: Vec<DriveFile> = tidegate_drive::builtin::names()
        .map(|name| tidegate_drive::builtin::load(name).map_err(|error| Failure::unusable(&error)))
        .collect::<Result<_, Failure>>()?;
    show::report_in(&ListReport::of(&drives), arguments.form);
    Ok(())
}

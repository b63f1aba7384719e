// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive show`: shows a drive, with plots.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tidegate_commands::{NamedDrive, quoted};
use tidegate_drive::BuildError;
use tidegate_model::DriveFile;
use tidegate_model::mechanics::MechanicsError;
use tidegate_report::drive::ShowReport;

use super::arguments::ShowArguments;
use crate::failure::Failure;
use crate::show::{self, outln};

/// Runs the command.
pub(crate) fn show(arguments: &ShowArguments) -> Result<(), Failure> {
    let file = NamedDrive::new(&arguments.drive)?.file;
    let report = ShowReport::of(&file).map_err(unfit)?;
    if let Some(path) = &arguments.svg {
        write_svg(path, (&arguments.drive, &file), &report)?;
    }
    show::report_in(&report, arguments.form);
    if let Some(path) = arguments.svg.as_ref().filter(|_| arguments.form.is_full()) {
        outln!();
        show::labelled("Written", &path.display().to_string());
    }
    Ok(())
}

/// Converts the error of mechanics that contradict each other.
fn unfit(error: MechanicsError) -> Failure {
    Failure::unusable(&BuildError::from(error))
}

fn write_svg(
    path: &Path,
    (name, file): (&str, &DriveFile),
    report: &ShowReport<'_>,
) -> Result<(), Failure> {
    let picture = report.draw().ok_or_else(|| {
        Failure::input(
            format!("`{}` has nothing to plot: no mechanics, no tables", file.name),
            format!("leave --svg out: `tidegate drive show {}`", quoted(name)),
        )
    })?;
    let write = || File::create_new(path)?.write_all(picture.as_bytes());
    write().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(
            format!("{} exists; existing files are never overwritten", path.display()),
            "name a new file",
        ),
        _ => Failure::input(
            format!("cannot write {}: {error}", path.display()),
            "name a file in an existing, writable folder",
        ),
    })
}

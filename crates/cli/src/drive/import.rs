// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive import`: a drive file from the parameter files of DiskSim or DIXtrac.

use std::path::Path;

use tidegate_disksim::{IgnoredParameter, Import, ImportError, Report, UsedFile};
use tidegate_model::DriveFile;

use super::arguments::ImportArguments;
use super::disk_files::DiskFiles;
use super::facts;
use super::paragraph::{self, under};
use crate::failure::Failure;
use crate::output_file::{Expected, OutputFile};

/// Runs the command.
pub(crate) fn import(arguments: &ImportArguments) -> Result<(), Failure> {
    // Nothing that exists is overwritten, so no given file is.
    let output = OutputFile::prepare(&arguments.output, Expected::Nothing, Path::new(""))?;
    let Import { mut drive, report } =
        tidegate_disksim::import(&arguments.paths, &DiskFiles).map_err(failure)?;
    if let Some(name) = &arguments.name {
        drive.name.clone_from(name);
    }
    output.publish(&drive, &[])?;
    print(&drive, &report, &output.name());
    Ok(())
}

fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::Faulty(fault) => Failure::in_file(&fault.path, fault.text, &fault.error),
        error => Failure::input(error.to_string(), error.help()),
    }
}

fn print(drive: &DriveFile, report: &Report, output: &str) {
    let mut facts = vec![("Imported", facts::sentence(drive))];
    facts.extend(under("Used", used(&report.used)));
    facts.extend(under("Left out", left_out(&report.ignored)));
    facts.extend(under("Not found", report.missing.iter().cloned()));
    facts.extend(under("Note", report.notes.iter().cloned()));
    facts.push(("Written", output.to_owned()));
    paragraph::print(&facts);
}

/// Each file, what it gave, and how it was found if it was not given.
fn used(used: &[UsedFile]) -> Vec<String> {
    let line = |file: &UsedFile| {
        let how = file.how.as_ref().map_or(String::new(), |how| format!(" ({how})"));
        format!("{}: {}{how}", file.path.display(), file.kind.gives())
    };
    used.iter().map(line).collect()
}

/// What the files say and the drive does not do.
fn left_out(ignored: &[IgnoredParameter]) -> Vec<String> {
    if ignored.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> = ignored
        .iter()
        .map(|one| vec![format!("{} = {}", one.name, one.value), format!("({})", one.block)])
        .collect();
    let reason = "The simulated drive has no part that these would change.".to_owned();
    paragraph::aligned(&rows).into_iter().chain([reason]).collect()
}

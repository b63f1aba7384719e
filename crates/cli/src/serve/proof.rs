// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The proof of a serve file's contracts. `serve` prints it before it starts, and `check` prints it
//! without needing the store.

use std::path::Path;

use tidegate_commands::{NamedDrive, beside, completed};
use tidegate_engine::serve::{Margin, Prepared};
use tidegate_model::ServeFile;
use tidegate_report::CheckReport;

use crate::failure::Failure;

/// Reads a serve file and its drive, and tries to prove the contracts. The backing need not exist.
pub(crate) fn read(path: &Path, margin: Option<Margin>) -> Result<Prepared, Failure> {
    let prepared = Prepared::read_with(path, margin).map_err(super::failure)?;
    prepared.check_exports().map_err(super::failure)?;
    Ok(prepared)
}

/// Returns the report on the file's contracts; `None` if none is a promise. `more` is the command
/// that prints all details.
pub(crate) fn report<'a>(
    prepared: &'a Prepared,
    path: &Path,
    more: String,
) -> Option<CheckReport<'a>> {
    let (workload, _) = prepared.proof().filter(|_| prepared.file().has_promises())?;
    let changes = if prepared.is_proven() { Vec::new() } else { prepared.what_would_fit() };
    let report = CheckReport::of(workload, workload.policy).with_changes(changes);
    Some(match known_drive(prepared.file(), path) {
        Some((name, drive)) => {
            report.with_commands(|text| completed(text, &drive.file, Some(&name)), more)
        }
        None => report,
    })
}

/// Returns the drive that a serve file names, and its name for messages.
pub(crate) fn known_drive(file: &ServeFile, path: &Path) -> Option<(String, NamedDrive)> {
    let name = beside(path, file.drive_reference()?.get_ref());
    let drive = NamedDrive::new(&name).ok()?;
    Some((name, drive))
}

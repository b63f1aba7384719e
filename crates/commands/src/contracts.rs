// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proves the contracts of serve files on drives, without a server or its store.

use std::path::Path;

use tidegate_analysis::proves;
use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, DriveFile, FileError, FileKind, ServeFile};

use crate::fault::Faults;
use crate::processor::add_interference;
use crate::text::WorkloadFault;

/// The block size of a drive whose file does not state it.
const ALIGNMENT: Bytes = Bytes::new(512);

/// Returns whether the contracts of a serve file with this `text` are proved on the drive and its
/// exports fit there, if the drive's capacity is known. `path` names the file in faults. The drive
/// and the backing that the file names are not read.
///
/// # Errors
/// All faults of the file, or the fault that the drive lacks a measurement that the proof needs.
pub fn proves_contracts(path: &Path, text: &str, drive: &DriveFile) -> Result<bool, Faults> {
    let mut file = ServeFile::parse(text).map_err(|first| {
        Faults::of_reading(path, text, FileKind::Serve, first, ServeFile::parse)
    })?;
    let in_file = |error: FileError| Faults::in_file(path, text, &error);
    if let Some(host) = &mut file.host {
        add_interference(host, path).map_err(|fault| match fault {
            WorkloadFault::InFile(error) => in_file(error),
            WorkloadFault::Elsewhere(faults) => faults,
        })?;
    }
    let within = |size| file.exports(Layout { size, alignment: ALIGNMENT });
    within(Bytes::new(u64::MAX)).map_err(in_file)?;
    if drive.capacity().is_some_and(|capacity| within(capacity).is_err()) {
        return Ok(false);
    }
    let workload = file.bind(drive).map_err(in_file)?.workload;
    let workload = tidegate_drive::with_prediction(workload, drive);
    Ok(!file.has_promises() || proves(&workload, workload.policy))
}

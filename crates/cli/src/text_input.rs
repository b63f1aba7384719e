// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads text files that the command line names.

use std::path::Path;

use tidegate_cpu_model::MachineFile;
use tidegate_model::FileKind;
use tidegate_platform::text_file;

use crate::failure::Failure;

/// Reads the text of a file that the user named.
pub(crate) fn read_named(path: &Path, what: &str) -> Result<String, Failure> {
    text_file::read(path).map_err(|error| {
        Failure::input(
            format!("cannot read the {what} {}: {error}", path.display()),
            "name an existing, readable file",
        )
    })
}

/// Reads both parts of a workload file's text, or reports all its faults.
pub(crate) fn parse_machine(path: &Path, text: &str) -> Result<MachineFile, Failure> {
    MachineFile::parse(text).map_err(|error| {
        Failure::of_reading(path, text, FileKind::Workload, error, MachineFile::parse)
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the text of files that a user names.

use std::path::{Path, PathBuf};

use tidegate_cpu_model::MachineFile;
use tidegate_model::{FileError, FileKind, did_you_mean};
use tidegate_platform::text_file;

use crate::fault::Faults;

/// Reads the text of a file. `what` says in messages what the file should be.
///
/// # Errors
/// If the file cannot be read.
pub fn read_text(path: &Path, what: &str) -> Result<String, Faults> {
    text_file::read(path).map_err(|error| {
        Faults::one(
            format!("cannot read the {what} {}: {error}", path.display()),
            missing_file_help(path),
        )
    })
}

/// Returns advice about a file that cannot be read: the file that was probably meant, if there is
/// one.
pub fn missing_file_help(path: &Path) -> String {
    let otherwise = "name an existing, readable file";
    match near_file(path) {
        Some(meant) => format!("did you mean `{}`? Otherwise {otherwise}", meant.display()),
        None => otherwise.to_owned(),
    }
}

/// Returns the file that was probably meant by a missing path: a file in the same folder whose name
/// up to the first dot is nearly the same.
pub(crate) fn near_file(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.exists() {
        return None;
    }
    let files = std::fs::read_dir(folder).ok()?.flatten().filter(|it| it.path().is_file());
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let is_near = |name: &String| did_you_mean::closest(stem(wanted), [stem(name)]).is_some();
    let mut near: Vec<String> = names.filter(is_near).collect();
    // The order of files in a folder differs between machines.
    near.sort_unstable();
    let meant = did_you_mean::closest(wanted, near.iter().map(String::as_str))?;
    Some(path.with_file_name(meant))
}

fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The reason why a workload file cannot be used.
pub(crate) enum WorkloadFault {
    /// An error in the workload file.
    InFile(FileError),
    /// Faults of an argument or of another file.
    Elsewhere(Faults),
}

impl From<FileError> for WorkloadFault {
    fn from(error: FileError) -> Self {
        Self::InFile(error)
    }
}

impl From<Faults> for WorkloadFault {
    fn from(faults: Faults) -> Self {
        Self::Elsewhere(faults)
    }
}

/// Parses both parts of a workload file's text and passes them to `make`. If that fails at a place
/// in the file, returns all faults of the file.
pub(crate) fn parse_workload<T>(
    path: &Path,
    text: &str,
    make: impl Fn(MachineFile, &str) -> Result<T, WorkloadFault>,
) -> Result<T, Faults> {
    let read = |text: &str| make(MachineFile::parse(text)?, text);
    read(text).map_err(|fault| match fault {
        WorkloadFault::InFile(first) => {
            let faulty = |text: &str| match read(text) {
                Err(WorkloadFault::InFile(error)) => Err(error),
                Ok(_) | Err(WorkloadFault::Elsewhere(_)) => Ok(()),
            };
            Faults::of_reading(path, text, FileKind::Workload, first, faulty)
        }
        WorkloadFault::Elsewhere(faults) => faults,
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the processor profile that a `[host]` table names.

use std::path::Path;

use tidegate_cpu_analysis::under_interference;
use tidegate_cpu_model::CpuProfile;
use tidegate_model::{FileError, HostSection};

use super::error::ServeError;

/// Adds the interference to the host's times, if the section has any. The profile's path is
/// relative to `folder`; `faulty` makes the error for a fault in the serve file.
pub(super) fn add_interference(
    host: &mut HostSection,
    folder: &Path,
    faulty: impl Fn(FileError) -> ServeError,
) -> Result<(), ServeError> {
    let Some(interference) = &host.interference else { return Ok(()) };
    let path = folder.join(&interference.file);
    let text = std::fs::read_to_string(&path).map_err(|source| {
        faulty(FileError::new(
            interference.span.clone(),
            format!("cannot read the processor profile {}: {source}", path.display()),
            "name a file that `tidegate cpu profile` wrote",
        ))
    })?;
    let profile = CpuProfile::parse(&text).map_err(|error| {
        let (path, text) = (path.clone(), text.clone());
        ServeError::Faulty { path, text, error }
    })?;
    *host = under_interference(host.times, interference, &profile).map_err(faulty)?;
    Ok(())
}

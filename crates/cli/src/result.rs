// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The result file that `check`, `sim`, `run` and `profile` write with `--result`.

use std::path::Path;
use std::time::SystemTime;

use tidegate_platform::NewFile;
use tidegate_report::ResultFile;

use crate::failure::Failure;

/// The destination of a result; no file if the user requested none.
#[derive(Debug, Default)]
pub(crate) struct Destination(Option<NewFile>);

impl Destination {
    /// Refuses impossible destinations before anything runs.
    pub(crate) fn prepare(path: Option<&Path>) -> Result<Self, Failure> {
        let file = path.map(NewFile::prepare).transpose();
        Ok(Self(file.map_err(|fault| Failure::of_file(&fault))?))
    }

    /// Returns whether the user requested a file.
    pub(crate) const fn is_asked(&self) -> bool {
        self.0.is_some()
    }

    /// Writes the whole result, or nothing.
    pub(crate) fn write(&self, result: impl FnOnce() -> ResultFile) -> Result<(), Failure> {
        let Some(file) = &self.0 else { return Ok(()) };
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let text = result().made_at(now).to_text();
        file.write(&text).map_err(|fault| Failure::of_file(&fault))
    }
}

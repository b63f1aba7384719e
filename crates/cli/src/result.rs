// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The result file that `check`, `sim` and `run` write with `--result`.

use tidegate_platform::NewFile;
use tidegate_report::{Report, ResultCommand, ResultFile, RunRecord};

use crate::arguments::ResultArguments;
use crate::failure::Failure;

/// The destination of a result; no file if none was asked for.
#[derive(Debug)]
pub(crate) struct Destination(Option<NewFile>);

impl Destination {
    /// Refuses impossible destinations before anything runs.
    pub(crate) fn prepare(arguments: &ResultArguments) -> Result<Self, Failure> {
        let file = arguments.result.as_deref().map(NewFile::prepare).transpose();
        Ok(Self(file.map_err(|fault| Failure::of_file(&fault))?))
    }

    /// Returns whether the result goes into this file.
    pub(crate) fn is(&self, other: &NewFile) -> bool {
        self.0.as_ref().is_some_and(|file| file.is_same(other))
    }

    /// Writes the whole result, or nothing.
    pub(crate) fn write(
        &self,
        command: ResultCommand,
        report: &impl Report,
        runs: Vec<RunRecord>,
    ) -> Result<(), Failure> {
        let Some(file) = &self.0 else { return Ok(()) };
        let text = ResultFile::of(command, report, runs).to_text();
        file.write(&text).map_err(|fault| Failure::of_file(&fault))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads result files.

use std::path::PathBuf;

use pyo3::prelude::*;
use tidegate_commands::{Faults, read_text};
use tidegate_report::ResultFile;

use crate::fault::input_error;

/// Reads a file that `check`, `sim` or `run` wrote with `--result`, and returns its content as
/// JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
pub(crate) fn read_result(path: PathBuf) -> PyResult<String> {
    let text = read_text(&path, "result file").map_err(|faults| input_error(&faults))?;
    let result = ResultFile::read(&text).map_err(|error| {
        input_error(&Faults::one(format!("{}: {error}", path.display()), error.help()))
    })?;
    Ok(result.to_text())
}

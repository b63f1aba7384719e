// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drives and workloads.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tidegate_commands::{Changes, DriveChoice, Input, NamedDrive, file_origin};
use tidegate_model::quantity::Share;
use tidegate_model::{BestEffortOrder, DriveFile, FileKind, Grade, PolicyName, did_you_mean};
use tidegate_report::drive::ShowReport;
use tidegate_report::{CheckReport, MachineReport, Report};

use crate::fault::{argument_error, input_error};

/// Returns the names of the built-in drives.
#[pyfunction]
pub(crate) fn drive_names() -> Vec<&'static str> {
    tidegate_drive::builtin::names().collect()
}

/// Returns the names of the policies.
#[pyfunction]
pub(crate) fn policy_names() -> Vec<&'static str> {
    PolicyName::ALL.iter().map(|policy| policy.name()).collect()
}

/// A drive: its tables and, if it has them, its mechanics.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Drive {
    drive: NamedDrive,
}

#[pymethods]
impl Drive {
    /// Returns the built-in drive of this name, or the drive in the file at this path.
    #[staticmethod]
    fn load(name: &str) -> PyResult<Self> {
        let drive = NamedDrive::new(name).map_err(|faults| input_error(&faults))?;
        Ok(Self { drive })
    }

    /// Returns the drive that this text of a drive file describes; `name` is its name in faults.
    #[staticmethod]
    #[pyo3(signature = (text, name = "drive"))]
    fn parse(text: &str, name: &str) -> PyResult<Self> {
        let path = Path::new(name);
        let file = DriveFile::parse(text).map_err(|first| {
            let faults = tidegate_commands::Faults::of_reading(
                path,
                text,
                FileKind::Drive,
                first,
                DriveFile::parse,
            );
            input_error(&faults)
        })?;
        let drive = NamedDrive { file, origin: file_origin(path, text), text: text.to_owned() };
        Ok(Self { drive })
    }

    /// The drive's name.
    #[getter]
    fn name(&self) -> &str {
        &self.drive.file.name
    }

    /// The kind of the drive: `pseudo`, `recorded`, `mechanical` or `ssd`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.drive.file.kind.name()
    }

    /// Returns the object of `tidegate drive show --json`, as text.
    fn show_json(&self) -> PyResult<String> {
        let report = ShowReport::of(&self.drive.file)
            .map_err(|error| argument_error(error.to_string(), "correct the drive's mechanics"))?;
        Ok(report.to_json())
    }

    /// The text of the drive file.
    #[getter]
    fn text(&self) -> &str {
        &self.drive.text
    }

    /// Pickles the text, so that a worker elsewhere needs no file.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String, String))> {
        let parse = slf.get_type().getattr("parse")?.unbind();
        let NamedDrive { text, origin, .. } = &slf.get().drive;
        Ok((parse, (text.clone(), origin.name.clone())))
    }

    fn __repr__(&self) -> String {
        format!("Drive({:?})", self.drive.file.name)
    }
}

/// A workload bound to its drive.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Workload {
    pub(crate) input: Input,
    text: String,
    options: Options,
}

/// The values that take the place of those in the workload file.
#[derive(Clone)]
struct Options {
    batch: Option<u32>,
    order: Option<String>,
    margin_ppm: Option<u32>,
    policies: Vec<String>,
}

/// The values from which a pickled workload is made: the arguments of `parse`.
type Pickled =
    (String, Option<Drive>, String, Option<u32>, Option<String>, Option<u32>, Vec<String>);

#[pymethods]
impl Workload {
    /// Returns the workload in the file at this path, on its own drive or another one.
    #[staticmethod]
    #[pyo3(signature = (path, drive=None, *, batch=None, order=None, margin_ppm=None, policies=Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
    fn load(
        path: PathBuf,
        drive: Option<&Drive>,
        batch: Option<u32>,
        order: Option<String>,
        margin_ppm: Option<u32>,
        policies: Vec<String>,
    ) -> PyResult<Self> {
        let text = tidegate_commands::read_text(&path, "workload file");
        let text = text.map_err(|faults| input_error(&faults))?;
        Self::new(&path, text, drive, Options { batch, order, margin_ppm, policies })
    }

    /// Returns the workload that this text of a workload file describes. Relative names of drives in
    /// it are beside `name`, which is its name in faults.
    #[staticmethod]
    #[pyo3(signature = (text, drive=None, name=PathBuf::from("workload"), batch=None, order=None, margin_ppm=None, policies=Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
    fn parse(
        text: String,
        drive: Option<&Drive>,
        name: PathBuf,
        batch: Option<u32>,
        order: Option<String>,
        margin_ppm: Option<u32>,
        policies: Vec<String>,
    ) -> PyResult<Self> {
        Self::new(&name, text, drive, Options { batch, order, margin_ppm, policies })
    }

    /// The text of the workload file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Its drive; `None` if the drive is in the workload file.
    #[getter]
    fn own_drive(&self) -> Option<Drive> {
        let Input { drive, drive_origin, drive_text, .. } = &self.input;
        let (origin, text) = (drive_origin.clone()?, drive_text.clone()?);
        Some(Drive { drive: NamedDrive { file: drive.clone(), origin, text } })
    }

    /// The values that take the place of those in the file: `batch`, `order`, `margin_ppm`.
    #[getter]
    fn changes(&self) -> (Option<u32>, Option<String>, Option<u32>) {
        let Options { batch, order, margin_ppm, .. } = &self.options;
        (*batch, order.clone(), *margin_ppm)
    }

    /// Returns the same workload, with the same changes, on another drive and for other policies;
    /// `None` leaves the drive in the file.
    fn on(&self, drive: Option<&Drive>, policies: Vec<String>) -> PyResult<Self> {
        let name = Path::new(&self.input.workload_origin.name);
        let options = Options { policies, ..self.options.clone() };
        Self::new(name, self.text.clone(), drive, options)
    }

    /// Pickles the texts of the workload and its drive, so that a worker elsewhere needs no file.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, Pickled)> {
        let parse = slf.get_type().getattr("parse")?.unbind();
        let Self { input, text, options } = slf.get();
        let drive = slf.get().own_drive();
        let Options { batch, order, margin_ppm, policies } = options.clone();
        let name = input.workload_origin.name.clone();
        Ok((parse, (text.clone(), drive, name, batch, order, margin_ppm, policies)))
    }

    /// The names of the tasks, in the order of the file.
    #[getter]
    fn tasks(&self) -> Vec<&str> {
        self.input.workload.tasks.iter().map(|task| &*task.name).collect()
    }

    /// The name of the drive.
    #[getter]
    fn drive(&self) -> &str {
        &self.input.workload.drive_name
    }

    /// The policy that the workload names.
    #[getter]
    fn policy(&self) -> &'static str {
        self.input.workload.policy.name()
    }

    /// The number of requests that the drive accepts at once.
    #[getter]
    fn depth(&self) -> u32 {
        self.input.workload.depth
    }

    /// Returns the object of `tidegate check --json`, as text.
    #[pyo3(signature = (policy=None, *, require="weak", explain=false, fits=true))]
    fn check_json(
        &self,
        py: Python<'_>,
        policy: Option<&str>,
        require: &str,
        explain: bool,
        fits: bool,
    ) -> PyResult<String> {
        let policy = policy.map_or(Ok(self.input.workload.policy), policy_of)?;
        let require = Grade::from_name(require).ok_or_else(|| {
            argument_error(format!("`{require}` is no grade"), "write `strong` or `weak`")
        })?;
        Ok(py.detach(|| {
            let input = &self.input;
            let mut report = CheckReport::of(&input.workload, policy);
            if fits {
                report = report.with_fits();
            }
            let report = report.with_commands(|command| input.completed(command), String::new());
            let report = if explain { report.explained() } else { report };
            MachineReport::of(Some(report), None, require, input.origin()).to_json()
        }))
    }

    fn __repr__(&self) -> String {
        let count = self.input.workload.tasks.len();
        format!("Workload({count} tasks on {:?})", self.input.workload.drive_name)
    }
}

impl Workload {
    fn new(name: &Path, text: String, drive: Option<&Drive>, options: Options) -> PyResult<Self> {
        let changes = changes(drive, &options)?;
        let input =
            tidegate_commands::parse(name, &text, &changes, &policies_of(&options.policies)?);
        Ok(Self { input: input.map_err(|faults| input_error(&faults))?, text, options })
    }
}

fn changes(drive: Option<&Drive>, options: &Options) -> PyResult<Changes> {
    let Options { batch, order, margin_ppm, .. } = options;
    let order = order.as_deref().map(|name| {
        BestEffortOrder::from_name(name).ok_or_else(|| {
            let names = BestEffortOrder::ALL.iter().map(|order| order.name());
            argument_error(format!("`{name}` is no order"), did_you_mean::advice(name, names))
        })
    });
    Ok(Changes {
        drive: drive.map(|drive| DriveChoice::Given(Box::new(drive.drive.clone()))),
        batch: *batch,
        order: order.transpose()?,
        margin: margin_ppm.map(|ppm| Share { ppm }),
    })
}

/// Returns the policy of this name.
pub(crate) fn policy_of(name: &str) -> PyResult<PolicyName> {
    PolicyName::from_name(name).ok_or_else(|| {
        let names = PolicyName::ALL.iter().map(|policy| policy.name());
        argument_error(format!("`{name}` is no policy"), did_you_mean::advice(name, names))
    })
}

/// Returns the policies of these names.
pub(crate) fn policies_of(names: &[String]) -> PyResult<Vec<PolicyName>> {
    names.iter().map(|name| policy_of(name)).collect()
}

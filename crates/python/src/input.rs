// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Workloads, bound to their drives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use tidegate_commands::{Changes, DriveChoice, Input, NamedDrive, Processor, explained};
use tidegate_model::quantity::Share;
use tidegate_model::{BestEffortOrder, Grade, PolicyName};
use tidegate_report::cpu::CpuReport;
use tidegate_report::{CheckReport, MachineReport, Report};

use crate::drive::Drive;
use crate::fault::{input_error, no_name};
use crate::interrupt::interruptible;

/// Returns the names of the policies.
#[pyfunction]
pub(crate) fn policy_names() -> Vec<&'static str> {
    PolicyName::ALL.iter().map(|policy| policy.name()).collect()
}

/// Returns whether the contracts of a serve file with this text are proved on the drive, and its
/// exports fit there. `name` is the file's name in faults.
#[pyfunction]
pub(crate) fn proves_contracts(
    py: Python<'_>,
    text: &str,
    drive: &Drive,
    name: &str,
) -> PyResult<bool> {
    let proved =
        py.detach(|| tidegate_commands::proves_contracts(Path::new(name), text, &drive.drive.file));
    proved.map_err(|faults| input_error(&faults))
}

/// A workload bound to its drive.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Workload {
    pub(crate) input: Arc<Input>,
    /// The processor, if the file has one; its deadlines count in a check too.
    processor: Option<Arc<Processor>>,
    text: String,
    options: Options,
}

/// The values that replace those in the workload file.
#[derive(Clone)]
struct Options {
    batch: Option<u32>,
    order: Option<String>,
    margin_ppm: Option<u32>,
    policies: Vec<String>,
}

/// The arguments of `parse` from which a pickled workload is restored.
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

    /// Parses `text` as a workload file. Relative drive paths start from the folder of `name`.
    /// Error messages call the text `name`.
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

    /// The drive; `None` if it is in the workload file.
    #[getter]
    fn own_drive(&self) -> Option<Drive> {
        let Input { drive, drive_origin, drive_text, .. } = &*self.input;
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
        let Self { input, text, options, .. } = slf.get();
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

    /// The number of requests that the drive accepts at the same time.
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
        let require = Grade::from_name(require)
            .ok_or_else(|| no_name("grade", require, ["strong", "weak"]))?;
        let (input, processor) = (self.input.clone(), self.processor.clone());
        interruptible(py, move |_| {
            let mut report = CheckReport::of(&input.workload, policy);
            if fits {
                report = report.with_fits();
            }
            let report = report.with_commands(|command| input.completed(command), String::new());
            let report = if explain { explained(report, &input) } else { report };
            let processor = processor.as_deref();
            let processor = processor.map(|cpu| CpuReport::of(&cpu.workload, &cpu.measured));
            MachineReport::of(Some(report), processor, require, input.origin()).to_json()
        })
    }

    /// Returns whether every deadline on the disk is proved: the answer of `check`, without its
    /// reasons, for a search that asks thousands of times.
    fn proves_disk(&self, py: Python<'_>) -> bool {
        py.detach(|| tidegate_commands::is_proven(&self.input))
    }

    fn __repr__(&self) -> String {
        let count = self.input.workload.tasks.len();
        format!("Workload({count} tasks on {:?})", self.input.workload.drive_name)
    }
}

impl Workload {
    fn new(name: &Path, text: String, drive: Option<&Drive>, options: Options) -> PyResult<Self> {
        let (changes, asked) = (changes(drive, &options)?, policies_of(&options.policies)?);
        let parsed = tidegate_commands::parse_machine(name, &text, &changes, &asked);
        let parsed = parsed.map_err(|faults| input_error(&faults))?;
        // If there is no disk part, its parser reports what the file lacks.
        let input = match parsed.disk {
            Some(input) => Ok(input),
            None => tidegate_commands::parse(name, &text, &changes, &asked),
        };
        let input = Arc::new(input.map_err(|faults| input_error(&faults))?);
        Ok(Self { input, processor: parsed.cpu.map(Arc::new), text, options })
    }
}

fn changes(drive: Option<&Drive>, options: &Options) -> PyResult<Changes> {
    let Options { batch, order, margin_ppm, .. } = options;
    let order = order.as_deref().map(|name| {
        BestEffortOrder::from_name(name).ok_or_else(|| {
            no_name("order", name, BestEffortOrder::ALL.iter().map(|order| order.name()))
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
    PolicyName::from_name(name)
        .ok_or_else(|| no_name("policy", name, PolicyName::ALL.iter().map(|it| it.name())))
}

/// Returns the policies of these names.
pub(crate) fn policies_of(names: &[String]) -> PyResult<Vec<PolicyName>> {
    names.iter().map(|name| policy_of(name)).collect()
}

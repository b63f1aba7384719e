// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drives: built in, from files, imported, measured, and compared with traces.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use tidegate_commands::{Faults, NamedDrive, file_origin};
use tidegate_measure::{
    Experiment, Kind, Measurable as _, ProfileError, ProfileParams, Selection, SimulatedTarget,
};
use tidegate_model::{Bytes, DriveFile, FileKind, Op};
use tidegate_report::drive::{ImportReport, ShowReport};
use tidegate_report::profile::Outcome;
use tidegate_report::{ProfileReport, Report};
use tidegate_sim::replay::TraceFormat;

use crate::fault::{argument_error, input_error, no_name};
use crate::interrupt::interruptible;

/// Returns the names of the built-in drives.
#[pyfunction]
pub(crate) fn drive_names() -> Vec<&'static str> {
    tidegate_drive::builtin::names().collect()
}

/// Returns the names of the experiments of a profile.
#[pyfunction]
pub(crate) fn experiment_names() -> Vec<&'static str> {
    Experiment::ALL.iter().map(|experiment| experiment.name()).collect()
}

/// A drive: its tables and, if it has them, its mechanics.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Drive {
    pub(crate) drive: NamedDrive,
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
            input_error(&Faults::of_reading(path, text, FileKind::Drive, first, DriveFile::parse))
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

impl Drive {
    /// Makes a drive from a drive file that exists only in memory.
    fn made(file: DriveFile) -> Self {
        let text = file.to_toml();
        let origin = file_origin(Path::new(&file.name), &text);
        Self { drive: NamedDrive { file, origin, text } }
    }
}

/// Makes a drive from parameter files of DiskSim or DIXtrac. Returns it with the object of
/// `tidegate drive import --json`, as text.
#[pyfunction]
#[pyo3(signature = (paths, name=None))]
pub(crate) fn import_drive(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: Option<String>,
) -> PyResult<(Drive, String)> {
    let import = interruptible(py, move |_| tidegate_commands::import(&paths, name.as_deref()))?;
    let import = import.map_err(|faults| input_error(&faults))?;
    let report = ImportReport::of(&import.drive, &import.report, None).to_json();
    Ok((Drive::made(import.drive), report))
}

/// Measures a simulated drive in virtual time. Returns the drive with the measured tables, and the
/// object of `tidegate profile --json`, as text.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option, by keyword")]
#[pyo3(signature = (drive, *, only, ops, sizes_bytes, depth, samples, is_quick, seed))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
pub(crate) fn profile(
    py: Python<'_>,
    drive: &Drive,
    only: Vec<String>,
    ops: Vec<String>,
    sizes_bytes: Vec<u64>,
    depth: Option<u32>,
    samples: Option<u32>,
    is_quick: bool,
    seed: u64,
) -> PyResult<(Drive, String)> {
    let experiment = |name: &String| {
        let known = || experiment_names().into_iter();
        Experiment::from_name(name).ok_or_else(|| no_name("experiment", name, known()))
    };
    let only: Vec<Experiment> = only.iter().map(experiment).collect::<PyResult<_>>()?;
    let op = |name: &String| match &**name {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        other => Err(no_name("operation", other, ["read", "write"])),
    };
    let ops: Vec<Op> = ops.iter().map(op).collect::<PyResult<_>>()?;
    let sizes: Vec<Bytes> = sizes_bytes.into_iter().map(Bytes::new).collect();
    let file = drive.drive.file.clone();
    let kind = SimulatedTarget::kind_of(&file, None);
    let selection = Selection { only: &only, is_quick };
    let defaults = SimulatedTarget::params(&file, kind, selection);
    let of_quick = if is_quick { ProfileParams::SAMPLES_QUICK } else { ProfileParams::SAMPLES };
    let params = ProfileParams {
        kinds: Kind::all(&ops, &sizes),
        depth: depth.unwrap_or(defaults.depth),
        samples: samples.unwrap_or(of_quick),
        seed,
        ..defaults
    };
    let mut target = SimulatedTarget::new(file, kind, &params).map_err(|error| {
        let faults = error.help().map(|help| Faults::one(error.to_string(), help));
        input_error(&faults.unwrap_or_else(|| Faults::unusable(&error)))
    })?;
    let measured = interruptible(py, move |cancelled| {
        let mut measured = target.measure(&params, &mut |_| (), cancelled, None)?;
        let whole = target.conclude(&mut measured, false);
        let report = ProfileReport::of(&measured, &whole, &Outcome::default()).to_json();
        Ok::<_, ProfileError>((whole, report))
    })?;
    let (whole, report) = measured.map_err(|error| input_error(&Faults::unusable(&error)))?;
    Ok((Drive::made(whole), report))
}

/// Replays a trace on a simulated drive. Returns the object of `tidegate drive replay --json` and
/// the rows of its `--csv`, as text.
#[pyfunction]
#[pyo3(signature = (drive, trace, *, format, seed))]
pub(crate) fn replay(
    py: Python<'_>,
    drive: &Drive,
    trace: PathBuf,
    format: &str,
    seed: u64,
) -> PyResult<(String, String)> {
    let of = |format: &str| {
        let names = TraceFormat::ALL.iter().map(|format| format.name());
        TraceFormat::from_name(format).ok_or_else(|| {
            no_name("format of traces", format, ["measured"].into_iter().chain(names))
        })
    };
    let format = if format == "measured" { None } else { Some(of(format)?) };
    let file = drive.drive.file.clone();
    let replayed = interruptible(py, move |_| {
        let read = tidegate_commands::read_trace(&trace, format)?;
        let replayed = tidegate_commands::replay(&file, read, seed)?;
        let report = replayed.report((&*file.name, trace.display().to_string(), seed));
        Ok::<_, Faults>((report.to_json(), replayed.rows()))
    })?;
    replayed.map_err(|faults| input_error(&faults))
}

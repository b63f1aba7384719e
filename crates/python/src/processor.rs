// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Processors: their tasks and servers, proofs, simulations, and profiles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Value, json};
use tidegate_commands::{Faults, ProcessorRuns, parse_profile, read_text, simulate_processor};
use tidegate_cpu_model::{ServerKind, StolenPoint};
use tidegate_cpu_sim::Timing;
use tidegate_model::Duration;
use tidegate_report::Report;
use tidegate_report::cpu::{CpuReport, CpuSimReport};

use crate::fault::{argument_error, input_error, no_name};
use crate::interrupt::interruptible;

/// Returns the names of the kinds of servers.
#[pyfunction]
pub(crate) fn server_names() -> Vec<&'static str> {
    ServerKind::ALL.iter().map(|kind| kind.name()).collect()
}

/// A processor with its tasks, servers and interference.
#[pyclass(frozen, module = "tidegate.cpu")]
pub(crate) struct Processor {
    parts: Arc<tidegate_commands::Processor>,
    text: String,
    path: PathBuf,
}

#[pymethods]
impl Processor {
    /// Returns the processor in the workload file at this path.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let text = read_text(&path, "workload file").map_err(|faults| input_error(&faults))?;
        Self::parse(text, path)
    }

    /// Parses `text` as a workload file with a processor. Relative profile paths start from the
    /// folder of `name`. Error messages call the text `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name = PathBuf::from("workload")))]
    fn parse(text: String, name: PathBuf) -> PyResult<Self> {
        let processor = tidegate_commands::parse_processor(&name, &text);
        let processor = processor.map_err(|faults| input_error(&faults))?;
        Ok(Self { parts: Arc::new(processor), text, path: name })
    }

    /// The text of the workload file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The names of the tasks, in the order of the file.
    #[getter]
    fn tasks(&self) -> Vec<&str> {
        self.parts.workload.tasks.iter().map(|task| &*task.name).collect()
    }

    /// The names of the servers, in the order of the file.
    #[getter]
    fn servers(&self) -> Vec<&str> {
        self.parts.workload.servers.iter().map(|server| &*server.name).collect()
    }

    /// Pickles the text; the profiles that it names must exist where it is read.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String, PathBuf))> {
        let parse = slf.get_type().getattr("parse")?.unbind();
        let Self { text, path, .. } = slf.get();
        Ok((parse, (text.clone(), path.clone())))
    }

    /// Returns the object of `tidegate cpu check --json`, as text.
    fn check_json(&self, py: Python<'_>) -> PyResult<String> {
        let processor = self.parts.clone();
        interruptible(py, move |_| {
            CpuReport::of(&processor.workload, &processor.measured).to_json()
        })
    }

    /// Simulates and returns the object of `tidegate cpu sim --json`, as text, and a sentence for
    /// each server that took more than its kind allows.
    #[pyo3(signature = (kinds, *, duration_ns, seed, disturb))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
    fn simulate(
        &self,
        py: Python<'_>,
        kinds: Vec<String>,
        duration_ns: u64,
        seed: u64,
        disturb: &str,
    ) -> PyResult<(String, Vec<String>)> {
        let kind = |name: &String| {
            let known = || server_names().into_iter();
            ServerKind::from_name(name).ok_or_else(|| no_name("kind of server", name, known()))
        };
        let kinds = kinds.iter().map(kind).collect::<PyResult<Vec<ServerKind>>>()?;
        let timings = || Timing::ALL.iter().map(|timing| timing.name());
        let timing = Timing::from_name(disturb)
            .ok_or_else(|| no_name("time of disturbance", disturb, timings()))?;
        let duration = span(duration_ns)?;
        let processor = self.parts.clone();
        let simulated = interruptible(py, move |interrupted| {
            let kinds = &kinds;
            let runs = ProcessorRuns { kinds, duration, seed, timing, interrupted };
            let results = simulate_processor(&processor, &runs, |_| ())?;
            let report = CpuSimReport::of(&results, seed, duration, timing);
            Ok::<_, Faults>((report.to_json(), report.defects()))
        })?;
        simulated.map_err(|faults| input_error(&faults))
    }

    fn __repr__(&self) -> String {
        let workload = &self.parts.workload;
        format!("Processor({} tasks, {} servers)", workload.tasks.len(), workload.servers.len())
    }
}

/// Reads a processor profile (`*.cpu.toml`) and returns its content as JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
pub(crate) fn read_processor_profile(path: PathBuf) -> PyResult<String> {
    let path: &Path = &path;
    let text = read_text(path, "processor profile").map_err(|faults| input_error(&faults))?;
    let profile = parse_profile(path, &text).map_err(|faults| input_error(&faults))?;
    let point = |point: &StolenPoint| json!({ "interval_ns": point.interval.ns(), "stolen_ns_max": point.stolen_max.ns() });
    let content = json!({
        "name": profile.name,
        "conditions": profile.conditions,
        "points": profile.points.iter().map(point).collect::<Vec<Value>>(),
        "demand_fit": profile.demand_fit,
        "load_fit": profile.load_fit,
    });
    Ok(content.to_string())
}

/// Returns the length of a run if it is above zero and at most 100 years, so that times computed
/// from it are in range.
fn span(ns: u64) -> PyResult<Duration> {
    const YEARS_100: u64 = 100 * 365 * 86_400 * 1_000_000_000;
    match ns {
        1..=YEARS_100 => Ok(Duration::from_ns(ns)),
        _ => Err(argument_error(
            format!("a run of {ns} ns cannot be simulated"),
            "give a duration from 1 ns to 100 years",
        )),
    }
}

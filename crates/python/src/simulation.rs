// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulations in virtual time.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use tidegate_commands::{
    Input, NotRun, policies, simulate as simulate_one, simulate_own as simulate_stranger,
};
use tidegate_host::Length;
use tidegate_model::Duration;
use tidegate_report::sim::{SimulatedRun, Simulation};
use tidegate_report::{NotApplicable, Report, SimReport};
use tidegate_sim::SimParams;

use crate::fault::{PolicyError, argument_error, not_run};
use crate::input::{Workload, policies_of};
use crate::interrupt::interruptible;
use crate::own_policy::{OwnPolicy, checkers_of};

/// Simulates policies side by side and returns the object of `tidegate sim --json`, as text, and a
/// sentence for each promise of Tidegate that did not hold.
///
/// Other Python threads can run meanwhile. On Ctrl-C the run ends, and `KeyboardInterrupt` is
/// raised.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
#[pyo3(signature = (workload, names, *, jobs=None, duration_ns=None, seed=0))]
pub(crate) fn simulate(
    py: Python<'_>,
    workload: &Workload,
    names: Vec<String>,
    jobs: Option<u64>,
    duration_ns: Option<u64>,
    seed: u64,
) -> PyResult<(String, Vec<String>)> {
    let asked = policies_of(&names)?;
    let length = length(jobs, duration_ns)?;
    let input = workload.input.clone();
    let simulated = interruptible(py, move |cancelled| {
        let params = SimParams { seed, ..SimParams::new(&input.workload, length) };
        let (mut runs, mut not_applicable) = (Vec::new(), Vec::new());
        let mut last = None;
        for policy in policies(&asked, &input.workload) {
            let is_cancelled = || cancelled.load(Ordering::Relaxed);
            match simulate_one(&input, input.drive.kind, policy, &params, (), is_cancelled) {
                Ok(simulated) => runs.push(simulated.report),
                Err(NotRun::NotApplicable(reason)) => {
                    let text = input.completed(&reason.to_string());
                    not_applicable.push(NotApplicable::new(policy, text));
                    last = Some(reason);
                }
                Err(faulty @ NotRun::Unusable(_)) => return Err(faulty),
            }
        }
        if let (true, Some(reason)) = (runs.is_empty(), last) {
            return Err(NotRun::NotApplicable(reason));
        }
        Ok(report(&input, runs, not_applicable, seed))
    })?;
    simulated.map_err(not_run)
}

/// Simulates a policy that is written in Python. `rules` names the rules that it must keep.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 makes the arguments")]
#[pyo3(signature = (workload, policy, *, name, rules, jobs=None, duration_ns=None, seed=0))]
pub(crate) fn simulate_own(
    workload: &Workload,
    policy: Bound<'_, PyAny>,
    name: String,
    rules: Vec<String>,
    jobs: Option<u64>,
    duration_ns: Option<u64>,
    seed: u64,
) -> PyResult<(String, Vec<String>)> {
    let py = policy.py();
    let length = length(jobs, duration_ns)?;
    let input = &workload.input;
    let params = SimParams { seed, ..SimParams::new(&input.workload, length) };
    let checkers = checkers_of(&rules, input.workload.depth)?;
    let failure = std::rc::Rc::new(RefCell::new(None));
    let own = OwnPolicy::new(policy.unbind(), failure.clone());
    // The interpreter raises `KeyboardInterrupt` in the policy's own code.
    let is_cancelled = || failure.borrow().is_some();
    let kind = input.drive.kind;
    let run =
        simulate_stranger(input, kind, (name, Box::new(own), checkers), &params, is_cancelled);
    let mut run = run.map_err(not_run)?;
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let violations = std::mem::take(&mut run.violations);
    if !violations.is_empty() {
        let error = PolicyError::new_err(format!("broken rule: {}", violations.join("; ")));
        error.value(py).setattr("violations", violations)?;
        return Err(error);
    }
    Ok(report(input, vec![run], Vec::new(), seed))
}

fn report(
    input: &Input,
    runs: Vec<SimulatedRun<'_>>,
    not_applicable: Vec<NotApplicable>,
    seed: u64,
) -> (String, Vec<String>) {
    let simulation = Simulation { kind: input.drive.kind, seed, origin: input.origin() };
    let report = SimReport::of(&input.workload, simulation, runs, Vec::new(), not_applicable);
    (report.to_json(), report.defects().to_vec())
}

fn length(jobs: Option<u64>, duration_ns: Option<u64>) -> PyResult<Length> {
    match (jobs, duration_ns) {
        (Some(jobs), None) => Ok(Length::Jobs(jobs)),
        (None, Some(ns)) => Ok(Length::Duration(Duration::from_ns(ns))),
        _ => Err(argument_error(
            "a run needs either jobs or a duration",
            "give exactly one of the two",
        )),
    }
}

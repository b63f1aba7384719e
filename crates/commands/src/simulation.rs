// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulates one policy while checkers watch its rules, and proves a workload without making a
//! report.

use std::time::Instant;

use tidegate_analysis::{Assessment, assess, proves};
use tidegate_host::{BusyIntervals, Run};
use tidegate_model::{DriveKind, PolicyName};
use tidegate_policy::{BuildError, Policy};
use tidegate_report::sim::SimulatedRun;
use tidegate_report::{PolicyReport, RunRecord};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{CheckedRun, CheckedSimulation, NotSimulated, Observer, SimParams};

use crate::fault::Faults;
use crate::workload::Input;

/// The results of a simulated policy.
pub struct Simulated<'a> {
    /// The report for people and programs.
    pub report: SimulatedRun<'a>,
    /// The data for result files.
    pub record: RunRecord,
    /// The run with its metrics.
    pub run: Run,
}

/// The reason why a policy was not simulated.
#[derive(Debug)]
pub enum NotRun {
    /// The policy does not apply to this drive.
    NotApplicable(BuildError),
    /// No policy can be simulated.
    Unusable(Faults),
}

/// Simulates `policy` on the input's drive as a drive of this `kind`, while checkers watch its
/// rules. `follower` observes the run, and `is_cancelled` ends it early.
///
/// # Errors
/// [`NotRun`].
pub fn simulate<'a>(
    input: &'a Input,
    kind: DriveKind,
    policy: PolicyName,
    params: &SimParams<'_>,
    follower: impl Observer,
    is_cancelled: impl Fn() -> bool,
) -> Result<Simulated<'a>, NotRun> {
    let workload = &input.workload;
    let mut assessment = assess(workload, policy);
    assessment.premises.extend(tidegate_sim::perfect_knowledge(policy, kind));
    let plan = assessment.tolerant_plan(workload);
    let served = assessment.charged(workload);
    let drive = (kind, &input.drive, &served);
    let simulation = CheckedSimulation::new(params, policy, &plan, drive);
    let simulation = simulation.map_err(|error| NotRun::of(error, input))?;
    Ok(run(simulation, assessment, input, follower, is_cancelled))
}

/// Simulates a policy that Tidegate does not know, under this name, while `checkers` watch its
/// rules. Nothing is proved about it: its report has no bounds, and no plan limits it.
///
/// # Errors
/// [`NotRun::Unusable`].
pub fn simulate_own<'a>(
    input: &'a Input,
    kind: DriveKind,
    (name, policy, checkers): (String, Box<dyn Policy>, Checkers),
    params: &SimParams<'_>,
    is_cancelled: impl Fn() -> bool,
) -> Result<SimulatedRun<'a>, NotRun> {
    let workload = &input.workload;
    let assessment = assess(workload, PolicyName::Noop);
    let plan = assessment.plan(workload);
    let drive = (kind, &input.drive, workload);
    let simulation = CheckedSimulation::of(params, (policy, checkers), &plan, drive);
    let simulation = simulation.map_err(|error| NotRun::of(error, input))?;
    let mut report = run(simulation, assessment, input, (), is_cancelled).report;
    report.result = report.result.named(name);
    Ok(report)
}

/// Returns whether every deadline of the workload is proven under its own policy.
pub fn is_proven(input: &Input) -> bool {
    proves(&input.workload, input.workload.policy)
}

fn run<'a>(
    simulation: CheckedSimulation<'_>,
    assessment: Assessment,
    input: &'a Input,
    follower: impl Observer,
    is_cancelled: impl Fn() -> bool,
) -> Simulated<'a> {
    let mut busy = BusyIntervals::with_room(input.workload.depth);
    let start = Instant::now();
    let CheckedRun { run, violations, watch } = simulation.run((follower, &mut busy), is_cancelled);
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let violations = violations.iter().map(ToString::to_string).collect();
    let busy = busy.into_longest();
    let record = RunRecord::of(assessment.policy, &run.metrics, busy.as_ref());
    let result = PolicyReport::of(&input.workload, assessment, &run, wall_ns);
    Simulated { report: SimulatedRun { result, violations, watch }, record, run }
}

impl NotRun {
    fn of(error: NotSimulated, input: &Input) -> Self {
        match error {
            NotSimulated::Policy(reason) => Self::NotApplicable(reason),
            error => {
                Self::Unusable(Faults::unusable(&error).completed(|text| input.completed(text)))
            }
        }
    }
}

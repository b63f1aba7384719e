// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulation that checks the policy by its own rules, and the drive by its contracts.

use tidegate_drive::Drive;
use tidegate_host::{ContractWatch, HostParams, Observer, Run, RunEnd};
use tidegate_model::{DriveFile, DriveKind, Plan, PolicyName, Premise, PremiseCode, Workload};
use tidegate_policy::Policy;

use crate::checkers::{Breach, Checkers, Violation};
use crate::simulate::simulate_until;

/// The reason why nothing can be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotSimulated {
    /// The drive cannot be made.
    #[error(transparent)]
    Drive(#[from] tidegate_drive::BuildError),
    /// The policy does not apply to this drive.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The last job is beyond the end of time.
    #[error("`{task}` may release its last job after more than 584 years: give fewer jobs")]
    LengthBeyondTime {
        /// The name of the task.
        task: String,
    },
}

/// The results of a checked simulation.
#[derive(Debug)]
pub struct CheckedRun {
    /// The result of the run itself.
    pub run: Run,
    /// The first violations of each checker, in order of time.
    pub violations: Vec<Violation>,
    /// The record of how the drive kept its contracts.
    pub watch: ContractWatch,
}

/// One policy on a simulated drive, ready to run.
pub struct CheckedSimulation<'a> {
    params: HostParams<'a>,
    policy: Box<dyn Policy>,
    drive: Box<dyn Drive + Send>,
    checkers: Checkers,
    watch: ContractWatch,
}

impl<'a> CheckedSimulation<'a> {
    /// Makes the drive of `file` for the workload `served`, and the policy that follows `plan`.
    ///
    /// A capacity stated in the file replaces the one in `params`.
    ///
    /// # Errors
    /// [`NotSimulated`] if the drive or the policy cannot be made, or if the last job lies beyond
    /// the end of time.
    pub fn new(
        params: &HostParams<'a>,
        policy: PolicyName,
        plan: &Plan,
        (kind, file, served): (DriveKind, &DriveFile, &Workload),
    ) -> Result<Self, NotSimulated> {
        let is_known = kind.has_access_times();
        let access = is_known.then(|| tidegate_drive::access_time(file)).flatten();
        let (policy, checkers) = Checkers::watching(policy, plan, access)?;
        Self::of(params, (policy, checkers), plan, (kind, file, served))
    }

    /// Makes the drive of `file` for the workload `served`. The caller gives the policy, and the
    /// checkers of its rules.
    ///
    /// # Errors
    /// [`NotSimulated::Drive`] if the drive cannot be made, and [`NotSimulated::LengthBeyondTime`]
    /// if the last job lies beyond the end of time.
    pub fn of(
        params: &HostParams<'a>,
        (policy, checkers): (Box<dyn Policy>, Checkers),
        plan: &Plan,
        (kind, file, served): (DriveKind, &DriveFile, &Workload),
    ) -> Result<Self, NotSimulated> {
        if let Some(task) = tidegate_host::task_beyond_time(params.workload, params.length) {
            return Err(NotSimulated::LengthBeyondTime { task: task.name.clone() });
        }
        let drive = tidegate_drive::build(kind, served, Some(file), params.seed)?;
        let capacity = file.capacity().unwrap_or(params.capacity);
        let params = HostParams { capacity, ..*params };
        Ok(Self { params, policy, drive, checkers, watch: ContractWatch::new(&plan.limits) })
    }

    /// Runs the simulation until its end or until `is_cancelled`; `follower` observes it too.
    ///
    /// If the run ends early, requests that never completed are no violations.
    pub fn run(self, follower: impl Observer, is_cancelled: impl Fn() -> bool) -> CheckedRun {
        let Self { params, policy, drive, checkers, watch } = self;
        let mut observers = ((checkers, watch), follower);
        let run = simulate_until(&params, policy, drive, &mut observers, is_cancelled);
        let ((checkers, watch), _) = observers;
        let is_whole = run.end == RunEnd::Complete;
        let is_left = |breach: &Breach| matches!(breach, Breach::NeverCompleted { .. });
        let mut violations = checkers.violations();
        violations.retain(|violation| is_whole || !is_left(&violation.breach));
        CheckedRun { run, violations, watch }
    }
}

/// Returns the premise that no real device satisfies: the policy knows the simulated disk's own
/// mechanics exactly. `None` for policies that predict nothing.
pub fn perfect_knowledge(policy: PolicyName, kind: DriveKind) -> Option<Premise> {
    let text = format!(
        "{policy} knows every service time of this simulated disk exactly; the mechanics of a \
         device have errors, and a margin that covers them costs throughput"
    );
    let premise = Premise::new(PremiseCode::PerfectKnowledge, "perfect knowledge", text);
    (kind.has_access_times() && policy.facts().rests_on_predictions()).then_some(premise)
}

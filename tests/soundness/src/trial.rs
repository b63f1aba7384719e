// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs one workload under one policy and checks its bounds.
//!
//! A test generates its trials from numbers and chooses their drives; this module holds the code
//! that all such tests share.

use tidegate_analysis::{Answer, Assessment, assess};
use tidegate_drive::{Drive, PseudoDisk};
use tidegate_model::{BatchTable, Duration, Plan, PolicyName, Workload};
use tidegate_policy::Policy;
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, Observer, Releases, SimParams, SimRun, simulate};

use crate::workloads;

/// A run, and its assessment before the run.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its number in the series, and the seed of its run.
    pub number: u64,
    /// The workload.
    pub workload: Workload,
    /// When its tasks release.
    pub releases: Releases,
    /// Jobs of each task.
    pub jobs: u64,
    /// The assessment.
    pub assessment: Assessment,
    /// The plan for the policy.
    pub plan: Plan,
}

impl Trial {
    /// Creates a trial of a workload under a policy, with its assessment.
    #[must_use]
    pub fn new(
        number: u64,
        name: PolicyName,
        workload: Workload,
        releases: Releases,
        jobs: u64,
    ) -> Self {
        let assessment = assess(&workload, name);
        let plan = assessment.plan(&workload);
        Self { number, workload, releases, jobs, assessment, plan }
    }

    /// Assesses the workload again after a change.
    pub fn assess_anew(&mut self) {
        self.assessment = assess(&self.workload, self.assessment.policy);
        self.plan = self.assessment.plan(&self.workload);
    }

    /// Returns the assessed policy.
    ///
    /// # Panics
    /// If the policy needs more knowledge of the drive.
    #[must_use]
    pub fn policy(&self) -> Box<dyn Policy> {
        tidegate_policy::build(self.assessment.policy, &self.plan, None)
            .expect("the policy needs nothing else")
    }

    /// Returns the pseudo-disk, or in every third trial a drive that may be faster.
    #[must_use]
    pub fn drive(&self) -> Box<dyn Drive> {
        self.drive_with(self.workload.table.clone())
    }

    /// Returns the same drive with other batch times than the workload's.
    #[must_use]
    pub fn drive_with(&self, table: BatchTable) -> Box<dyn Drive> {
        let depth = self.workload.depth;
        if self.number.is_multiple_of(3) {
            Box::new(workloads::varying_drive(depth, table, self.number))
        } else {
            Box::new(PseudoDisk::new(depth, table, self.number))
        }
    }

    /// Runs any policy on any drive.
    pub fn run(
        &self,
        policy: impl Policy,
        drive: impl Drive,
        observer: &mut impl Observer,
    ) -> SimRun {
        let defaults = SimParams::new(&self.workload, Length::Jobs(self.jobs));
        let params = SimParams { releases: self.releases, seed: self.number, ..defaults };
        simulate(&params, policy, drive, observer)
    }

    /// Runs the assessed policy, with `observer` in addition to every checker.
    ///
    /// # Panics
    /// If a checker finds a violation, or real-time work is left at the end.
    pub fn checked_run<O: Observer>(&self, drive: impl Drive, observer: O) -> (SimRun, O) {
        let watching = Checkers::watching(self.assessment.policy, &self.plan, None);
        let (policy, checkers) = watching.expect("the policy needs nothing else");
        self.held_to(checkers, policy, drive, observer)
    }

    /// Does the same with another policy, which must keep the rules of the assessed policy.
    ///
    /// # Panics
    /// As [`Self::checked_run`].
    pub fn checked_run_of<O: Observer>(
        &self,
        policy: impl Policy,
        drive: impl Drive,
        observer: O,
    ) -> (SimRun, O) {
        let checkers = Checkers::of_policy(self.assessment.policy, &self.plan);
        self.held_to(checkers, policy, drive, observer)
    }

    /// Runs a policy and asserts that the checkers find no violation.
    fn held_to<O: Observer>(
        &self,
        checkers: Checkers,
        policy: impl Policy,
        drive: impl Drive,
        observer: O,
    ) -> (SimRun, O) {
        let mut watch = (checkers, observer);
        let run = self.run(policy, drive, &mut watch);
        let violations = watch.0.violations();
        assert!(violations.is_empty(), "{}: {violations:?}", self.name());
        assert_eq!(run.real_time_left, 0, "{}", self.name());
        (run, watch.1)
    }

    /// Returns whether every task has a bound within its deadline.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.assessment.answer == Answer::Proven
    }

    /// Returns whether some task has a bound.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.assessment.tasks.iter().any(|task| task.response_max.is_some())
    }

    /// Lowers every bound by a tenth.
    pub fn lower_bounds(&mut self) {
        for task in &mut self.assessment.tasks {
            let lower = |bound: Duration| Duration::from_ns(bound.ns() / 10 * 9);
            task.response_max = task.response_max.map(|(bound, name)| (lower(bound), name));
        }
    }

    /// Returns the first broken bound: a response above the least bound of its task, or a missed
    /// deadline that was proved.
    #[must_use]
    pub fn broken_promise(&self, run: &SimRun) -> Option<String> {
        let of_tasks = run.metrics.tasks().iter().zip(&self.assessment.tasks).enumerate();
        let above = of_tasks.clone().find_map(|(task, (metrics, promise))| {
            let (response, (bound, name)) = metrics.responses.max().zip(promise.response_max)?;
            let text = || {
                format!("task {task} responds in {response}, but `{}` gives {bound}", name.name())
            };
            (response > bound).then(text)
        });
        let missed = || {
            let mut late = of_tasks.clone().filter(|(_, (metrics, _))| metrics.misses > 0);
            let (task, _) = late.next().filter(|_| self.is_proven())?;
            Some(format!("task {task} missed a proven deadline"))
        };
        above.or_else(missed).map(|broken| format!("{broken} ({})", self.name()))
    }

    /// Returns the longest response over its bound in thousandths, the largest of all tasks with a
    /// bound.
    ///
    /// # Panics
    /// If a ratio exceeds a u64.
    #[must_use]
    pub fn closeness_permille(&self, run: &SimRun) -> Option<u64> {
        let observed = run.metrics.tasks().iter().map(|task| task.responses.max());
        let ratios = observed.zip(&self.assessment.tasks).filter_map(|(response, promise)| {
            let (bound, _) = promise.response_max?;
            Some((u128::from(response?.ns()) * 1_000).div_ceil(u128::from(bound.ns())))
        });
        ratios.max().map(|ratio| u64::try_from(ratio).expect("a small ratio"))
    }

    fn name(&self) -> String {
        let (policy, loads) = (self.assessment.policy, &self.workload.best_effort);
        format!("number {} under {policy}, best effort {loads:?}", self.number)
    }
}

/// How close the runs of a test came to their bounds.
#[derive(Debug, Default)]
pub struct Closeness {
    runs: u64,
    proven: u64,
    /// One entry for each run with a bound.
    permille: Vec<u64>,
}

impl Closeness {
    /// Records a run.
    ///
    /// # Panics
    /// If the run broke a bound.
    pub fn note(&mut self, trial: &Trial, run: &SimRun) {
        if let Some(broken) = trial.broken_promise(run) {
            panic!("{broken} in {:#?}", trial.workload);
        }
        self.runs += 1;
        self.proven += u64::from(trial.is_proven());
        self.permille.extend(trial.closeness_permille(run));
    }

    /// Prints the summary.
    ///
    /// # Panics
    /// If fewer than `bounded_min` runs had a bound.
    pub fn conclude(mut self, what: &str, bounded_min: usize) {
        self.permille.sort_unstable();
        let (bounded, Self { runs, proven, permille }) = (self.permille.len(), self);
        assert!(bounded >= bounded_min, "{what}: only {bounded} of {runs} runs had a bound");
        let [median, highest] = [bounded / 2, bounded.saturating_sub(1)]
            .map(|place| permille.get(place).map_or("-".to_owned(), u64::to_string));
        println!(
            "{what}: {runs} runs, {bounded} with a bound, {proven} proven; largest observed / \
             bound: median {median} permille, maximum {highest}"
        );
    }
}

/// Asserts that `run` breaks a bound of at least one trial.
///
/// # Panics
/// If no trial breaks a bound.
pub fn assert_caught(
    what: &str,
    trials: impl IntoIterator<Item = Trial>,
    run: impl Fn(&mut Trial) -> SimRun,
) {
    let caught = trials.into_iter().find_map(|mut trial| {
        let run = run(&mut trial);
        trial.broken_promise(&run)
    });
    let Some(broken) = caught else { panic!("{what} survived: the harness is broken") };
    println!("{what}: caught, {broken}");
}

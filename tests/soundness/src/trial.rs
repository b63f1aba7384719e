// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs one workload under one policy and checks its bounds.
//!
//! Every test in the simulator is a series of trials: it draws a workload from a number, has it
//! assessed, runs a policy on a drive of its choice, and compares the responses with the bounds.
//! One task may break its contract; the bounds of the others must still hold.

use tidegate_analysis::{Answer, Assessment, BoundName, TaskAssessment, assess};
use tidegate_drive::{Drive, PseudoDisk};
use tidegate_model::{Arrivals, BestEffortOrder, Duration, Plan, PolicyName, Workload};
use tidegate_policy::Policy;
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, Observer, SimParams, SimRun, SourceMetrics, simulate};

use crate::workloads;

/// A run, and its assessment before the run.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The trial's number in the series, and the seed of its run.
    pub number: u64,
    /// The workload of the proof.
    pub workload: Workload,
    /// The workload that runs, if it differs from the proof's workload.
    pub deeds: Option<Workload>,
    /// The task that breaks its contract and therefore has no guarantee.
    pub culprit: Option<usize>,
    /// When the tasks release.
    pub releases: Arrivals,
    /// When the run ends.
    pub length: Length,
    /// The assessment.
    pub assessment: Assessment,
    /// The plan for the policy.
    pub plan: Plan,
}

/// Returns the order of best effort in a trial. Trials use all orders, because no bound depends on
/// it.
const fn order_of(number: u64) -> BestEffortOrder {
    match number % 4 {
        0 => BestEffortOrder::Fifo,
        1 => BestEffortOrder::Nearest,
        _ => BestEffortOrder::Elevator,
    }
}

impl Trial {
    /// Creates a trial of a workload under a policy, with its assessment.
    #[must_use]
    pub fn new(
        number: u64,
        name: PolicyName,
        workload: Workload,
        releases: Arrivals,
        jobs: u64,
    ) -> Self {
        let assessment = assess(&workload, name);
        let mut plan = assessment.plan(&workload);
        plan.best_effort_order = order_of(number);
        let (deeds, culprit, length) = (None, None, Length::Jobs(jobs));
        Self { number, workload, deeds, culprit, releases, length, assessment, plan }
    }

    /// Returns the trial with a task that breaks its contract: the run of `deeds` lasts `periods`
    /// times the longest period.
    #[must_use]
    pub fn with_culprit(self, culprit: usize, deeds: Workload, periods: u64) -> Self {
        let period_max = self.workload.tasks.iter().map(|task| task.period).max();
        let length = Length::Duration(period_max.unwrap_or_default() * periods);
        Self { deeds: Some(deeds), culprit: Some(culprit), length, ..self }
    }

    /// Returns the pseudo-disk, whose batches take exactly the times of the workload's table.
    #[must_use]
    pub fn pseudo_disk(&self) -> PseudoDisk {
        PseudoDisk::new(self.workload.depth, self.workload.table.clone(), self.number)
    }

    /// Assesses the workload again after a change.
    pub fn assess_anew(&mut self) {
        self.assessment = assess(&self.workload, self.assessment.policy);
        let best_effort_order = self.plan.best_effort_order;
        self.plan = Plan { best_effort_order, ..self.assessment.plan(&self.workload) };
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
        let Workload { depth, table, .. } = &self.workload;
        if self.number.is_multiple_of(3) {
            Box::new(workloads::varying_drive(*depth, table.clone(), self.number))
        } else {
            Box::new(self.pseudo_disk())
        }
    }

    /// Runs any policy on any drive.
    pub fn run(
        &self,
        policy: impl Policy,
        drive: impl Drive,
        observer: &mut impl Observer,
    ) -> SimRun {
        let mut deeds = self.deeds.as_ref().unwrap_or(&self.workload).clone();
        deeds.tasks.iter_mut().for_each(|task| task.arrivals = self.releases);
        let defaults = SimParams::new(&deeds, self.length);
        let params = SimParams { seed: self.number, ..defaults };
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

    /// Runs another policy in the same way; it must keep the rules of the assessed policy.
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

    /// Returns whether every task has a bound.
    #[must_use]
    pub fn is_bounded_throughout(&self) -> bool {
        self.assessment.tasks.iter().all(|task| task.response_max.is_some())
    }

    /// Makes the bounds by costs the only ones with which the run is compared.
    pub fn hold_to_costs(&mut self) {
        for task in &mut self.assessment.tasks {
            task.response_max = task.bounds.mixed.map(|bound| (bound, BoundName::Mixed));
        }
    }

    /// Returns the tasks that keep their contracts, each with its results and its promise.
    pub fn honest<'a>(
        &'a self,
        run: &'a SimRun,
    ) -> impl Iterator<Item = (usize, &'a SourceMetrics, &'a TaskAssessment)> + Clone {
        let tasks = run.metrics.tasks().iter().zip(&self.assessment.tasks).enumerate();
        let honest = tasks.filter(|&(task, _)| Some(task) != self.culprit);
        honest.map(|(task, (metrics, promise))| (task, metrics, promise))
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
        let above = self.honest(run).find_map(|(task, metrics, promise)| {
            let (response, (bound, name)) = metrics.responses.max().zip(promise.response_max)?;
            let text = || {
                format!("task {task} responds in {response}, but `{}` gives {bound}", name.name())
            };
            (response > bound).then(text)
        });
        let missed = || {
            let mut late = self.honest(run).filter(|(_, metrics, _)| metrics.misses > 0);
            let (task, ..) = late.next().filter(|_| self.is_proven())?;
            Some(format!("task {task} missed a proven deadline"))
        };
        above.or_else(missed).map(|broken| format!("{broken} ({})", self.name()))
    }

    /// Returns the largest ratio of a task's longest response to its bound, in thousandths; `None`
    /// if no task has both.
    ///
    /// # Panics
    /// If a ratio exceeds a u64.
    #[must_use]
    pub fn closeness_permille(&self, run: &SimRun) -> Option<u64> {
        let ratios = self.honest(run).filter_map(|(_, metrics, promise)| {
            let (response, (bound, _)) = metrics.responses.max().zip(promise.response_max)?;
            Some((u128::from(response.ns()) * 1_000).div_ceil(u128::from(bound.ns())))
        });
        ratios.max().map(|ratio| u64::try_from(ratio).expect("a small ratio"))
    }

    fn name(&self) -> String {
        let (policy, loads) = (self.assessment.policy, &self.workload.best_effort);
        let culprit =
            self.culprit.map_or(String::new(), |task| format!(", task {task} misbehaves"));
        format!("number {} under {policy}, best effort {loads:?}{culprit}", self.number)
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

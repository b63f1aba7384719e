// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response that the simulator observes under a policy by deadline exceeds its bound: the
//! policies' own code, random workloads with deadlines on either side of the periods, every
//! checker on.
//!
//! As `soundness` does for release order; the searches of `dq_edf` are exhaustive in small
//! systems, this reaches further.

use analysis::{Answer, Assessment, assess};
use drive::{Drive, PseudoDisk};
use model::{Duration, Plan, PolicyName, Workload};
use policy::Policy;
use sim::checkers::Checkers;
use sim::{Length, Releases, SimParams, SimRun, simulate};
use soundness::generate;
use soundness::workloads::{self, Load};

const SEED: u64 = 20_261_222;
const JOBS: u64 = 40;

/// A run, and what was promised beforehand.
struct Trial {
    number: u64,
    load: Load,
    workload: Workload,
    releases: Releases,
    assessment: Assessment,
    plan: Plan,
}

impl Trial {
    fn new(number: u64, name: PolicyName, load: Load) -> Self {
        let random = &mut generate::generator(SEED + load as u64, number);
        let mut workload = workloads::workload(random, name, load);
        workloads::give_random_deadlines(random, &mut workload);
        let releases = workloads::releases(random, &workload);
        let assessment = assess(&workload, name);
        let plan = assessment.plan(&workload);
        Self { number, load, workload, releases, assessment, plan }
    }

    fn name(&self) -> String {
        let Self { number, load, assessment, .. } = self;
        format!("seed {SEED} number {number} with best effort {load:?} under {}", assessment.policy)
    }

    /// A run on the pseudo-disk, or on the drive that may be faster.
    fn run(&self, policy: impl Policy, checkers: &mut Checkers) -> SimRun {
        let params = SimParams {
            releases: self.releases,
            seed: self.number,
            ..SimParams::new(&self.workload, Length::Jobs(JOBS))
        };
        let (depth, table) = (self.workload.depth, self.workload.table.clone());
        let drive: Box<dyn Drive> = if self.number.is_multiple_of(3) {
            Box::new(workloads::varying_drive(depth, table, self.number))
        } else {
            Box::new(PseudoDisk::new(depth, table, self.number))
        };
        simulate(&params, policy, drive, checkers)
    }

    /// A run of the policy that was assessed; fails if a checker has found anything.
    fn checked_run(&self) -> SimRun {
        let name = self.assessment.policy;
        let mut checkers = Checkers::of_policy(name, &self.plan);
        let run = self.run(policy::build(name, &self.plan, None).unwrap(), &mut checkers);
        let violations = checkers.violations();
        assert!(violations.is_empty(), "{}: {violations:?}", self.name());
        run
    }

    /// The first task whose longest response exceeds its bound.
    fn broken_promise(&self, run: &SimRun) -> Option<String> {
        let observed = run.metrics.tasks().iter().map(|task| task.responses.max());
        observed.zip(&self.assessment.tasks).enumerate().find_map(|(task, (response, promise))| {
            let (response, (bound, _)) = response.zip(promise.response_max)?;
            let text = || format!("task {task}: {response} > {bound}, {}", self.name());
            (response > bound).then(text)
        })
    }
}

fn assert_sound(name: PolicyName) {
    let (mut runs, mut proven, mut bounded) = (0, 0, 0);
    for load in Load::ALL {
        for number in 0..260 {
            let trial = Trial::new(number, name, load);
            let run = trial.checked_run();
            if let Some(broken) = trial.broken_promise(&run) {
                panic!("{broken} ({:#?})", trial.workload);
            }
            if trial.assessment.answer == Answer::Proven {
                let misses: u64 = run.metrics.tasks().iter().map(|task| task.misses).sum();
                assert_eq!(misses, 0, "deadlines were proven: {}", trial.name());
                proven += 1;
            }
            assert_eq!(run.real_time_left, 0, "{}", trial.name());
            runs += 1;
            let tasks = &trial.assessment.tasks;
            bounded += usize::from(tasks.iter().any(|task| task.response_max.is_some()));
        }
    }
    println!("{name}: {runs} runs, {bounded} with a bound, {proven} proven");
    assert!(runs >= 1_000 && bounded >= 500);
}

#[test]
fn no_response_under_edf_exceeds_the_bound() {
    assert_sound(PolicyName::Edf);
}

#[test]
fn no_response_under_scan_edf_exceeds_the_bound() {
    assert_sound(PolicyName::ScanEdf);
}

#[test]
fn no_response_under_dual_queue_edf_exceeds_the_bound() {
    assert_sound(PolicyName::DqEdf);
}

/// Fails unless a run breaks a promise.
fn assert_caught(what: &str, name: PolicyName, run: impl Fn(&mut Trial) -> SimRun) {
    let broken = (0..400).find_map(|number| {
        let mut trial = Trial::new(number, name, Load::None);
        let run = run(&mut trial);
        trial.broken_promise(&run).map(|_| number)
    });
    let Some(number) = broken else {
        panic!("{what} survived: the harness is broken");
    };
    println!("{what}: caught by workload {number}");
}

#[test]
fn an_optimistic_bound_by_deadline_is_caught() {
    for name in [PolicyName::Edf, PolicyName::DqEdf] {
        assert_caught("a bound a tenth too low", name, |trial| {
            for task in &mut trial.assessment.tasks {
                let lower = |bound: Duration| Duration::from_ns(bound.ns() / 10 * 9);
                task.response_max = task.response_max.map(|(bound, name)| (lower(bound), name));
            }
            trial.checked_run()
        });
    }
}

/// Nearest first, whatever the deadlines, is g-edf with groups of everything.
#[test]
fn a_policy_that_looks_beyond_the_earliest_due_is_caught() {
    assert_caught("groups of near deadlines", PolicyName::Edf, |trial| {
        let policy = policy::build(PolicyName::GroupEdf, &trial.plan, None).unwrap();
        trial.run(policy, &mut Checkers::default())
    });
}

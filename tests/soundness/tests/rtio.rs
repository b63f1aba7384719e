// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response under `rtio-drain` and `rtio-limit` exceeds its bound: the policies' own code on
//! drives that provably keep their drain times, random workloads, every checker on.

use analysis::{Answer, Assessment, assess};
use drive::{Drive, PseudoDisk};
use model::{BatchTable, Contract, Duration, Plan, PolicyName, Workload};
use sim::checkers::Checkers;
use sim::{Length, Releases, SimParams, SimRun, simulate};
use soundness::workloads::{self, Load};
use soundness::{drains, generate};

const SEED: u64 = 20_261_123;
const JOBS: u64 = 40;
const DRAINING: [PolicyName; 2] = [PolicyName::RtioDrain, PolicyName::RtioLimit];

/// A workload on a drive that keeps its drain times.
struct Trial {
    number: u64,
    workload: Workload,
    releases: Releases,
}

impl Trial {
    fn new(number: u64) -> Self {
        let random = &mut generate::generator(SEED, number);
        let load = Load::ALL[usize::try_from(number % 4).expect("below 4")];
        let workload = workloads::workload(random, PolicyName::RtioLimit, load);
        let workload = drains::leaning_on_drains(random, workload);
        let releases = workloads::releases(random, &workload);
        Self { number, workload, releases }
    }

    /// The pseudo-disk, and the drive that may be faster.
    fn drive(&self) -> Box<dyn Drive> {
        let (depth, table) = (self.workload.depth, self.workload.table.clone());
        if self.number.is_multiple_of(3) {
            Box::new(workloads::varying_drive(depth, table, self.number))
        } else {
            Box::new(PseudoDisk::new(depth, table, self.number))
        }
    }

    fn run(&self, name: PolicyName, plan: &Plan) -> SimRun {
        let defaults = SimParams::new(&self.workload, Length::Jobs(JOBS));
        let params = SimParams { releases: self.releases, seed: self.number, ..defaults };
        let mut watch = (
            Checkers::of_policy(name, plan),
            sim::ContractWatch::new(self.workload.table.clone(), &drained(&self.workload)),
        );
        let policy = policy::build(name, plan, None).expect("it is part of this version");
        let run = simulate(&params, policy, self.drive(), &mut watch);
        let violations = watch.0.violations();
        assert!(violations.is_empty(), "number {}: {violations:?}", self.number);
        let kept = watch.1.overruns(Contract::Drain).expect("the table is there");
        assert_eq!(kept.overruns, 0, "number {}: the drive broke its drain times", self.number);
        run
    }
}

/// What the drive truly keeps, whatever the workload says of it.
fn drained(workload: &Workload) -> model::Contracts {
    model::Contracts {
        drain: Some(drains::drain_table(&workload.table)),
        ..model::Contracts::default()
    }
}

/// The largest of observed response over bound in thousandths, where there is a bound.
fn closeness_permille(assessment: &Assessment, run: &SimRun) -> Option<u64> {
    let observed = run.metrics.tasks().iter().map(|task| task.responses.max());
    let ratios = observed.zip(&assessment.tasks).filter_map(|(response, promise)| {
        let (bound, _) = promise.response_max?;
        Some((u128::from(response?.ns()) * 1_000).div_ceil(u128::from(bound.ns())))
    });
    ratios.max().map(|ratio| u64::try_from(ratio).expect("a small ratio"))
}

#[test]
fn no_response_under_draining_exceeds_the_bound() {
    for name in DRAINING {
        let (mut permille, mut proven) = (Vec::new(), 0);
        for number in 0..1_600 {
            let trial = Trial::new(number);
            let assessment = assess(&trial.workload, name);
            let run = trial.run(name, &assessment.plan(&trial.workload));
            let closeness = closeness_permille(&assessment, &run);
            assert!(closeness <= Some(1_000), "{name}, number {number}: {:#?}", trial.workload);
            if assessment.answer == Answer::Proven {
                proven += 1;
                assert!(run.metrics.tasks().iter().all(|task| task.misses == 0), "{number}");
            }
            permille.extend(closeness);
        }
        permille.sort_unstable();
        let bounded = permille.len();
        println!(
            "{name}: {bounded} runs with a bound, {proven} proven; largest observed / bound: \
             median {} permille, maximum {}",
            permille[bounded / 2],
            permille[bounded - 1]
        );
        assert!(name == PolicyName::RtioDrain || bounded >= 1_000, "only {bounded} had a bound");
    }
}

/// Fails unless some run exceeds what `promise` says of the workload.
fn assert_caught(what: &str, promise: impl Fn(&Workload) -> Assessment) {
    let caught = (0..1_600).find(|&number| {
        let trial = Trial::new(number);
        let assessment = promise(&trial.workload);
        let run = trial.run(PolicyName::RtioLimit, &assessment.plan(&trial.workload));
        closeness_permille(&assessment, &run) > Some(1_000)
    });
    let Some(number) = caught else { panic!("{what} survived: the harness is broken") };
    println!("{what}: caught by workload {number}");
}

/// Drain times that are those of one request less.
#[test]
fn drain_table_short_of_one_request_is_caught() {
    assert_caught("a drain table short of one request", |workload| {
        let mut workload = workload.clone();
        workload.contracts.drain = workload.contracts.drain.as_ref().map(drains::optimistic);
        assess(&workload, PolicyName::RtioLimit)
    });
}

/// b(q) for drain(q): what a drive takes that was idle before, without what runs already.
#[test]
fn batch_times_for_drain_times_are_caught() {
    assert_caught("batch times for drain times", |workload| {
        let mut workload = workload.clone();
        workload.contracts.drain = Some(workload.table.clone());
        assess(&workload, PolicyName::RtioLimit)
    });
}

/// A bound for one round, as if no job ever met another on the drive.
#[test]
fn bound_without_the_round_before_is_caught() {
    assert_caught("a bound of one round", |workload| {
        let mut assessment = assess(workload, PolicyName::RtioLimit);
        let requests: u32 = workload.tasks.iter().map(|task| task.requests).sum();
        let drain = workload.contracts.drain.as_ref().expect("it leans on it");
        let one = drain.time_max(assessment.best_effort_depth + requests);
        for (bound, _) in assessment.tasks.iter_mut().filter_map(|it| it.response_max.as_mut()) {
            *bound = one.min(*bound);
        }
        assessment
    });
}

/// The table by hand: b = 4, 6, 9 has gaps of at most 4, so drain = 4, 4 + 4, 4 + 6.
#[test]
fn derived_drain_times_are_those_of_the_text() {
    let times = |ms: [u64; 3]| BatchTable::new(&ms.map(Duration::from_ms)).expect("a table");
    assert_eq!(drains::drain_table(&times([4, 6, 9])), times([4, 8, 10]));
    assert_eq!(drains::optimistic(&times([4, 8, 10])), times([4, 4, 8]));
}

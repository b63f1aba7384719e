// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response under `rtio-drain` and `rtio-limit` exceeds its bound: the policies' own code runs
//! on drives that provably keep their drain times, with random workloads and every checker.

use tidegate_model::{
    BatchTable, Contracts, DriveContract, DriveLimits, Duration, PolicyName, Workload,
};
use tidegate_sim::{ContractWatch, SimRun};
use tidegate_soundness::trial::{self, Closeness, Trial};
use tidegate_soundness::workloads::{self, Load};
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_123;
const TRIALS: u64 = 1_600;
const JOBS: u64 = 40;
const DRAINING: [PolicyName; 2] = [PolicyName::RtioDrain, PolicyName::RtioLimit];

/// Returns a workload on a drive that keeps its drain times.
fn trial(number: u64, name: PolicyName) -> Trial {
    let random = &mut generate::generator(SEED, number);
    let workload = workloads::workload(random, PolicyName::RtioLimit, Load::numbered(number));
    let workload = drains::leaning_on_drains(random, workload);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

fn run(trial: &Trial) -> SimRun {
    let watch = ContractWatch::new(&DriveLimits::of(&drained(&trial.workload), false));
    let (run, watch) = trial.checked_run(trial.drive(), watch);
    let kept = watch.overruns(DriveContract::Drain).expect("the table is there");
    assert_eq!(kept.overruns, 0, "number {}: the drive broke its drain times", trial.number);
    run
}

/// Returns the workload with the drain table that the drive really keeps, in place of its own
/// contracts.
fn drained(workload: &Workload) -> Workload {
    let drain = Some(drains::drain_table(&workload.table));
    Workload { contracts: Contracts { drain, ..Contracts::default() }, ..workload.clone() }
}

#[test]
fn no_response_under_draining_exceeds_the_bound() {
    for name in DRAINING {
        let mut closeness = Closeness::default();
        for number in 0..TRIALS {
            let trial = trial(number, name);
            closeness.note(&trial, &run(&trial));
        }
        let bounded_min = if name == PolicyName::RtioDrain { 1 } else { 1_000 };
        closeness.conclude(name.name(), bounded_min);
    }
}

/// Asserts that some run exceeds the bounds of the changed workload.
fn assert_caught(what: &str, change: impl Fn(&mut Trial)) {
    let trials = (0..TRIALS).map(|number| trial(number, PolicyName::RtioLimit));
    trial::assert_caught(what, trials, |trial| {
        change(trial);
        run(trial)
    });
}

/// Canary: drain times that hold only for one request fewer are too short.
#[test]
fn drain_table_short_of_one_request_is_caught() {
    assert_caught("a drain table short of one request", |trial| {
        let drain = &mut trial.workload.contracts.drain;
        *drain = drain.as_ref().map(drains::optimistic);
        trial.assess_anew();
    });
}

/// Canary: batch times b(q) used as drain(q) are caught. They hold for a drive that was idle before
/// and omit the requests in service.
#[test]
fn batch_times_for_drain_times_are_caught() {
    assert_caught("batch times for drain times", |trial| {
        trial.workload.contracts.drain = Some(trial.workload.table.clone());
        trial.assess_anew();
    });
}

/// Canary: a bound for one round, as if no job ever met another on the drive, is caught.
#[test]
fn bound_without_the_round_before_is_caught() {
    assert_caught("a bound of one round", |trial| {
        let requests: u32 = trial.workload.tasks.iter().map(|task| task.requests).sum();
        let drain = trial.workload.contracts.drain.as_ref().expect("the workload needs it");
        let together = trial.assessment.best_effort_depth + requests;
        let one = drain.time_max(together.min(drain.batch_max()));
        for promise in &mut trial.assessment.tasks {
            promise.response_max = promise.response_max.map(|(bound, name)| (one.min(bound), name));
        }
    });
}

/// The table by hand: b = 4, 6, 9 has gaps of at most 4, so drain = 4, 4 + 4, 4 + 6.
#[test]
fn derived_drain_times_are_those_of_the_text() {
    let times = |ms: [u64; 3]| BatchTable::new(&ms.map(Duration::from_ms)).expect("a table");
    assert_eq!(drains::drain_table(&times([4, 6, 9])), times([4, 8, 10]));
    assert_eq!(drains::optimistic(&times([4, 8, 10])), times([4, 4, 8]));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response in the simulator under a policy by deadline exceeds its bound: the policies' own
//! code runs on random workloads with deadlines shorter and longer than the periods, with every
//! checker.
//!
//! `soundness` does the same for release order. The searches of `dq_edf` are exhaustive in small
//! systems; this test reaches larger systems.

use tidegate_model::PolicyName;
use tidegate_sim::SimRun;
use tidegate_sim::checkers::Checkers;
use tidegate_soundness::generate;
use tidegate_soundness::trial::{self, Closeness, Trial};
use tidegate_soundness::workloads::{self, Load};

const SEED: u64 = 20_261_222;
const JOBS: u64 = 40;

fn trial(number: u64, name: PolicyName, load: Load) -> Trial {
    let random = &mut generate::generator(SEED + load as u64, number);
    let mut workload = workloads::workload(random, name, load);
    workloads::give_random_deadlines(random, &mut workload);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

fn assert_sound(name: PolicyName) {
    let mut closeness = Closeness::default();
    for load in Load::ALL {
        for number in 0..260 {
            let trial = trial(number, name, load);
            let (run, ()) = trial.checked_run(trial.drive(), ());
            closeness.note(&trial, &run);
        }
    }
    closeness.conclude(name.name(), 500);
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

fn assert_caught(what: &str, name: PolicyName, run: impl Fn(&mut Trial) -> SimRun) {
    trial::assert_caught(what, (0..400).map(|number| trial(number, name, Load::None)), run);
}

#[test]
fn an_optimistic_bound_by_deadline_is_caught() {
    for name in [PolicyName::Edf, PolicyName::DqEdf] {
        assert_caught("a bound a tenth too low", name, |trial| {
            trial.lower_bounds();
            trial.checked_run(trial.drive(), ()).0
        });
    }
}

/// Canary: nearest first without regard to deadlines, which is g-edf with one group of all
/// requests.
#[test]
fn a_policy_that_looks_beyond_the_earliest_due_is_caught() {
    assert_caught("groups of near deadlines", PolicyName::Edf, |trial| {
        let policy = tidegate_policy::build(PolicyName::GroupEdf, &trial.plan, None).unwrap();
        trial.run(policy, trial.drive(), &mut Checkers::default())
    });
}

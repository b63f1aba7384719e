// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies that decide by drain times, on a drive that guarantees nothing but drain(q):
//! `adaptive-drain` and `gated-drain` keep every deadline. Either policy misses some deadlines if
//! it lacks a condition that does not follow from the others. `drain_searches` shows that
//! `rtio-slots` misses some deadlines.

use rand_pcg::Pcg64;
use tidegate_analysis::{Answer, assess};
use tidegate_model::PolicyName;
use tidegate_policy::Policy;
use tidegate_soundness::black_box::CompletionStrategy;
use tidegate_soundness::drain_duel::{Tally, duel};
use tidegate_soundness::drain_reference::{Fault, Lack, ScanAdaptive, ScanGate};
use tidegate_soundness::drain_system::{DrainSystem, adaptive_system, gated_system};
use tidegate_soundness::generate;

const SEED: u64 = 20_261_121;
const SYSTEMS: u64 = 1_200;
const JOBS: u32 = 10;

/// Runs a duel with every strategy; returns the sum of the results.
fn duels<P: Policy>(system: &DrainSystem, number: u64, policy: impl Fn() -> P) -> Tally {
    let mut sum = Tally::default();
    for strategy in CompletionStrategy::ALL {
        let random = generate::generator(SEED ^ 0xabc, number * 10 + strategy as u64);
        let tally = duel(system, policy(), strategy, JOBS, random);
        sum.jobs += tally.jobs;
        sum.misses += tally.misses;
        sum.lateness_max = sum.lateness_max.max(tally.lateness_max);
        sum.best_effort += tally.best_effort;
        sum.best_effort_highest = sum.best_effort_highest.max(tally.best_effort_highest);
    }
    sum
}

fn holds(name: PolicyName, system_of: fn(&mut Pcg64) -> DrainSystem) {
    let (mut jobs, mut best_effort) = (0, 0);
    for number in 0..SYSTEMS {
        let system = system_of(&mut generate::generator(SEED, number));
        let assessment = assess(&system.workload(), name);
        assert_eq!(assessment.answer, Answer::Proven, "number {number}: {system:?}");
        let plan = system.plan(name);
        let build = || tidegate_policy::build(name, &plan, None).expect("it needs nothing else");
        let tally = duels(&system, number, build);
        assert_eq!(tally.misses, 0, "{name} number {number}: {tally:?} {system:?}");
        let promised = assessment.best_effort_depth;
        assert!(tally.best_effort_highest <= promised, "{number}: {tally:?} {promised} {system:?}");
        jobs += tally.jobs;
        best_effort += tally.best_effort;
    }
    println!("{name}: {SYSTEMS} systems, {jobs} jobs, no miss, {best_effort} of best effort");
    assert!(best_effort > jobs, "best effort must flow, or the test tried nothing");
}

#[test]
fn gated_drain_keeps_every_deadline_on_every_drive_that_keeps_its_drain_table() {
    holds(PolicyName::GatedDrain, gated_system);
}

#[test]
fn adaptive_drain_keeps_every_deadline_on_every_drive_that_keeps_its_drain_table() {
    holds(PolicyName::AdaptiveDrain, adaptive_system);
}

/// Returns in how many of the first systems a policy misses a deadline.
fn missed_in<P: Policy>(
    systems: u64,
    system_of: fn(&mut Pcg64) -> DrainSystem,
    policy: impl Fn(&DrainSystem) -> P,
) -> u64 {
    let is_missed = |&number: &u64| {
        let system = system_of(&mut generate::generator(SEED, number));
        duels(&system, number, || policy(&system)).misses > 0
    };
    (0..systems).filter(is_missed).count() as u64
}

#[test]
fn a_gate_that_lacks_a_condition_is_caught() {
    let missed = |lack| missed_in(300, gated_system, |system| ScanGate::new(system, lack, true));
    assert_eq!(missed(Lack::Nothing), 0);
    for lack in [Lack::OnDrive, Lack::Waiting, Lack::Unreleased, Lack::Prefix, Lack::One] {
        let count = missed(lack);
        println!("gated-drain without {lack:?}: missed in {count} of 300 systems");
        assert!(count > 0, "{lack:?}");
    }
    // The limit on an empty drive matters only if a unit may be released at its deadline.
    let with_gaps = |random: &mut Pcg64| {
        let mut system = gated_system(random);
        for task in &mut system.tasks {
            task.period = task.period.max(task.deadline + 1);
        }
        system
    };
    let bare = missed_in(300, with_gaps, |system| ScanGate::new(system, Lack::Prefix, true));
    assert_eq!(bare, 0);
    // This condition follows from the condition on the units on the drive; see
    // `tidegate_analysis::gated_drain`.
    assert_eq!(missed(Lack::AfterFlight), 0);
}

#[test]
fn a_wrong_adaptive_drain_is_caught() {
    let missed =
        |fault| missed_in(300, adaptive_system, |system| ScanAdaptive::new(system, fault, true));
    assert_eq!(missed(Fault::None), 0);
    for fault in [
        Fault::DueForgotten,
        Fault::NextForgotten,
        Fault::One,
        Fault::NextForFree,
        Fault::NeverHolds,
    ] {
        let count = missed(fault);
        println!("adaptive-drain with {fault:?}: missed in {count} of 300 systems");
        assert!(count > 0, "{fault:?}");
    }
}

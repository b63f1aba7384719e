// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests I1 to I6 on random processors with budgets enforced up to three ticks late: millions of
//! events for the corrected server and both hybrids. POSIX on such processors is the canary.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tidegate_cpu_conformance::{Invariant, Outcome, check, random_case};
use tidegate_cpu_model::{ServerKind, ServerParams};

/// The number of random processors for each kind of server.
const CASES: u32 = 1_500;

fn outcome(kind: ServerKind, seed: u64) -> Outcome {
    let case = random_case(seed);
    let server = tidegate_cpu_servers::build(&ServerParams { kind, ..*case.params() });
    check(&case, server, false)
}

/// Runs a kind of server on random processors; returns the number of events, and the number of
/// checks of each invariant.
fn hold(kind: ServerKind) -> (u64, [u64; Invariant::COUNT]) {
    let seen = RefCell::new((0, [0; Invariant::COUNT]));
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let result = runner.run(&any::<u64>(), |seed| {
        let outcome = outcome(kind, seed);
        let first = outcome.violations().next();
        prop_assert!(first.is_none(), "{kind}, seed {seed}: {}", first.unwrap());
        let mut seen = seen.borrow_mut();
        seen.0 += outcome.events;
        for (sum, checks) in seen.1.iter_mut().zip(outcome.checks) {
            *sum += checks;
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    seen.into_inner()
}

fn hold_over_millions(kind: ServerKind) {
    let (events, checks) = hold(kind);
    println!("{kind}: {events} events, checks of I1 to I6 {checks:?}");
    assert!(events > 2_000_000, "{events}");
    assert!(checks.iter().all(|&checks| checks > 10_000), "{checks:?}");
}

#[test]
fn invariants_hold_for_the_corrected_server() {
    hold_over_millions(ServerKind::Sporadic);
}

#[test]
fn invariants_hold_for_immediate_coalescing() {
    hold_over_millions(ServerKind::HybridImmediate);
}

#[test]
fn invariants_hold_for_gradual_coalescing() {
    hold_over_millions(ServerKind::HybridGradual);
}

/// I4 counts pending replenishments, as POSIX does; this test also counts available budget.
#[test]
fn ours_are_cut_into_as_many_chunks_as_they_may_be_and_no_more() {
    for kind in [ServerKind::Sporadic, ServerKind::HybridImmediate, ServerKind::HybridGradual] {
        let mut at_the_limit = 0;
        for seed in 0..200 {
            let case = random_case(seed);
            let limit = case.params().replenishments_max;
            let server = tidegate_cpu_servers::build(&ServerParams { kind, ..*case.params() });
            let calls = check(&case, server, true).trace;
            let most = calls.iter().map(|call| call.replenishments_ns.len()).max().unwrap_or(0);
            assert!(most <= limit as usize, "{kind}, seed {seed}: {most} of {limit}");
            at_the_limit += u32::from(most == limit as usize);
        }
        assert!(at_the_limit > 50, "{kind}: {at_the_limit}");
    }
}

/// Canary: on such processors POSIX violates I1, I2, I3 and I5, but not I4.
#[test]
fn posix_breaks_the_invariants() {
    for kind in [ServerKind::PosixSporadic, ServerKind::PosixSporadicStrict] {
        let mut broken = [0; Invariant::COUNT];
        for seed in 0..300 {
            let outcome = outcome(kind, seed);
            for (count, violation) in broken.iter_mut().zip(&outcome.violations) {
                *count += u32::from(violation.is_some());
            }
        }
        assert!([0, 1, 2, 4].iter().all(|&it| broken[it] > 30), "{kind}: {broken:?}");
        assert_eq!(broken[3], 0, "{kind}");
    }
}

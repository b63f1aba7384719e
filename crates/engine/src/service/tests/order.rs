// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: overlapping requests take effect in the order of their arrival, under every policy.
//! Method: random clients whose reads are compared with a reference.

use tidegate_model::PolicyName;

use super::clients::Clients;
use crate::service::harness::requests::InjectedFaults;

fn clients(policy: PolicyName, seed: u64) -> Clients {
    Clients {
        exports: 3,
        count: 6,
        policy,
        batch_ms: &[4, 6, 8, 10],
        seed,
        calls: 400,
        pause_ms: 2,
        has_trims: false,
        faults: InjectedFaults::default(),
    }
}

/// In this store, trimmed data reads as zeroes. A trim keeps its place in the order like a write.
#[test]
fn reads_see_exactly_what_was_written_or_trimmed_before_them() {
    for (policy, has_trims) in [
        (PolicyName::Noop, false),
        (PolicyName::Fifo, false),
        (PolicyName::Dqf, false),
        (PolicyName::Rtio, false),
        (PolicyName::Dqf, true),
    ] {
        for seed in 0..12 {
            let bench = Clients { has_trims, ..clients(policy, seed) }.run();
            let counts = bench.map(|bench| (bench.report.answered, bench.report.failed));
            assert_eq!(counts, Ok((400, 0)), "{policy}, {has_trims}, seed {seed}");
        }
    }
}

/// Canary: without the order, the harness detects wrong reads.
#[test]
fn disorder_is_noticed() {
    let faults = InjectedFaults { is_disordered: true, ..InjectedFaults::default() };
    for has_trims in [false, true] {
        let is_wrong = |seed: &u64| {
            let disordered = Clients { has_trims, faults, ..clients(PolicyName::Noop, *seed) };
            disordered.run().is_err_and(|fault| fault.contains(" saw "))
        };
        let wrong = (0..12).filter(is_wrong).count();
        assert!(wrong >= 10, "{wrong} of 12, {has_trims}");
    }
}

#[test]
fn batches_are_as_large_as_the_policy_makes_them() {
    let bench = clients(PolicyName::Dqf, 3).run().unwrap();
    assert_eq!(bench.core.backend().batches.iter().max(), Some(&4));
    let statistics = bench.core.statistics();
    assert_eq!(statistics.in_flight, 0);
    let bytes: u64 = statistics.exports.iter().map(|export| export.bytes).sum();
    assert!(bytes > 400 * 4096, "{bytes}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: overlapping requests take effect in the order of their arrival, under every policy.
//! Method: random clients whose reads are compared with a reference.

use tidegate_model::PolicyName;

use super::clients::{Bench, export};
use crate::service::harness::table;

fn bench(policy: PolicyName, seed: u64) -> Bench {
    Bench {
        exports: (0..3).map(|number| export(number, None)).collect(),
        clients: 6,
        policy,
        table: table(&[4, 6, 8, 10]),
        seed,
        calls: 400,
        pause_ms: 2,
        has_trims: false,
        is_disordered: false,
    }
}

#[test]
fn reads_see_exactly_what_was_written_before_them() {
    for policy in [PolicyName::Noop, PolicyName::Fifo, PolicyName::Dqf, PolicyName::Rtio] {
        for seed in 0..12 {
            let outcome = bench(policy, seed).run();
            assert_eq!((outcome.wrong, outcome.failed), (0, 0), "{policy}, seed {seed}");
            assert_eq!(outcome.answered, 400);
        }
    }
}

/// In this store, trimmed data reads as zeroes; a trim keeps the order like a write.
#[test]
fn trims_keep_the_order_too() {
    for seed in 0..12 {
        let outcome = Bench { has_trims: true, ..bench(PolicyName::Dqf, seed) }.run();
        assert_eq!((outcome.wrong, outcome.failed, outcome.answered), (0, 0, 400), "seed {seed}");
    }
    let disordered =
        |seed| Bench { has_trims: true, is_disordered: true, ..bench(PolicyName::Noop, seed) };
    let wrong = (0..12).filter(|&seed| disordered(seed).run().wrong > 0).count();
    assert!(wrong >= 10, "{wrong} of 12");
}

/// Canary: without the order, the harness detects wrong reads.
#[test]
fn disorder_is_noticed() {
    let disordered = |seed| Bench { is_disordered: true, ..bench(PolicyName::Noop, seed) };
    let wrong = (0..12).filter(|&seed| disordered(seed).run().wrong > 0).count();
    assert!(wrong >= 10, "{wrong} of 12");
}

#[test]
fn batches_are_as_large_as_the_policy_makes_them() {
    let outcome = bench(PolicyName::Dqf, 3).run();
    assert_eq!(outcome.batches.iter().max(), Some(&4));
    assert_eq!(outcome.statistics.in_flight, 0);
    let bytes: u64 = outcome.statistics.exports.iter().map(|export| export.bytes).sum();
    assert!(bytes > 400 * 4096, "{bytes}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: after a crash at any instant, the store holds all data that was reported durable. Method:
//! cut the store's journal after every entry. Only the worst image is checked: a write that was not
//! flushed before the cut may survive, but here none does. Each block must then hold the newest
//! stamp that was reported durable before the cut, or a newer one.

use tidegate_model::PolicyName;

use super::clients::Clients;
use crate::service::harness::requests::InjectedFaults;

fn clients(policy: PolicyName, seed: u64, is_early: bool) -> Clients {
    Clients {
        exports: 2,
        count: 5,
        policy,
        batch_ms: &[4, 6, 8],
        seed,
        calls: 300,
        pause_ms: 8,
        has_trims: false,
        faults: InjectedFaults { is_early, ..InjectedFaults::default() },
    }
}

#[test]
fn what_was_answered_as_durable_survives_a_crash_at_any_instant() {
    for policy in [PolicyName::Noop, PolicyName::Dqf] {
        let mut promises = 0;
        for seed in 0..15 {
            let mut bench = clients(policy, seed, false).run().unwrap();
            assert_eq!(bench.broken_promises(), Ok(0), "seed {seed}");
            promises += bench.report.promised;
        }
        assert!(promises > 1_000, "only {promises} blocks were promised");
    }
}

/// Canary: replies that come before their flush completes are detected.
#[test]
fn an_early_answer_is_noticed() {
    let mut noticed = 0;
    for seed in 0..15 {
        let mut bench = clients(PolicyName::Dqf, seed, true).run().unwrap();
        noticed += bench.broken_promises().unwrap();
    }
    assert!(noticed > 50, "{noticed}");
}

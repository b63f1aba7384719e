// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: after a crash at any instant, all data reported durable is there. Method: cut the store's
//! journal after every entry. Only the worst image is checked: any write that was not flushed
//! before the cut may survive, but here none does. Each block must then hold the newest stamp that
//! was reported durable before the cut, or a newer one.

use tidegate_device::IoError;
use tidegate_model::{Bytes, PolicyName};

use super::clients::{Bench, export};
use crate::service::harness::promises::broken_promises;
use crate::service::harness::table;
use crate::service::offer::ExportId;

fn bench(policy: PolicyName, seed: u64) -> Bench {
    Bench {
        exports: (0..2).map(|number| export(number, None)).collect(),
        clients: 5,
        policy,
        table: table(&[4, 6, 8]),
        seed,
        calls: 300,
        pause_ms: 8,
        has_trims: false,
        is_disordered: false,
    }
}

#[test]
fn what_was_answered_as_durable_survives_a_crash_at_any_instant() {
    for policy in [PolicyName::Noop, PolicyName::Dqf] {
        let mut promises = 0;
        for seed in 0..15 {
            let outcome = bench(policy, seed).run();
            assert_eq!(outcome.wrong, 0);
            assert_eq!(broken_promises(&outcome.journal, &outcome.durable, 48), 0, "seed {seed}");
            promises += outcome.durable.iter().map(|promise| promise.blocks.len()).sum::<usize>();
        }
        assert!(promises > 1_000, "only {promises} blocks were promised");
    }
}

/// Canary: replies that come before their flush completes are detected.
#[test]
fn an_early_answer_is_noticed() {
    let mut noticed = 0;
    for seed in 0..15 {
        let mut outcome = bench(PolicyName::Dqf, seed).run();
        for promise in &mut outcome.durable {
            promise.after -= 1;
        }
        noticed += broken_promises(&outcome.journal, &outcome.durable, 48);
    }
    assert!(noticed > 50, "{noticed}");
}

/// After a failed flush, the lost data is unknown, so no later flush may succeed.
#[test]
fn no_flush_succeeds_after_one_that_failed() {
    let mut core = bench(PolicyName::Dqf, 1).core();
    let flush = |core: &mut super::super::core::Core<crate::service::harness::store::Store>| {
        let (answer, awaited) = super::super::call::mailbox();
        let part = super::super::call::CallPart {
            start: tidegate_model::Lba::new(0),
            size: Bytes::from_kib(4),
            data: None,
        };
        let call = super::super::call::Call {
            export: ExportId(0),
            kind: super::super::call::CallKind::Flush,
            released: core.backend().now,
            parts: vec![part],
            answer,
        };
        core.run_iteration(std::iter::once(call));
        while !core.is_idle() {
            core.wait_until(None);
            core.run_iteration(std::iter::empty());
        }
        awaited.poll().expect("answered").0.map(drop)
    };
    assert_eq!(flush(&mut core), Ok(()));
    let moved = Bytes::new(0);
    core.backend_mut().faults.all = Some(IoError::Short { moved, size: Bytes::from_kib(4) });
    assert!(matches!(flush(&mut core), Err(crate::service::CallError::Store(_))));
    core.backend_mut().faults.all = None;
    assert_eq!(flush(&mut core), Err(crate::service::CallError::FlushBroken));
}

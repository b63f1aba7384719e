// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers to drive a policy by hand: short names for instants, requests and rounds.

mod plain;

use tidegate_model::{Class, Time};
use tidegate_policy::{Decision, Event, Policy};

pub(crate) use plain::{at, complete, request};

pub(crate) fn release(
    policy: &mut impl Policy,
    now: Time,
    class: Class,
    ids: impl IntoIterator<Item = u64>,
) {
    for id in ids {
        policy.observe(now, Event::Release(request(id, class))).unwrap();
    }
}

/// Returns all dispatches of one round of `decide`: one batch.
pub(crate) fn round(policy: &mut impl Policy, now: Time) -> Vec<u64> {
    let mut batch = Vec::new();
    while let Decision::Dispatch { id, .. } = policy.decide(now) {
        batch.push(id.0);
    }
    batch
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hand-driving a policy: short names for instants, requests and rounds.

use model::{Bytes, Class, Outcome, Request, RequestId, Time};
use policy::{Decision, Event, Policy};

pub(crate) fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

pub(crate) fn request(id: u64, class: Class) -> Request {
    Request::plain(RequestId(id), class, Bytes::from_kib(128))
}

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

pub(crate) fn complete(policy: &mut impl Policy, now: Time, ids: impl IntoIterator<Item = u64>) {
    for id in ids {
        let event = Event::Complete { id: RequestId(id), outcome: Outcome::Done };
        policy.observe(now, event).unwrap();
    }
}

/// All that one round of `decide` dispatches: one batch.
pub(crate) fn round(policy: &mut impl Policy, now: Time) -> Vec<u64> {
    let mut batch = Vec::new();
    while let Decision::Dispatch { id, .. } = policy.decide(now) {
        batch.push(id.0);
    }
    batch
}

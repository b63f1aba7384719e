// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short names for instants, requests and completions.

use tidegate_model::{Bytes, Class, Outcome, Request, RequestId, Time};
use tidegate_policy::{Event, Policy};

pub(crate) fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

pub(crate) fn request(id: u64, class: Class) -> Request {
    Request::plain(RequestId(id), class, Bytes::from_kib(128))
}

pub(crate) fn complete(policy: &mut impl Policy, now: Time, ids: impl IntoIterator<Item = u64>) {
    for id in ids {
        let event = Event::Complete { id: RequestId(id), outcome: Outcome::Done };
        policy.observe(now, event).unwrap();
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short names for instants, requests and completions.

use model::{Bytes, Class, Lba, Op, Outcome, Request, RequestId, Tag, TaskIndex, Time};
use policy::{Event, Policy};

pub(crate) fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

pub(crate) fn request(id: u64, class: Class) -> Request {
    Request {
        id: RequestId(id),
        task: TaskIndex(0),
        class,
        released: Time::ZERO,
        eligible: Time::ZERO,
        due: None,
        op: Op::Read,
        start: Lba::new(0),
        size: Bytes::from_kib(128),
        fua: false,
        optional: false,
        tag: Tag::Simple,
    }
}

pub(crate) fn complete(policy: &mut impl Policy, now: Time, ids: impl IntoIterator<Item = u64>) {
    for id in ids {
        let event = Event::Complete { id: RequestId(id), outcome: Outcome::Done };
        policy.observe(now, event).unwrap();
    }
}

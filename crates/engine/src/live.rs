// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Requests and jobs that were released and are not yet complete.
//!
//! ```text
//!   RequestId:  | number of the request, 40 bits | slot, 24 bits |
//! ```
//!
//! Names grow in the order of release and are used once, as policies may expect; the slot in
//! the low bits finds the request without a search.

use model::{Request, RequestId, TaskIndex, Time};

use crate::slab::Slab;

const SLOT_BITS: u32 = 24;

/// The most requests that are under way at once, held, queued and in flight together.
pub(crate) const LIVE_MAX: u32 = 1 << SLOT_BITS;

/// A request under way.
#[derive(Debug)]
pub(crate) struct LiveRequest {
    pub(crate) request: Request,
    /// The job it is part of; best effort has none.
    pub(crate) job: Option<u32>,
    /// When it went to the device; `released` until then.
    pub(crate) submitted: Time,
}

/// The requests under way, by name.
#[derive(Debug)]
pub(crate) struct LiveRequests {
    slots: Slab<LiveRequest>,
    named_count: u64,
}

impl LiveRequests {
    /// Room for `expected` requests before memory is taken.
    pub(crate) fn new(expected: usize) -> Self {
        Self { slots: Slab::new(expected, LIVE_MAX), named_count: 0 }
    }

    /// Keeps a new request and names it; `None` when there are [`LIVE_MAX`] already.
    pub(crate) fn insert(&mut self, request: Request, job: Option<u32>) -> Option<Request> {
        let submitted = request.released;
        let slot = self.slots.insert(LiveRequest { request, job, submitted })?;
        assert!(self.named_count >> (u64::BITS - SLOT_BITS) == 0, "2^40 requests in one run");
        let id = RequestId(self.named_count << SLOT_BITS | u64::from(slot));
        self.named_count += 1;
        let live = self.slots.get_mut(slot);
        live.request.id = id;
        Some(live.request)
    }

    /// The request of this name.
    pub(crate) fn get(&self, id: RequestId) -> &LiveRequest {
        let live = self.slots.get(slot(id));
        assert_eq!(live.request.id, id, "a request that is not under way");
        live
    }

    /// The request of this name goes to the device.
    pub(crate) fn submit(&mut self, id: RequestId, submitted: Time) {
        self.slots.get_mut(slot(id)).submitted = submitted;
    }

    /// The request of this name is no longer under way.
    pub(crate) fn remove(&mut self, id: RequestId) -> LiveRequest {
        let live = self.slots.remove(slot(id));
        assert_eq!(live.request.id, id, "a request that is not under way");
        live
    }
}

fn slot(id: RequestId) -> u32 {
    u32::try_from(id.0 & u64::from(LIVE_MAX - 1)).expect("24 bits")
}

/// A job under way.
#[derive(Debug)]
pub(crate) struct LiveJob {
    pub(crate) task: TaskIndex,
    pub(crate) released: Time,
    /// Its requests that are not complete.
    pub(crate) left_count: u32,
    /// Whether a request of it failed.
    pub(crate) is_failed: bool,
}

#[cfg(test)]
mod tests {
    use model::{Bytes, Class, Lba, Op};

    use super::*;

    fn request() -> Request {
        Request {
            id: RequestId(0),
            task: TaskIndex(0),
            class: Class::Hard,
            released: Time::ZERO,
            eligible: Time::ZERO,
            due: None,
            op: Op::Read,
            start: Lba::new(0),
            size: Bytes::new(512),
            fua: false,
            optional: false,
        }
    }

    #[test]
    fn names_grow_and_are_not_used_twice_though_slots_are() {
        let mut requests = LiveRequests::new(1);
        let mut last = None;
        for _ in 0..3 {
            let id = requests.insert(request(), None).unwrap().id;
            assert!(last < Some(id));
            assert_eq!(requests.remove(id).request.id, id);
            last = Some(id);
        }
    }

    #[test]
    #[should_panic(expected = "not under way")]
    fn old_name_of_a_reused_slot_is_not_taken_for_the_new_one() {
        let mut requests = LiveRequests::new(1);
        let old = requests.insert(request(), None).unwrap().id;
        requests.remove(old);
        requests.insert(request(), None).unwrap();
        requests.get(old);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keeps the requests that are released and not complete, and their jobs.
//!
//! A request's identifier contains its slot number, so finding a request takes one array access.
//! The bits above the slot number hold a number that rises with each release, so identifiers are
//! never reused and rise in the order of release. Slots are reused: memory is bounded by the
//! largest number of outstanding requests.

use tidegate_model::{Outcome, Request, RequestId, Tag, TaskIndex, Time};

/// Numbered entries; the numbers of removed entries are reused.
#[derive(Debug)]
struct Slab<T> {
    entries: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    fn with_room(expected: usize) -> Self {
        Self { entries: Vec::with_capacity(expected), free: Vec::with_capacity(expected) }
    }

    /// Returns the slot that the next insertion uses.
    fn next_slot(&self) -> u32 {
        let fresh = || u32::try_from(self.entries.len()).expect("fewer entries than 2^32");
        self.free.last().copied().unwrap_or_else(fresh)
    }

    fn insert(&mut self, entry: T) -> u32 {
        let slot = self.next_slot();
        match self.free.pop() {
            Some(slot) => self.entries[slot as usize] = Some(entry),
            None => self.entries.push(Some(entry)),
        }
        slot
    }

    fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    fn remove(&mut self, slot: u32) -> Option<T> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(entry)
    }
}

/// Returns the slot number of an outstanding request, for use as an index into per-request tables.
/// It is below the largest number of requests that were outstanding at the same time.
///
/// # Panics
/// Never: the number has 26 bits.
pub fn slot(id: RequestId) -> usize {
    Ledger::slot(id) as usize
}

/// A request that is released and not complete.
#[derive(Debug)]
struct Tracked {
    request: Request,
    job: JobSlot,
    is_dispatched: bool,
}

/// A job's index in the ledger.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobSlot(u32);

#[derive(Debug)]
struct OpenJob {
    requests_left: u32,
    /// The worst ending of the job's requests so far.
    ending: Ending,
}

/// How a request ended, or the worst ending of a job's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// The device served the request.
    Served,
    /// The policy dropped the request, as its task's contract allows.
    Dropped,
    /// The device reported an error.
    Failed,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Served,
            Outcome::Failed => Self::Failed,
        }
    }
}

/// A job that ended, or that was unfinished at the run's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) source: TaskIndex,
    /// The nominal release time.
    pub(crate) released: Time,
    /// The worst ending of the job's requests.
    pub(crate) ending: Ending,
}

impl Job {
    const fn of(request: &Request, ending: Ending) -> Self {
        Self { source: request.task, released: request.released, ending }
    }
}

/// All requests that are released and not complete, and their jobs.
#[derive(Debug)]
pub(crate) struct Ledger {
    requests: Slab<Tracked>,
    jobs: Slab<OpenJob>,
    outstanding_max: u32,
    next_sequence: u64,
}

impl Ledger {
    /// The number of bits for the slot: 2^26 requests can be outstanding at the same time, and 2^38
    /// can be released in a run.
    const SLOT_BITS: u32 = 26;

    pub(crate) const OUTSTANDING_MAX: u32 = 1 << Self::SLOT_BITS;

    /// Makes an empty ledger for at most `outstanding_max` requests at the same time, with memory
    /// for `expected` requests.
    pub(crate) fn new(outstanding_max: u32, expected: usize) -> Self {
        assert!(
            outstanding_max <= Self::OUTSTANDING_MAX,
            "at most 2^26 requests can be outstanding at once"
        );
        Self {
            requests: Slab::with_room(expected),
            jobs: Slab::with_room(expected),
            outstanding_max,
            next_sequence: 0,
        }
    }

    /// Adds a job of `requests` requests; the caller then adds the requests.
    pub(crate) fn open_job(&mut self, requests: u32) -> JobSlot {
        JobSlot(self.jobs.insert(OpenJob { requests_left: requests, ending: Ending::Served }))
    }

    /// Returns whether there is room for another outstanding request.
    pub(crate) fn has_room(&self) -> bool {
        self.requests.next_slot() < self.outstanding_max
    }

    /// Adds a request of `job`; `make` builds it from its identifier.
    pub(crate) fn open_request(
        &mut self,
        job: JobSlot,
        make: impl FnOnce(RequestId) -> Request,
    ) -> Request {
        let slot = self.requests.next_slot();
        let id = self.name(slot);
        let request = make(id);
        self.requests.insert(Tracked { request, job, is_dispatched: false });
        request
    }

    fn name(&mut self, slot: u32) -> RequestId {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        assert!(sequence < 1 << (64 - Self::SLOT_BITS), "more than 2^38 requests in a run");
        RequestId(sequence << Self::SLOT_BITS | u64::from(slot))
    }

    pub(crate) fn slot(id: RequestId) -> u32 {
        let slot = id.0 & ((1 << Self::SLOT_BITS) - 1);
        u32::try_from(slot).expect("a slot has 26 bits")
    }

    /// Returns a request that is released and not dispatched.
    pub(crate) fn queued(&mut self, id: RequestId) -> Request {
        self.tracked(id).request
    }

    /// Marks a request as dispatched with this tag, and returns it.
    pub(crate) fn dispatch(&mut self, id: RequestId, tag: Tag) -> Request {
        let tracked = self.tracked(id);
        assert!(!tracked.is_dispatched, "{id:?} dispatched twice");
        tracked.is_dispatched = true;
        tracked.request.tag = tag;
        tracked.request
    }

    fn tracked(&mut self, id: RequestId) -> &mut Tracked {
        let tracked = self.requests.get_mut(Self::slot(id));
        tracked
            .filter(|tracked| tracked.request.id == id)
            .unwrap_or_else(|| panic!("{id:?} is not outstanding"))
    }

    /// Removes a request that will not be served, and its job if it was the job's last request.
    pub(crate) fn drop_queued(&mut self, id: RequestId) -> (Request, Option<Job>) {
        assert!(!self.tracked(id).is_dispatched, "{id:?} dropped after it was dispatched");
        let tracked = self.requests.remove(Self::slot(id)).expect("just seen");
        (tracked.request, self.complete_part(tracked.job, &tracked.request, Ending::Dropped))
    }

    /// Removes a completed request, and its job if it was the job's last request.
    pub(crate) fn complete(&mut self, id: RequestId, outcome: Outcome) -> (Request, Option<Job>) {
        assert!(self.tracked(id).is_dispatched, "{id:?} completed before it was dispatched");
        let tracked = self.requests.remove(Self::slot(id)).expect("just seen");
        let request = tracked.request;
        (request, self.complete_part(tracked.job, &request, outcome.into()))
    }

    fn complete_part(&mut self, slot: JobSlot, request: &Request, ending: Ending) -> Option<Job> {
        let job = self.jobs.get_mut(slot.0).expect("a job outlives its requests");
        job.requests_left -= 1;
        job.ending = job.ending.max(ending);
        if job.requests_left > 0 {
            return None;
        }
        let job = self.jobs.remove(slot.0).expect("just seen");
        Some(Job::of(request, job.ending))
    }

    /// Returns the jobs that are released and not complete, in unspecified order.
    ///
    /// # Complexity
    /// O(n log n) for n outstanding requests. It is called once per run, so jobs need not be
    /// indexed.
    pub(crate) fn unfinished_jobs(&self) -> impl Iterator<Item = Job> {
        let mut left: Vec<&Tracked> = self.requests.entries.iter().flatten().collect();
        left.sort_unstable_by_key(|tracked| tracked.job.0);
        left.dedup_by_key(|tracked| tracked.job.0);
        left.into_iter().map(|tracked| Job::of(&tracked.request, Ending::Served))
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, Class, Lba, Op};

    use super::*;

    fn release(ledger: &mut Ledger, job: JobSlot) -> RequestId {
        let make = |id| Request {
            id,
            task: TaskIndex(3),
            class: Class::Hard,
            released: Time::from_ns(7),
            eligible: Time::from_ns(7),
            due: None,
            op: Op::Read,
            start: Lba::new(0),
            size: Bytes::from_kib(4),
            fua: false,
            optional: false,
            tag: Tag::Simple,
        };
        ledger.open_request(job, make).id
    }

    fn ledger() -> Ledger {
        Ledger::new(Ledger::OUTSTANDING_MAX, 0)
    }

    fn serve(ledger: &mut Ledger, id: RequestId, outcome: Outcome) -> Option<Job> {
        ledger.dispatch(id, Tag::Simple);
        ledger.complete(id, outcome).1
    }

    #[test]
    fn job_is_finished_with_the_last_of_its_requests() {
        let mut ledger = ledger();
        let job = ledger.open_job(2);
        let [first, second] = [(); 2].map(|()| release(&mut ledger, job));
        assert_eq!(serve(&mut ledger, second, Outcome::Failed), None);
        assert_eq!(ledger.unfinished_jobs().count(), 1);
        let finished = serve(&mut ledger, first, Outcome::Done);
        let (source, released) = (TaskIndex(3), Time::from_ns(7));
        let expected = Job { source, released, ending: Ending::Failed };
        assert_eq!(finished, Some(expected));
        assert_eq!(ledger.unfinished_jobs().count(), 0);
    }

    #[test]
    fn no_more_than_allowed_are_outstanding_and_room_comes_back() {
        let mut ledger = Ledger::new(2, 1);
        let job = ledger.open_job(4);
        let [first, _] = [(); 2].map(|()| release(&mut ledger, job));
        assert!(!ledger.has_room());
        assert_eq!(ledger.unfinished_jobs().count(), 1);
        serve(&mut ledger, first, Outcome::Done);
        assert!(ledger.has_room());
    }

    /// Goal: memory is bounded by the outstanding requests. Method: a long run with at most 5
    /// outstanding requests.
    #[test]
    fn slots_are_used_again_and_names_are_not() {
        let mut ledger = ledger();
        let mut outstanding = std::collections::VecDeque::new();
        let mut youngest = None;
        for _ in 0..100_000 {
            if outstanding.len() == 5 {
                let id = outstanding.pop_front().unwrap();
                serve(&mut ledger, id, Outcome::Done);
            }
            let job = ledger.open_job(1);
            let id = release(&mut ledger, job);
            assert!(Some(id) > youngest);
            youngest = Some(id);
            outstanding.push_back(id);
        }
        assert_eq!(ledger.requests.entries.len(), 5);
        assert_eq!(ledger.jobs.entries.len(), 5);
    }

    #[test]
    #[should_panic(expected = "is not outstanding")]
    fn name_of_an_earlier_request_in_the_same_slot_is_refused() {
        let mut ledger = ledger();
        let job = ledger.open_job(3);
        let earlier = release(&mut ledger, job);
        serve(&mut ledger, earlier, Outcome::Done);
        release(&mut ledger, job);
        ledger.dispatch(earlier, Tag::Simple);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in real time. Each request carries a payload and waits in a queue while the
//! drive is full.
//!
//! ```text
//!   submit ---> waiting, in order ---> on the drive, at most K ---> done
//! ```
//! The drive's time follows the requests' arrivals, not the thread that polls it: a late host
//! answers late but does not change what the drive does, or when. The queue reads no clock: its
//! users (attached drives and served simulated drives) tell it the time.

use std::collections::{HashMap, VecDeque};

use tidegate_model::{Outcome, Request, RequestId, Time};

use crate::{Completion, Drive};

/// A command to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A read or a write.
    Transfer(Request),
    /// Makes all writes completed so far durable.
    Flush(RequestId),
}

impl Work {
    fn id(&self) -> RequestId {
        match self {
            Self::Transfer(request) => request.id,
            Self::Flush(id) => *id,
        }
    }
}

/// Work that the drive has done.
#[derive(Debug, PartialEq, Eq)]
pub struct Done<P> {
    /// The work.
    pub work: Work,
    /// The payload that was submitted with the work.
    pub payload: P,
    /// The instant at which the work was submitted.
    pub arrived: Time,
    /// The instant at which the drive finished the work.
    pub at: Time,
    /// How the work ended.
    pub outcome: Outcome,
}

#[derive(Debug)]
struct Entry<P> {
    work: Work,
    payload: P,
    arrived: Time,
}

/// A simulated drive in real time; see the module documentation.
///
/// # Invariants
/// - `held` has at most `depth` entries: the requests on the drive.
/// - `waiting` is empty unless the drive is full.
pub struct DriveQueue<P> {
    drive: Box<dyn Drive + Send>,
    depth: usize,
    /// The instant up to which the drive has been advanced.
    now: Time,
    held: HashMap<RequestId, Entry<P>>,
    waiting: VecDeque<Entry<P>>,
    done: VecDeque<Done<P>>,
    /// Scratch, empty between calls.
    returned: Vec<Completion>,
}

impl<P> DriveQueue<P> {
    /// Makes a queue in front of an idle drive that accepts `depth` requests.
    pub fn new(drive: Box<dyn Drive + Send>, depth: u32) -> Self {
        let (held, waiting, done, returned) = Default::default();
        Self { drive, depth: depth as usize, now: Time::ZERO, held, waiting, done, returned }
    }

    /// Submits requests that arrived at `at` (or at the drive's present instant, if that is later),
    /// each with its payload. The drive gets them as one batch if it has room for all of them.
    pub fn submit(&mut self, at: Time, batch: &[Request], payloads: impl Iterator<Item = P>) {
        self.advance(at);
        let is_room = self.waiting.is_empty() && self.held.len() + batch.len() <= self.depth;
        if is_room {
            self.drive.submit(self.now, batch);
        }
        for (&request, payload) in batch.iter().zip(payloads) {
            let entry = Entry { work: Work::Transfer(request), payload, arrived: at };
            if is_room {
                self.held.insert(request.id, entry);
            } else {
                self.waiting.push_back(entry);
            }
        }
        self.fill();
    }

    /// Submits a flush, which completes under `id`.
    pub fn flush(&mut self, at: Time, id: RequestId, payload: P) {
        self.advance(at);
        self.waiting.push_back(Entry { work: Work::Flush(id), payload, arrived: at });
        self.fill();
    }

    /// Advances the drive to `now`, giving it waiting requests as soon as it has room.
    pub fn advance(&mut self, now: Time) {
        while let Some(next) = self.drive.next_event().filter(|&next| next <= now) {
            self.step(next.max(self.now));
        }
        if now > self.now {
            self.step(now);
        }
    }

    fn step(&mut self, now: Time) {
        self.now = now;
        self.drive.advance(now, &mut self.returned);
        for Completion { id, at, outcome } in self.returned.drain(..) {
            let entry = self.held.remove(&id).expect("a drive returns what it was given, once");
            let Entry { work, payload, arrived } = entry;
            self.done.push_back(Done { work, payload, arrived, at, outcome });
        }
        self.fill();
    }

    fn fill(&mut self) {
        while self.held.len() < self.depth {
            let Some(entry) = self.waiting.pop_front() else { return };
            match entry.work {
                Work::Flush(id) => self.drive.flush(self.now, id),
                Work::Transfer(request) => self.drive.submit(self.now, &[request]),
            }
            self.held.insert(entry.work.id(), entry);
        }
    }

    /// Takes the first finished work that has not been taken yet.
    pub fn take_done(&mut self) -> Option<Done<P>> {
        self.done.pop_front()
    }

    /// Returns whether some finished work has not been taken yet.
    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// Returns the instant of the drive's next event, to which the caller must advance it; `None`
    /// while nothing is outstanding.
    pub fn next_event(&self) -> Option<Time> {
        self.drive.next_event()
    }

    /// Returns the number of requests and flushes that were submitted and are not finished.
    pub fn outstanding_count(&self) -> usize {
        self.held.len() + self.waiting.len()
    }

    /// Returns the number of requests and flushes that wait for room on the drive.
    pub fn waiting_count(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PseudoDisk;
    use tidegate_model::{BatchTable, Bytes, Class, Duration};

    /// Returns a queue in front of a drive whose single requests take exactly a millisecond each.
    fn queue(depth: u32) -> DriveQueue<&'static str> {
        let table = BatchTable::new(&[Duration::from_ms(1)]).expect("a table of one time");
        DriveQueue::new(Box::new(PseudoDisk::new(1, table, 1)), depth)
    }

    fn request(id: u64) -> Request {
        Request::plain(RequestId(id), Class::BestEffort, Bytes::from_kib(4))
    }

    fn read(queue: &mut DriveQueue<&'static str>, us: u64, id: u64, name: &'static str) {
        queue.submit(at_us(us), &[request(id)], std::iter::once(name));
    }

    fn at_us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    fn done_at(queue: &mut DriveQueue<&'static str>) -> Vec<(&'static str, u64)> {
        let mut list = Vec::new();
        while let Some(done) = queue.take_done() {
            list.push((done.payload, done.at.ns() / 1000));
        }
        list
    }

    /// Goal: a host that polls late does not leave the drive idle. Method: the host does not poll
    /// for a second; the waiting requests must have begun when the drive had room, not at the poll.
    #[test]
    fn what_waits_goes_to_the_drive_when_it_has_room_however_late_the_host_looks() {
        let mut queue = queue(1);
        read(&mut queue, 0, 1, "first");
        read(&mut queue, 100, 2, "second");
        read(&mut queue, 200, 3, "third");
        assert_eq!((queue.outstanding_count(), queue.waiting_count()), (3, 2));
        queue.advance(at_us(1_000_000));
        assert_eq!(done_at(&mut queue), [("first", 1000), ("second", 2000), ("third", 3000)]);
        assert_eq!((queue.outstanding_count(), queue.next_event()), (0, None));
    }

    /// On an idle drive, a request begins at its time stamp, not at the later instant at which the
    /// queue reads it.
    #[test]
    fn requests_begin_when_they_arrived_though_read_together() {
        let mut queue = queue(1);
        read(&mut queue, 0, 4, "first");
        read(&mut queue, 5000, 5, "second");
        queue.advance(at_us(9000));
        assert_eq!(done_at(&mut queue), [("first", 1000), ("second", 6000)]);
    }

    #[test]
    fn nothing_is_done_early() {
        let mut queue = queue(1);
        read(&mut queue, 0, 6, "first");
        queue.advance(at_us(999));
        assert_eq!(done_at(&mut queue), []);
        assert_eq!(queue.next_event(), Some(at_us(1000)));
    }

    /// The response time counts from the arrival, including the wait in front of the drive.
    #[test]
    fn arrival_is_kept_through_the_wait() {
        let mut queue = queue(1);
        read(&mut queue, 0, 7, "first");
        queue.flush(at_us(1), RequestId(99), "flush");
        queue.advance(at_us(10_000));
        let _first = queue.take_done();
        let flush = queue.take_done().expect("a flush is answered");
        assert_eq!((flush.work, flush.arrived), (Work::Flush(RequestId(99)), at_us(1)));
        assert!(flush.at >= at_us(1000), "it waited for room");
    }

    /// A batch that fits reaches the drive as one batch: it takes b(2), not twice b(1).
    #[test]
    fn a_batch_that_fits_stays_one() {
        let table = BatchTable::new(&[Duration::from_ms(1), Duration::from_us(1500)]).unwrap();
        for (depth, last_us) in [(2, 1500), (1, 2000)] {
            let drive = Box::new(PseudoDisk::new(2, table.clone(), 1));
            let mut queue = DriveQueue::new(drive, depth);
            queue.submit(at_us(0), &[1, 2].map(request), ["first", "second"].into_iter());
            queue.advance(at_us(10_000));
            assert_eq!(done_at(&mut queue).last().map(|done| done.1), Some(last_us));
        }
    }
}

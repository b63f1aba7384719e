// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive and the requests it has no room for yet.
//!
//! ```text
//!   arrive ---> waiting, in order ---> on the drive, at most K ---> done
//! ```
//! The drive's time is that of the arrivals, not that of the thread that happens to look: a
//! host that is late answers late, and changes nothing of what the drive does when.

use std::collections::{HashMap, VecDeque};

use tidegate_drive::{Completion, Drive};
use tidegate_model::{Bytes, Class, Lba, Op, Outcome, Request, RequestId, Time};

/// What is asked of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A read or a write.
    Move { op: Op, start: Lba, size: Bytes },
    /// Everything that was answered before is to be durable.
    Flush,
}

/// Work that the drive is done with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done<P> {
    pub(crate) work: Work,
    /// What came along with it.
    pub(crate) payload: P,
    pub(crate) arrived: Time,
    /// When the drive was done with it.
    pub(crate) at: Time,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
struct Entry<P> {
    id: RequestId,
    work: Work,
    payload: P,
    arrived: Time,
}

/// See the module's text.
///
/// # Invariants
/// - `held` has at most `depth` entries: those that are on the drive.
/// - Something is `waiting` only while the drive is full.
pub(crate) struct Line<P> {
    drive: Box<dyn Drive + Send>,
    depth: usize,
    /// How far the drive has come.
    now: Time,
    held: HashMap<RequestId, Entry<P>>,
    waiting: VecDeque<Entry<P>>,
    done: VecDeque<Done<P>>,
    last_id: u64,
    /// Scratch, empty between calls.
    returned: Vec<Completion>,
}

impl<P> Line<P> {
    /// An idle drive that accepts `depth` requests.
    pub(crate) fn new(drive: Box<dyn Drive + Send>, depth: u32) -> Self {
        let (held, waiting, done, returned) = Default::default();
        let depth = depth as usize;
        Self { drive, depth, now: Time::ZERO, held, waiting, done, last_id: 0, returned }
    }

    /// Work comes at that instant, or now, if the drive is further already.
    pub(crate) fn arrive(&mut self, at: Time, work: Work, payload: P) {
        self.advance(at);
        self.last_id += 1;
        let id = RequestId(self.last_id);
        self.waiting.push_back(Entry { id, work, payload, arrived: at });
        self.fill();
    }

    /// The drive comes as far as `now`, and gets what waits at the instants at which it has room.
    pub(crate) fn advance(&mut self, now: Time) {
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
            let Entry { work, payload, arrived, .. } = entry;
            self.done.push_back(Done { work, payload, arrived, at, outcome });
        }
        self.fill();
    }

    fn fill(&mut self) {
        while self.held.len() < self.depth {
            let Some(entry) = self.waiting.pop_front() else { return };
            match entry.work {
                Work::Flush => self.drive.flush(self.now, entry.id),
                Work::Move { op, start, size } => {
                    let plain = Request::plain(entry.id, Class::BestEffort, size);
                    let (released, eligible) = (entry.arrived, entry.arrived);
                    let request = Request { op, start, released, eligible, ..plain };
                    self.drive.submit(self.now, &[request]);
                }
            }
            self.held.insert(entry.id, entry);
        }
    }

    /// The first of what is done and was not taken.
    pub(crate) fn take_done(&mut self) -> Option<Done<P>> {
        self.done.pop_front()
    }

    /// When to advance next; none while nothing is outstanding.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.drive.next_event()
    }

    /// What arrived and is not done.
    pub(crate) fn outstanding_count(&self) -> usize {
        self.held.len() + self.waiting.len()
    }

    /// What the drive has no room for.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_drive::PseudoDisk;
    use tidegate_model::{BatchTable, Duration};

    const READ: Work = Work::Move { op: Op::Read, start: Lba::new(0), size: Bytes::from_kib(4) };

    /// One request at a time, each of exactly a millisecond.
    fn line(depth: u32) -> Line<&'static str> {
        let table = BatchTable::new(&[Duration::from_ms(1)]).expect("a table of one time");
        Line::new(Box::new(PseudoDisk::new(1, table, 1)), depth)
    }

    fn at_us(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    fn done_at(line: &mut Line<&'static str>) -> Vec<(&'static str, u64)> {
        let mut list = Vec::new();
        while let Some(done) = line.take_done() {
            list.push((done.payload, done.at.ns() / 1000));
        }
        list
    }

    /// Goal: a host that looks late does not make the drive idle meanwhile. Method: nobody looks
    /// for a second; what waited was begun when the drive had room, not when somebody looked.
    #[test]
    fn what_waits_goes_to_the_drive_when_it_has_room_however_late_the_host_looks() {
        let mut line = line(1);
        line.arrive(at_us(0), READ, "first");
        line.arrive(at_us(100), READ, "second");
        line.arrive(at_us(200), READ, "third");
        assert_eq!((line.outstanding_count(), line.waiting_count()), (3, 2));
        line.advance(at_us(1_000_000));
        assert_eq!(done_at(&mut line), [("first", 1000), ("second", 2000), ("third", 3000)]);
        assert_eq!((line.outstanding_count(), line.next_event()), (0, None));
    }

    /// A stamp counts, not the instant at which it is read: the drive is idle until then.
    #[test]
    fn requests_begin_when_they_arrived_though_read_together() {
        let mut line = line(1);
        line.arrive(at_us(0), READ, "first");
        line.arrive(at_us(5000), READ, "second");
        line.advance(at_us(9000));
        assert_eq!(done_at(&mut line), [("first", 1000), ("second", 6000)]);
    }

    #[test]
    fn nothing_is_done_early() {
        let mut line = line(1);
        line.arrive(at_us(0), READ, "first");
        line.advance(at_us(999));
        assert_eq!(done_at(&mut line), []);
        assert_eq!(line.next_event(), Some(at_us(1000)));
    }

    /// The time to answer counts from the arrival, the wait in front of the drive included.
    #[test]
    fn arrival_is_kept_through_the_wait() {
        let mut line = line(1);
        line.arrive(at_us(0), READ, "first");
        line.arrive(at_us(1), Work::Flush, "flush");
        line.advance(at_us(10_000));
        let _first = line.take_done();
        let flush = line.take_done().expect("a flush is answered");
        assert_eq!((flush.work, flush.arrived), (Work::Flush, at_us(1)));
        assert!(flush.at >= at_us(1000), "it waited for room");
    }
}

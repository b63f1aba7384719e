// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Logs the events of a run's longest busy interval: the stretch in which response times grow.
//!
//! The log is limited: an overloaded run is one busy interval, whose first events are kept and
//! whose other events are counted. A run on a device allocates all memory beforehand.

use tidegate_model::{Duration, Outcome, Request, RequestId, TaskIndex, Time};

use crate::observer::Observer;

/// The largest number of events that are kept for one busy interval.
const EVENTS_MAX: usize = 4096;

/// The step that a request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusyStep {
    /// The request was released.
    Released,
    /// The request was dispatched in the batch with this number; batches of a run count from 1.
    Dispatched(u64),
    /// The drive completed the request, with or without an error.
    Completed,
    /// The policy dropped the request, as its task's contract allows.
    Dropped,
}

/// One event of a busy interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyEvent {
    /// The instant at which the host handled the event.
    pub at: Time,
    /// The request.
    pub request: RequestId,
    /// The request's source: tasks first, then best-effort loads.
    pub source: TaskIndex,
    /// The step that the request took.
    pub step: BusyStep,
}

/// A stretch in which at least one real-time request was released and not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyInterval {
    /// The release that began the interval.
    pub begin: Time,
    /// The completion that ended the interval, or the end of the run.
    pub end: Time,
    /// The interval's events in order of time. They begin with the dispatches of the requests that
    /// were in flight when the interval began. For best effort, only dispatches and completions are
    /// included.
    pub events: Vec<BusyEvent>,
    /// The number of later events that the log had no room for.
    pub events_left_out: u64,
}

/// Observes a run and keeps its longest busy interval.
#[derive(Debug)]
pub struct BusyIntervals {
    outstanding: u64,
    batches: u64,
    /// The dispatches of the requests in flight, in order.
    in_flight: Vec<BusyEvent>,
    current: BusyInterval,
    longest: BusyInterval,
}

impl BusyInterval {
    fn empty() -> Self {
        let events = Vec::with_capacity(EVENTS_MAX);
        Self { begin: Time::ZERO, end: Time::ZERO, events, events_left_out: 0 }
    }

    /// Returns the interval's length.
    pub fn length(&self) -> Duration {
        self.end.since(self.begin)
    }

    fn push(&mut self, event: BusyEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        } else {
            self.events_left_out += 1;
        }
    }
}

impl BusyIntervals {
    /// Makes an empty log with memory for `in_flight_max` requests in flight. It allocates nothing
    /// later unless more requests are in flight at the same time.
    pub fn with_room(in_flight_max: u32) -> Self {
        Self {
            outstanding: 0,
            batches: 0,
            in_flight: Vec::with_capacity(in_flight_max as usize),
            current: BusyInterval::empty(),
            longest: BusyInterval::empty(),
        }
    }

    /// Returns the longest busy interval, the first of equally long ones; `None` if the run had no
    /// real-time request.
    pub fn into_longest(self) -> Option<BusyInterval> {
        (!self.longest.events.is_empty()).then_some(self.longest)
    }

    fn log(&mut self, at: Time, request: &Request, step: BusyStep) {
        let event = BusyEvent { at, request: request.id, source: request.task, step };
        self.current.push(event);
    }

    fn begin(&mut self, now: Time) {
        self.current.begin = now;
        self.current.events.clear();
        self.current.events_left_out = 0;
        for &event in &self.in_flight {
            self.current.push(event);
        }
    }

    fn end(&mut self, now: Time) {
        self.current.end = now;
        if self.longest.events.is_empty() || self.current.length() > self.longest.length() {
            std::mem::swap(&mut self.current, &mut self.longest);
        }
    }

    fn is_busy(&self) -> bool {
        self.outstanding > 0
    }

    /// Ends a request. An interval ends with its last real-time request.
    fn leave(&mut self, now: Time, request: &Request, step: BusyStep) {
        if self.is_busy() {
            self.log(now, request, step);
        }
        if request.due.is_some() {
            self.outstanding -= 1;
            if !self.is_busy() {
                self.end(now);
            }
        }
    }
}

impl Observer for BusyIntervals {
    fn released(&mut self, now: Time, request: &Request) {
        if request.due.is_none() {
            return;
        }
        if !self.is_busy() {
            self.begin(now);
        }
        self.outstanding += 1;
        self.log(now, request, BusyStep::Released);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.batches += 1;
        let step = BusyStep::Dispatched(self.batches);
        for request in batch {
            let event = BusyEvent { at: now, request: request.id, source: request.task, step };
            self.in_flight.push(event);
            if self.is_busy() {
                self.current.push(event);
            }
        }
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if let Some(index) = self.in_flight.iter().position(|event| event.request == request.id) {
            self.in_flight.remove(index);
        }
        self.leave(now, request, BusyStep::Completed);
    }

    fn dropped(&mut self, now: Time, request: &Request) {
        self.leave(now, request, BusyStep::Dropped);
    }

    fn ended(&mut self, now: Time) {
        if self.is_busy() {
            self.end(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_model::{Bytes, Class};

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn real_time(id: u64) -> Request {
        let due = Some(at(1_000));
        Request { due, ..Request::plain(RequestId(id), Class::Hard, Bytes::from_kib(4)) }
    }

    fn best_effort(id: u64) -> Request {
        Request::plain(RequestId(id), Class::BestEffort, Bytes::from_kib(4))
    }

    /// Goal: the longest interval is kept, with the batch that was in flight at its beginning.
    /// Method: a short interval, then one behind a batch of best effort, then another short one.
    #[test]
    fn longest_interval_begins_with_the_batch_in_flight() {
        let mut log = BusyIntervals::with_room(8);
        log.released(at(0), &real_time(1));
        log.dispatched(at(0), &[real_time(1)]);
        log.completed(at(5), &real_time(1), Outcome::Done);
        log.released(at(6), &best_effort(2));
        log.dispatched(at(6), &[best_effort(2)]);
        log.released(at(8), &real_time(3));
        log.released(at(9), &best_effort(4));
        log.completed(at(12), &best_effort(2), Outcome::Done);
        log.dispatched(at(12), &[real_time(3), best_effort(4)]);
        log.completed(at(15), &best_effort(4), Outcome::Done);
        log.completed(at(20), &real_time(3), Outcome::Done);
        log.released(at(30), &real_time(5));
        log.ended(at(31));

        let longest = log.into_longest().unwrap();
        assert_eq!((longest.begin, longest.end), (at(8), at(20)));
        let steps = longest.events.iter().map(|it| (it.at, it.request.0, it.step));
        let expected = [
            (at(6), 2, BusyStep::Dispatched(2)),
            (at(8), 3, BusyStep::Released),
            (at(12), 2, BusyStep::Completed),
            (at(12), 3, BusyStep::Dispatched(3)),
            (at(12), 4, BusyStep::Dispatched(3)),
            (at(15), 4, BusyStep::Completed),
            (at(20), 3, BusyStep::Completed),
        ];
        assert_eq!(steps.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_overload_is_one_interval_whose_log_is_limited() {
        let mut log = BusyIntervals::with_room(8);
        let count = EVENTS_MAX as u64 + 10;
        for id in 1..=count {
            log.released(at(id), &real_time(id));
        }
        log.ended(at(count + 5));
        let longest = log.into_longest().unwrap();
        assert_eq!((longest.begin, longest.end), (at(1), at(count + 5)));
        assert_eq!((longest.events.len(), longest.events_left_out), (EVENTS_MAX, 10));
    }

    /// On a device, observing must not allocate: the thread that submits is a real-time one.
    #[test]
    fn an_overload_at_full_depth_allocates_nothing() {
        let mut log = BusyIntervals::with_room(300);
        let memory = |log: &BusyIntervals| {
            let vectors = [&log.in_flight, &log.current.events, &log.longest.events];
            vectors.map(Vec::capacity)
        };
        let before = memory(&log);
        for round in 0..20 {
            let batch: Vec<Request> = (0..300).map(|id| real_time(300 * round + id)).collect();
            for request in &batch {
                log.released(at(round), request);
            }
            log.dispatched(at(round), &batch);
            for request in &batch {
                log.completed(at(round + 1), request, Outcome::Done);
            }
        }
        assert_eq!(memory(&log), before);
        assert!(log.in_flight.is_empty());
    }

    #[test]
    fn best_effort_alone_is_no_busy_interval() {
        let mut log = BusyIntervals::with_room(8);
        log.released(at(0), &best_effort(1));
        log.dispatched(at(0), &[best_effort(1)]);
        log.completed(at(9), &best_effort(1), Outcome::Done);
        log.ended(at(9));
        assert_eq!(log.into_longest(), None);
    }
}

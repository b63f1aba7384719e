// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports each request once, at its end, with the instants of its steps.

use tidegate_model::{Outcome, Request, RequestId, Time};

use crate::observer::Observer;

/// A request that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedRequest {
    /// The request, as it was released.
    pub request: Request,
    /// The number of the request's batch and the instant of its dispatch; `None` if the request was
    /// dropped before. Batches of a run count from 1.
    pub dispatched: Option<(u64, Time)>,
    /// The instant at which the host handled the request's completion or drop.
    pub ended: Time,
    /// The drive's outcome; `None` if the policy dropped the request.
    pub outcome: Option<Outcome>,
}

/// The requests in flight, with the batch and the instant of each dispatch.
#[derive(Debug)]
pub struct Dispatches {
    batches: u64,
    in_flight: Vec<(RequestId, u64, Time)>,
}

impl Dispatches {
    /// Makes room for `in_flight_max` requests. Nothing is allocated later unless more requests are
    /// in flight at the same time.
    pub fn with_room(in_flight_max: u32) -> Self {
        Self { batches: 0, in_flight: Vec::with_capacity(in_flight_max as usize) }
    }

    /// Records the dispatch of a batch.
    pub fn begin(&mut self, now: Time, batch: &[Request]) {
        self.batches += 1;
        self.in_flight.extend(batch.iter().map(|request| (request.id, self.batches, now)));
    }

    /// Removes a request that the drive completed.
    pub fn end(&mut self, now: Time, request: &Request, outcome: Outcome) -> EndedRequest {
        let index = self.in_flight.iter().position(|(id, ..)| *id == request.id);
        let dispatched = index.map(|index| self.in_flight.swap_remove(index));
        EndedRequest {
            request: *request,
            dispatched: dispatched.map(|(_, batch, at)| (batch, at)),
            ended: now,
            outcome: Some(outcome),
        }
    }
}

/// Observes a run and passes each request that ends to `row`, in the order of the ends. Requests
/// outstanding at the end of the run are left out.
#[derive(Debug)]
pub struct RequestLog<F> {
    dispatches: Dispatches,
    row: F,
}

impl<F: FnMut(EndedRequest)> RequestLog<F> {
    /// Makes a log with memory for `in_flight_max` requests in flight. It allocates nothing later
    /// unless more requests are in flight at the same time.
    pub fn with_room(in_flight_max: u32, row: F) -> Self {
        Self { dispatches: Dispatches::with_room(in_flight_max), row }
    }
}

impl<F: FnMut(EndedRequest)> Observer for RequestLog<F> {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.dispatches.begin(now, batch);
    }

    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        (self.row)(self.dispatches.end(now, request, outcome));
    }

    fn dropped(&mut self, now: Time, request: &Request) {
        let request = *request;
        (self.row)(EndedRequest { request, dispatched: None, ended: now, outcome: None });
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, Class, Duration};

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Goal: each request has the batch and the instant of its own dispatch, in any order of
    /// completion, and a dropped one has none.
    #[test]
    fn each_request_is_reported_at_its_end() {
        let request = |id| Request::plain(RequestId(id), Class::Hard, Bytes::from_kib(4));
        let mut rows = Vec::new();
        let mut log = RequestLog::with_room(4, |row: EndedRequest| rows.push(row));
        log.dispatched(at(1), &[request(1), request(2)]);
        log.dispatched(at(2), &[request(3)]);
        log.completed(at(5), &request(3), Outcome::Done);
        log.completed(at(6), &request(1), Outcome::Failed);
        log.dropped(at(7), &request(4));
        log.completed(at(8), &request(2), Outcome::Done);
        let seen = rows.iter().map(|row| (row.request.id.0, row.dispatched, row.ended));
        let expected = [
            (3, Some((2, at(2))), at(5)),
            (1, Some((1, at(1))), at(6)),
            (4, None, at(7)),
            (2, Some((1, at(1))), at(8)),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
        let outcomes = rows.iter().map(|row| row.outcome);
        let (done, failed) = (Some(Outcome::Done), Some(Outcome::Failed));
        assert_eq!(outcomes.collect::<Vec<_>>(), [done, failed, None, done]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Passes each ended request of a service to the thread that logs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tidegate_host::{Dispatches, EndedRequest};
use tidegate_model::{Outcome, Request, Time};

use super::offer::ExportId;

/// The largest number of ended requests, of all exports together, that wait to be logged: those of
/// 1.6 s at 10,000 requests per second.
const WAITING_MAX: usize = 1 << 14;

/// A request that has ended, and its export.
#[derive(Debug, Clone, Copy)]
pub struct ServedRequest {
    pub(crate) export: ExportId,
    /// The request with its times, which count from the start of the service.
    pub ended: EndedRequest,
}

/// The sending end of a channel for a service's ended requests. The service does not wait for room:
/// a request that does not fit is counted and dropped. Only while the channel is full can it wait
/// until the reader has taken one request out.
#[derive(Debug, Clone)]
pub struct RequestSink {
    sender: SyncSender<ServedRequest>,
    lost: Arc<AtomicU64>,
}

impl RequestSink {
    /// The memory of the channel: a record and a number for each request that can wait.
    pub const BYTES: usize = WAITING_MAX * (size_of::<ServedRequest>() + size_of::<usize>());

    /// Creates the channel; returns its sink and its receiver.
    pub fn channel() -> (Self, Receiver<ServedRequest>) {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        (Self { sender, lost: Arc::default() }, receiver)
    }

    /// Returns the number of requests that were dropped because too many were waiting.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn send(&self, served: ServedRequest) {
        if self.sender.try_send(served).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The part of the log that runs in the service's thread.
#[derive(Debug)]
pub(crate) struct RequestReporter {
    dispatches: Dispatches,
    sink: RequestSink,
}

impl RequestReporter {
    /// Creates a reporter with memory for `in_flight_max` requests in flight.
    pub(crate) fn new(sink: RequestSink, in_flight_max: u32) -> Self {
        Self { dispatches: Dispatches::with_room(in_flight_max), sink }
    }

    pub(crate) fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.dispatches.begin(now, batch);
    }

    pub(crate) fn completed(
        &mut self,
        now: Time,
        export: ExportId,
        request: &Request,
        outcome: Outcome,
    ) {
        let ended = self.dispatches.end(now, request, outcome);
        self.sink.send(ServedRequest { export, ended });
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, Class, RequestId};

    use super::*;

    /// Goal: a reader that stops loses rows, which are counted, but costs the service no time.
    #[test]
    fn a_full_channel_loses_rows_and_counts_them() {
        let (sink, receiver) = RequestSink::channel();
        let mut reporter = RequestReporter::new(sink.clone(), 4);
        let request = Request::plain(RequestId(1), Class::Hard, Bytes::from_kib(4));
        for _ in 0..WAITING_MAX + 3 {
            reporter.dispatched(Time::ZERO, &[request]);
            reporter.completed(Time::ZERO, ExportId(7), &request, Outcome::Done);
        }
        assert_eq!(sink.lost(), 3);
        let first = receiver.recv().unwrap();
        assert_eq!((first.export, first.ended.dispatched), (ExportId(7), Some((1, Time::ZERO))));
    }
}

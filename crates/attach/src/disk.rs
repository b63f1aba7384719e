// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated disk: a drive's timing, a store's data, and the replies to requests.
//!
//! A request's data moves at the instant at which the drive completes the request, in the order of
//! completions. So a completed flush covers every write that completed before the flush arrived.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use tidegate_drive::{Done, Drive, DriveQueue, Work};
use tidegate_model::{Bytes, Class, Lba, Op, Outcome, Request, RequestId, Time};

use crate::statistics::Statistics;

/// The handle for the reply to a request.
pub(crate) trait Reply {
    /// Sends the reply: the data of a read, empty for a write or a flush.
    fn answer(self, result: io::Result<&[u8]>);
}

/// A request to a disk.
#[derive(Debug)]
pub(crate) enum Ask {
    Read { start: Lba, size: Bytes },
    Write { start: Lba, data: Vec<u8> },
    Flush,
}

/// A drive, its queue and its store.
pub(crate) struct Disk<R> {
    queue: DriveQueue<(Vec<u8>, R)>,
    asked_count: u64,
    store: File,
    statistics: Statistics,
    /// The buffer for reads.
    scratch: Vec<u8>,
}

impl<R: Reply> Disk<R> {
    pub(crate) fn new(drive: Box<dyn Drive + Send>, depth: u32, store: File) -> Self {
        let queue = DriveQueue::new(drive, depth);
        let (statistics, scratch) = Default::default();
        Self { queue, asked_count: 0, store, statistics, scratch }
    }

    /// Accepts a request that arrived at `at`.
    pub(crate) fn accept(&mut self, at: Time, ask: Ask, reply: R) {
        self.asked_count += 1;
        let id = RequestId(self.asked_count);
        let transfer = |op, start, size| {
            let plain = Request::plain(id, Class::BestEffort, size);
            [Request { op, start, released: at, eligible: at, ..plain }]
        };
        match ask {
            Ask::Read { start, size } => {
                let payload = std::iter::once((Vec::new(), reply));
                self.queue.submit(at, &transfer(Op::Read, start, size), payload);
            }
            Ask::Write { start, data } => {
                let size = Bytes::new(data.len() as u64);
                let payload = std::iter::once((data, reply));
                self.queue.submit(at, &transfer(Op::Write, start, size), payload);
            }
            Ask::Flush => self.queue.flush(at, id, (Vec::new(), reply)),
        }
        self.statistics.arrived(self.queue.outstanding_count(), self.queue.waiting_count());
    }

    /// Advances the drive to `now` and replies to the requests that it completed; `clock` gives the
    /// time of each reply.
    pub(crate) fn advance(&mut self, now: Time, clock: impl Fn() -> Time) {
        self.queue.advance(now);
        while let Some(done) = self.queue.take_done() {
            let (work, arrived, at) = (done.work, done.arrived, done.at);
            self.answer(done);
            self.statistics.answered(work, arrived, at, clock());
        }
    }

    fn answer(&mut self, done: Done<(Vec<u8>, R)>) {
        let (data, reply) = done.payload;
        if done.outcome == Outcome::Failed {
            return reply.answer(Err(io::Error::from(rustix::io::Errno::IO)));
        }
        match done.work {
            Work::Flush(_) => reply.answer(Ok(&[])),
            Work::Transfer(Request { op: Op::Write, start, .. }) => {
                reply
                    .answer(self.store.write_all_at(&data, start.offset_bytes()).map(|()| &[][..]));
            }
            Work::Transfer(Request { op: Op::Read, start, size, .. }) => {
                let length = usize::try_from(size.get()).expect("the kernel asked for a usize");
                self.scratch.resize(self.scratch.len().max(length), 0);
                let memory = &mut self.scratch[..length];
                let read =
                    tidegate_device::read_with_zeroes(&self.store, memory, start.offset_bytes());
                reply.answer(read.map(|()| &*memory));
            }
        }
    }

    /// Returns the time at which to advance next; `None` if no request is outstanding.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.queue.next_event()
    }

    /// Returns the statistics so far.
    pub(crate) fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in real time: a disk that anybody can use, with a drive's timing.
//!
//! The drive says when a request is done, a file holds its data: one in memory, or one that
//! stays. Data move at the instant at which the drive is done with a request.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use tidegate_device::{IoBuffer, IoError, RingError, Waker};
use tidegate_drive::Drive;
use tidegate_model::{Bytes, Duration, Lba, Op, Request, RequestId, Time};
use tidegate_platform::Clock;

use crate::service::{Backing, Move, Moved};

/// The longest time for which the thread sleeps without anything to do.
const SLEEP_MAX: Duration = Duration::from_ms(60_000);

/// See the module's text.
pub struct SimulatedBacking {
    drive: Box<dyn Drive + Send>,
    store: File,
    clock: Clock,
    waker: Waker,
    /// What the drive has.
    held: HashMap<RequestId, (Request, IoBuffer)>,
    /// Scratch, empty between calls.
    requests: Vec<Request>,
    returned: Vec<tidegate_drive::Completion>,
    /// Done at once: no drive model takes time for them.
    trimmed: Vec<RequestId>,
}

impl SimulatedBacking {
    /// A disk with that drive's timing, its data in `store`, which reads as zero beyond its end.
    pub fn new(drive: Box<dyn Drive + Send>, store: File, clock: Clock, waker: Waker) -> Self {
        let (held, requests, returned, trimmed) = Default::default();
        Self { drive, store, clock, waker, held, requests, returned, trimmed }
    }

    fn transfer(&self, request: &Request, data: &mut IoBuffer) -> std::io::Result<()> {
        let length = usize::try_from(request.size.get()).unwrap_or(usize::MAX);
        let (memory, offset) = (&mut data.bytes_mut()[..length], request.start.offset_bytes());
        match request.op {
            Op::Write => self.store.write_all_at(memory, offset),
            Op::Read => tidegate_device::read_with_zeroes(&self.store, memory, offset),
        }
    }
}

impl Backing for SimulatedBacking {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, batch: &mut Vec<Move>) {
        let now = self.now();
        // By the protocol of drives, what is due is delivered before anything is submitted.
        self.drive.advance(now, &mut self.returned);
        self.requests.extend(batch.iter().map(|one| one.request));
        self.drive.submit(now, &self.requests);
        self.requests.clear();
        for Move { request, data } in batch.drain(..) {
            self.held.insert(request.id, (request, data));
        }
    }

    fn flush(&mut self, id: RequestId) {
        let now = self.now();
        self.drive.advance(now, &mut self.returned);
        self.drive.flush(now, id);
    }

    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes) {
        let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system without holes keeps the data, which is allowed.
        let _ = fallocate(&self.store, holes, start.offset_bytes(), size.get());
        self.trimmed.push(id);
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), RingError> {
        if self.returned.is_empty() && self.trimmed.is_empty() {
            let next = [until, self.drive.next_event()].into_iter().flatten().min();
            let now = self.now();
            let time = next.map_or(SLEEP_MAX, |next| next.since(now).min(SLEEP_MAX));
            if !time.is_zero() {
                self.waker.sleep(time);
            }
        }
        Ok(())
    }

    fn reap(&mut self, moved: &mut Vec<Moved>) {
        let now = self.now();
        self.drive.advance(now, &mut self.returned);
        let mut returned = std::mem::take(&mut self.returned);
        for tidegate_drive::Completion { id, .. } in returned.drain(..) {
            let Some((request, mut data)) = self.held.remove(&id) else {
                // A flush: the store has no memory of its own that could be lost.
                moved.push(Moved { id, data: None, result: Ok(()) });
                continue;
            };
            let result = self.transfer(&request, &mut data).map_err(IoError::from);
            moved.push(Moved { id, data: Some(data), result });
        }
        self.returned = returned;
        moved.extend(self.trimmed.drain(..).map(|id| Moved { id, data: None, result: Ok(()) }));
    }
}

impl std::fmt::Debug for SimulatedBacking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedBacking").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

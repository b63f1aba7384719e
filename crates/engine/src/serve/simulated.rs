// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in real time as the store of a service.
//!
//! The drive gives the completion times, and a file holds the data, in memory or on disk. A
//! request's data moves at the instant at which the drive completes the request.

use std::convert::Infallible;
use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use tidegate_device::{IoBuffer, IoError, Waker};
use tidegate_drive::{Drive, DriveQueue, Work};
use tidegate_host::{Backend, Completion};
use tidegate_model::{Bytes, Duration, Lba, Op, Request, RequestId, Time};
use tidegate_platform::Clock;

/// The longest time for which the thread sleeps without an event.
const SLEEP_MAX: Duration = Duration::from_ms(60_000);

/// A simulated drive in real time, with a file for its data.
pub struct SimulatedStore {
    drive: DriveQueue<Option<IoBuffer>>,
    store: File,
    clock: Clock,
    waker: Waker,
    /// Trims; they complete immediately, because no drive model gives times for them.
    trimmed: Vec<RequestId>,
}

impl SimulatedStore {
    /// Makes a store with that drive's timing and its data in `store`, which reads as zero beyond
    /// its end. The policy must keep within the drive's depth.
    pub fn new(drive: Box<dyn Drive + Send>, store: File, clock: Clock, waker: Waker) -> Self {
        let drive = DriveQueue::new(drive, u32::MAX);
        Self { drive, store, clock, waker, trimmed: Vec::new() }
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

impl Backend for SimulatedStore {
    type Payload = IoBuffer;
    type Fault = IoError;
    type Error = Infallible;

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(
        &mut self,
        batch: &[Request],
        payloads: &mut Vec<IoBuffer>,
    ) -> Result<(), Infallible> {
        self.drive.submit(self.clock.now(), batch, payloads.drain(..).map(Some));
        Ok(())
    }

    fn flush(&mut self, id: RequestId) {
        self.drive.flush(self.clock.now(), id, None);
    }

    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes) {
        let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system that does not support holes keeps the data, which is allowed.
        let _ = fallocate(&self.store, holes, start.offset_bytes(), size.get());
        self.trimmed.push(id);
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), Infallible> {
        if !self.drive.has_done() && self.trimmed.is_empty() {
            let next = [until, self.drive.next_event()].into_iter().flatten().min();
            let now = self.now();
            let time = next.map_or(SLEEP_MAX, |next| next.since(now).min(SLEEP_MAX));
            if !time.is_zero() {
                self.waker.sleep(time);
            }
        }
        Ok(())
    }

    fn reap(
        &mut self,
        completions: &mut Vec<Completion<IoBuffer, IoError>>,
    ) -> Result<(), Infallible> {
        self.drive.advance(self.clock.now());
        while let Some(done) = self.drive.take_done() {
            let completion = match (done.work, done.payload) {
                (Work::Transfer(request), Some(mut data)) => {
                    let result = self.transfer(&request, &mut data).map_err(IoError::from);
                    Completion { id: request.id, payload: Some(data), result }
                }
                // The store has no volatile memory that a flush must save.
                (Work::Flush(id) | Work::Transfer(Request { id, .. }), _) => {
                    Completion { id, payload: None, result: Ok(()) }
                }
            };
            completions.push(completion);
        }
        let trimmed = self.trimmed.drain(..);
        completions.extend(trimmed.map(|id| Completion { id, payload: None, result: Ok(()) }));
        Ok(())
    }
}

impl std::fmt::Debug for SimulatedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let outstanding = self.drive.outstanding_count();
        f.debug_struct("SimulatedStore").field("outstanding", &outstanding).finish_non_exhaustive()
    }
}

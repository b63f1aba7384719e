// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in real time as the store of a service.
//!
//! The drive model gives the completion times, and a file in memory or on disk holds the data. A
//! request's data is transferred at the instant at which the drive completes the request.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use tidegate_device::{DataRing, IoBuffer, IoError, RingError, Waker};
use tidegate_drive::{Drive, DriveQueue, Work};
use tidegate_host::{Backend, Completion};
use tidegate_model::{Bytes, Duration, Lba, Op, Request, RequestId, Time};
use tidegate_platform::Clock;

use crate::service::DataBackend;

/// The longest sleep of the thread if no event occurs.
const SLEEP_MAX: Duration = Duration::from_ms(60_000);

/// A simulated drive in real time, with a file for its data.
pub struct SimulatedStore {
    drive: DriveQueue<Option<IoBuffer>>,
    store: File,
    clock: Clock,
    waker: Waker,
    /// The ring of the clients' sockets; without it, the thread sleeps until the waker wakes it.
    ring: Option<DataRing>,
    /// Trims to report as complete; they complete immediately, because no drive model gives times
    /// for them.
    trimmed: Vec<RequestId>,
}

impl SimulatedStore {
    /// Makes a store with the timing of `drive` and its data in the file `store`, which reads as
    /// zero beyond its end. The policy must keep within the drive's depth.
    pub fn new(drive: Box<dyn Drive + Send>, store: File, clock: Clock, waker: Waker) -> Self {
        let drive = DriveQueue::new(drive, u32::MAX);
        Self { drive, store, clock, waker, ring: None, trimmed: Vec::new() }
    }

    /// Lets the store serve at most `sockets` connections, on a ring that belongs to this thread.
    ///
    /// # Errors
    /// [`RingError`] if io_uring is not available or refuses this size.
    pub fn with_sockets(self, sockets: u32) -> Result<Self, RingError> {
        let ring = match sockets {
            0 => None,
            _ => Some(DataRing::new(None, 2 * sockets, self.waker.clone())?),
        };
        Ok(Self { ring, ..self })
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

impl DataBackend for SimulatedStore {
    fn ring(&mut self) -> Option<&mut DataRing> {
        self.ring.as_mut()
    }
}

impl Backend for SimulatedStore {
    type Payload = IoBuffer;
    type Fault = IoError;
    type Error = RingError;

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Request], payloads: &mut Vec<IoBuffer>) -> Result<(), RingError> {
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

    fn wait(&mut self, until: Option<Time>) -> Result<(), RingError> {
        let next = [until, self.drive.next_event()].into_iter().flatten().min();
        let is_due = self.drive.has_done() || !self.trimmed.is_empty();
        let now = self.now();
        let time = match next {
            _ if is_due => Duration::ZERO,
            Some(next) => next.since(now).min(SLEEP_MAX),
            None => SLEEP_MAX,
        };
        match &mut self.ring {
            Some(ring) => return ring.wait(time),
            None if time.is_zero() => {}
            None => self.waker.sleep(time),
        }
        Ok(())
    }

    fn reap(
        &mut self,
        completions: &mut Vec<Completion<IoBuffer, IoError>>,
    ) -> Result<(), RingError> {
        self.drive.advance(self.clock.now());
        while let Some(done) = self.drive.take_done() {
            let completion = match (done.work, done.payload) {
                (Work::Transfer(request), Some(mut data)) => {
                    let result = self.transfer(&request, &mut data).map_err(IoError::from);
                    Completion { id: request.id, payload: Some(data), result }
                }
                // The store has no volatile cache that a flush must write.
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

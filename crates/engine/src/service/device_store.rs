// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A real device or file as the store of a service, through io_uring.

use tidegate_device::{DataRing, IoBuffer, IoError, RingError, Target, Transfer, Waker};
use tidegate_host::{Backend, Completion};
use tidegate_model::{Bytes, Duration, Lba, Request, RequestId, Time};
use tidegate_platform::Clock;

use super::DataBackend;

/// The longest time for which the thread blocks if no event occurs.
const WAIT_MAX: Duration = Duration::from_ms(60_000);

/// A target as a store, on the real clock.
#[derive(Debug)]
pub struct DeviceStore {
    ring: DataRing,
    clock: Clock,
    /// Keeps the target open as long as the ring exists.
    _target: Target,
}

impl DeviceStore {
    /// Makes a store on `target` for a policy with at most `depth` requests in flight, and for at
    /// most `sockets` connections. The store belongs to the thread that makes it; that thread polls
    /// for the time `busy_poll` before it blocks.
    ///
    /// # Errors
    /// [`RingError`] if io_uring is not available or refuses this size.
    pub fn new(
        target: Target,
        depth: u32,
        sockets: u32,
        busy_poll: Duration,
        clock: Clock,
        waker: Waker,
    ) -> Result<Self, RingError> {
        // Each request in flight can need a flush, one trim can be in flight, and each connection
        // receives and sends.
        let slots = 2 * depth + 1 + 2 * sockets;
        let ring = DataRing::new(Some(&target), slots, waker)?.busy_polling(busy_poll);
        Ok(Self { ring, clock, _target: target })
    }
}

impl DataBackend for DeviceStore {
    fn ring(&mut self) -> Option<&mut DataRing> {
        Some(&mut self.ring)
    }
}

impl Backend for DeviceStore {
    type Payload = IoBuffer;
    type Fault = IoError;
    type Error = RingError;

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Request], payloads: &mut Vec<IoBuffer>) -> Result<(), RingError> {
        assert_eq!(batch.len(), payloads.len(), "each request has its memory");
        for (request, data) in batch.iter().zip(payloads.drain(..)) {
            let &Request { id: RequestId(token), op, start, size, .. } = request;
            self.ring.push(Transfer { token, op, start, size, data });
        }
        Ok(())
    }

    fn flush(&mut self, id: RequestId) {
        self.ring.push_flush(id.0);
    }

    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes) {
        self.ring.push_trim(id.0, start, size);
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), RingError> {
        let timeout = until.map_or(WAIT_MAX, |until| until.since(self.now()).min(WAIT_MAX));
        self.ring.wait(timeout)
    }

    fn reap(
        &mut self,
        completions: &mut Vec<Completion<IoBuffer, IoError>>,
    ) -> Result<(), RingError> {
        self.ring.reap(|tidegate_device::Moved { token, data, result }| {
            completions.push(Completion { id: RequestId(token), payload: data, result });
        });
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A real device through io_uring, on the real clock.
//!
//! Each call of `submit` makes one system call. The thread blocks in the ring until a completion,
//! an instant or a signal; nothing is allocated per request.

use std::collections::VecDeque;
use std::convert::Infallible;

use tidegate_device::target::Access;
use tidegate_device::{Io, IoClass, IoError, Ring, RingError, Target};
use tidegate_host::{Backend, Completion};
use tidegate_model::{Bytes, Duration, Lba, Request, RequestId, Tag, Time};
use tidegate_platform::Clock;

use crate::limits::Limits;

/// The longest time for which the thread blocks, so that it notices a cancellation that comes
/// without a signal.
const WAIT_MAX: Duration = Duration::from_ms(100);

/// The largest number of completions returned in one call. Devices often complete many requests
/// together and are idle until they get new ones. With a small limit, the host answers the first
/// completions with new requests, and the device works on these while the host handles the rest.
const REAP_MAX: usize = 4;

/// A submission or a wait failed. A request that fails is reported in its completion instead.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action}: {source}")]
pub struct BackendError {
    /// The operation that failed.
    pub action: &'static str,
    /// The error from the ring.
    pub source: RingError,
}

/// Backends in virtual time never fail.
impl From<Infallible> for BackendError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// A real device on the real clock.
///
/// The value must stay on the thread that made it.
#[derive(Debug)]
pub struct DeviceBackend {
    ring: Ring,
    clock: Clock,
    limits: Limits,
    /// Completions that have not been returned yet.
    returned: VecDeque<Completion<(), IoError>>,
    is_ranking: bool,
}

impl DeviceBackend {
    /// Makes a backend for `target`. It has buffers for `in_flight_max` requests of at most
    /// `size_max`, which is rounded up to the target's alignment, and room for one flush or trim in
    /// addition.
    ///
    /// # Errors
    /// [`RingError`] if io_uring is not available or refuses this size.
    pub fn new(target: &Target, in_flight_max: u32, size_max: Bytes) -> Result<Self, RingError> {
        let alignment = target.alignment();
        let size_max = Bytes::new(size_max.get().next_multiple_of(alignment.get()));
        let limits = Limits {
            capacity: target.size(),
            alignment,
            size_max,
            in_flight_max,
            is_writable: target.access() == Access::ReadWrite,
        };
        let slots = in_flight_max.saturating_add(1);
        let ring = Ring::new(target, slots, size_max)?;
        let returned = VecDeque::with_capacity(slots as usize);
        Ok(Self { ring, clock: Clock::start(), limits, returned, is_ranking: false })
    }

    /// Sets whether requests carry the policy's priority from now on. If true, requests with the
    /// tag for priority or for the head of the queue get the kernel's class "real time", and all
    /// others "best effort"; this requires [`tidegate_device::io_priority::is_permitted`]. If
    /// false, all requests have the thread's class.
    pub fn rank(&mut self, is_ranking: bool) {
        self.is_ranking = is_ranking;
    }

    fn class(&self, tag: Tag) -> IoClass {
        match tag {
            _ if !self.is_ranking => IoClass::Inherited,
            Tag::Priority | Tag::HeadOfQueue => IoClass::RealTime,
            _ => IoClass::BestEffort,
        }
    }

    /// Returns the target's limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

impl Backend for DeviceBackend {
    type Payload = ();
    type Fault = IoError;
    type Error = BackendError;

    fn begin(&mut self) {
        let is_idle = self.ring.in_flight_count() == 0 && self.returned.is_empty();
        assert!(is_idle, "a run begins with nothing in flight");
        self.clock = Clock::start();
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[Request], payloads: &mut Vec<()>) -> Result<(), BackendError> {
        payloads.clear();
        for &Request { id: RequestId(token), op, start, size, fua, tag, .. } in batch {
            let class = self.class(tag);
            self.ring.push_as(Io { token, op, start, size, fua }, class);
        }
        let action = "submit to the device";
        self.ring.submit().map_err(|source| BackendError { action, source })
    }

    fn flush(&mut self, id: RequestId) {
        self.ring.push_flush(id.0);
    }

    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes) {
        self.ring.push_trim(id.0, start, size);
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BackendError> {
        if !self.returned.is_empty() {
            return Ok(());
        }
        let timeout = until.map_or(WAIT_MAX, |until| until.since(self.now()).min(WAIT_MAX));
        let woken = self.ring.wait(Some(timeout));
        let action = "wait for the device";
        woken.map(drop).map_err(|source| BackendError { action, source })
    }

    fn reap(&mut self, completions: &mut Vec<Completion<(), IoError>>) -> Result<(), BackendError> {
        let returned = &mut self.returned;
        self.ring.reap(|tidegate_device::Completion { token, result }, data| {
            // Only flushes and trims move no data.
            let payload = (!data.is_empty()).then_some(());
            returned.push_back(Completion { id: RequestId(token), payload, result });
        });
        let count = returned.len().min(REAP_MAX);
        completions.extend(returned.drain(..count));
        Ok(())
    }
}

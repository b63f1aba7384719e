// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Passes the kernel's requests to the drive's thread.
//!
//! A request gets its arrival time under the lock, and the thread reads the clock under the lock
//! when it takes the requests. So no arrival time is before the time that the drive was last
//! advanced to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_device::Waker;
use tidegate_model::Time;
use tidegate_platform::Clock;

use crate::disk::Ask;

/// A request: its arrival time, the request itself, and the handle for its reply.
pub(crate) type Arrival<R> = (Time, Ask, R);

#[derive(Debug)]
struct Waiting<R> {
    arrivals: Vec<Arrival<R>>,
    /// Whether new requests are refused.
    is_closed: bool,
}

/// The requests that arrived but were not yet taken.
#[derive(Debug)]
pub(crate) struct Inbox<R> {
    waiting: Mutex<Waiting<R>>,
    clock: Clock,
    waker: Waker,
}

impl<R> Inbox<R> {
    pub(crate) fn new(clock: Clock, waker: Waker) -> Self {
        let waiting = Waiting { arrivals: Vec::new(), is_closed: false };
        Self { waiting: Mutex::new(waiting), clock, waker }
    }

    /// Accepts a request. Returns its reply handle if the inbox is closed.
    pub(crate) fn put(&self, ask: Ask, reply: R) -> Result<(), R> {
        {
            let mut waiting = self.lock();
            if waiting.is_closed {
                return Err(reply);
            }
            let now = self.clock.now();
            waiting.arrivals.push((now, ask, reply));
        }
        self.waker.wake();
        Ok(())
    }

    /// Moves all requests into `taken`, in order of arrival. Returns the current time, and whether
    /// more requests may arrive.
    pub(crate) fn take(&self, taken: &mut Vec<Arrival<R>>) -> (Time, bool) {
        let mut waiting = self.lock();
        taken.append(&mut waiting.arrivals);
        (self.clock.now(), !waiting.is_closed)
    }

    /// Closes the inbox to new requests.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.waker.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<R>> {
        // A panic under the lock leaves a valid list.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

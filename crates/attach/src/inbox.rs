// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How requests of the kernel reach the thread that has the drive.
//!
//! A request is stamped with its arrival under the lock, and the clock is read under it when the
//! requests are taken: no stamp lies before what the drive was told last.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_device::Waker;
use tidegate_model::Time;
use tidegate_platform::Clock;

use crate::disk::Ask;

/// A request, its arrival, and who waits for the answer.
pub(crate) type Arrival<R> = (Time, Ask, R);

#[derive(Debug)]
struct Waiting<R> {
    arrivals: Vec<Arrival<R>>,
    /// Nothing more comes, or nobody takes it.
    is_closed: bool,
}

/// What arrived and was not taken.
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

    /// Takes a request. Where nobody answers any more it is given back.
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

    /// Moves everything that arrived into `taken`, in order of arrival, and tells what time it is
    /// and whether more may come.
    pub(crate) fn take(&self, taken: &mut Vec<Arrival<R>>) -> (Time, bool) {
        let mut waiting = self.lock();
        taken.append(&mut waiting.arrivals);
        (self.clock.now(), !waiting.is_closed)
    }

    /// Nothing more is taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.waker.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<R>> {
        // Whoever panicked with it left a list that is as good as before.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

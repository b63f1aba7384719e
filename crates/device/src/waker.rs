// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Wakes a thread that is blocked waiting for the device when another thread has work for it.
//!
//! The waker is an eventfd with a state of two bits: a wake-up is pending, and the sleeper is
//! asleep or about to sleep.
//!
//! ```text
//!   waking thread:  store the work; set WOKEN; if ASLEEP was set, write the eventfd
//!   sleeper:        set ASLEEP, unless WOKEN; block; clear both; look for work; ...
//! ```
//! Waking a thread that is awake costs no system call. Of several threads that find the sleeper
//! asleep, each writes the event: if only the first did and it were preempted between its two
//! steps, the wake-ups of the others would be delayed with it. The state is cleared before each
//! look for work and nowhere else, so no work is missed; a stale event only causes one unnecessary
//! look.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use tidegate_model::Duration;

/// A wake-up is pending.
const WOKEN: u8 = 1;

/// The sleeper needs the event to wake up.
const ASLEEP: u8 = 2;

/// Both ends of a wake-up channel; clones share it.
#[derive(Debug, Clone)]
pub struct Waker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    event: OwnedFd,
    state: AtomicU8,
}

impl Waker {
    /// Makes a waker with no pending wake-up.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn new() -> Result<Self, Errno> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { shared: Arc::new(Shared { event, state: AtomicU8::new(0) }) })
    }

    /// Wakes the thread from its current or next wait.
    pub fn wake(&self) {
        if self.shared.state.fetch_or(WOKEN, Ordering::AcqRel) & ASLEEP != 0 {
            // A write fails only if the counter is full, and then the event is already pending.
            let _ = write(&self.shared.event, &1_u64.to_ne_bytes());
        }
    }

    /// Returns whether a wake-up is pending.
    pub(crate) fn is_woken(&self) -> bool {
        self.shared.state.load(Ordering::Acquire) & WOKEN != 0
    }

    /// Prepares to block; must be called before blocking for the event. Returns false if a wake-up
    /// is pending: then the caller must not block, because no event may come.
    pub fn prepare_to_sleep(&self) -> bool {
        self.shared.state.compare_exchange(0, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes the pending wake-up. It must be called before looking for work, never after: a later
    /// call would take the wake-up for work that arrived after the look.
    pub fn acknowledge(&self) {
        self.shared.state.swap(0, Ordering::AcqRel);
    }

    /// Reads the event, for callers that poll its level; a pending wake-up stays pending.
    pub fn clear_event(&self) {
        let _ = read(&self.shared.event, &mut [0; 8]);
    }

    /// Blocks until a wake-up, a signal, or the end of this time; then acknowledges.
    pub fn sleep(&self, at_most: Duration) {
        let timeout = timespec(at_most);
        // The caller looks for work however the wait ended.
        let mut event = [PollFd::new(&self.shared.event, PollFlags::IN)];
        if self.prepare_to_sleep() && poll(&mut event, Some(&timeout)) == Ok(1) {
            self.clear_event();
        }
        self.acknowledge();
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.event.as_fd()
    }
}

impl AsRawFd for Waker {
    fn as_raw_fd(&self) -> RawFd {
        self.shared.event.as_raw_fd()
    }
}

fn timespec(time: Duration) -> Timespec {
    let part = |ns: u64| i64::try_from(ns).expect("seconds of 584 years, or below 10^9");
    Timespec { tv_sec: part(time.ns() / 1_000_000_000), tv_nsec: part(time.ns() % 1_000_000_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(waker: &Waker) -> u64 {
        let mut count = [0; 8];
        match read(&waker.shared.event, &mut count) {
            Ok(_) => u64::from_ne_bytes(count),
            Err(_) => 0,
        }
    }

    #[test]
    fn only_a_sleeper_gets_an_event_and_from_everyone() {
        let waker = Waker::new().unwrap();
        waker.wake();
        assert_eq!(events(&waker), 0, "it is awake");
        assert!(!waker.prepare_to_sleep(), "a wake-up is pending");
        waker.acknowledge();
        assert!(waker.prepare_to_sleep());
        // Each of them writes the event, because the first could be preempted before its write.
        waker.wake();
        waker.wake();
        assert_eq!(events(&waker), 2);
        waker.acknowledge();
        assert!(!waker.is_woken() && waker.prepare_to_sleep());
    }
}

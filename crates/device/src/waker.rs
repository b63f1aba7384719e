// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Wakes a thread that blocks for the device: there is something to do that no device told it.
//!
//! An eventfd behind a flag: ringing twice before the sleeper looks costs one system call. The
//! flag says that there is something to do, the eventfd only ends a sleep.
//!
//! ```text
//!   ringer:   put it down; flag, and if it was not set: eventfd
//!   sleeper:  sleep unless the flag is set; clear the flag; look; ...
//! ```
//! The flag is cleared before each look and nowhere else, so nothing is missed; and a sleep that
//! an old event ends is only one look too many.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Duration;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};

/// Both ends of a bell; clones are the same bell.
#[derive(Debug, Clone)]
pub struct Waker {
    bell: Arc<Bell>,
}

#[derive(Debug)]
struct Bell {
    event: OwnedFd,
    is_rung: AtomicBool,
}

impl Waker {
    /// A bell that was not rung.
    ///
    /// # Errors
    /// When no file descriptor is to be had.
    pub fn new() -> Result<Self, Errno> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { bell: Arc::new(Bell { event, is_rung: AtomicBool::new(false) }) })
    }

    /// Wakes whoever waits, now or next.
    pub fn ring(&self) {
        if !self.bell.is_rung.swap(true, Ordering::AcqRel) {
            // It fails only when the count is full, and then it is rung already.
            let _ = write(&self.bell.event, &1_u64.to_ne_bytes());
        }
    }

    /// Whether it was rung and not heard: whoever is about to sleep need not.
    pub(crate) fn is_rung(&self) -> bool {
        self.bell.is_rung.load(Ordering::Acquire)
    }

    /// Hears it: it must be rung again for the next wake-up. Only to be called before looking at
    /// what there is to do: what was put down before a ring is seen then. After a look it would
    /// take away the ring of what came since.
    pub fn hear(&self) {
        self.bell.is_rung.swap(false, Ordering::AcqRel);
    }

    /// Makes the event descriptor silent, whatever it tells; whether it was rung stays known.
    pub fn silence(&self) {
        let _ = read(&self.bell.event, &mut [0; 8]);
    }

    /// Blocks until it is rung, a signal comes, or this time is over; then it is heard.
    pub fn sleep(&self, at_most: Duration) {
        let timeout = timespec(at_most);
        // Whatever ends it, the caller looks at everything.
        let mut bell = [PollFd::new(&self.bell.event, PollFlags::IN)];
        if self.is_rung() || poll(&mut bell, Some(&timeout)) == Ok(1) {
            self.silence();
        }
        self.hear();
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.event.as_fd()
    }
}

impl AsRawFd for Waker {
    fn as_raw_fd(&self) -> RawFd {
        self.bell.event.as_raw_fd()
    }
}

fn timespec(time: Duration) -> Timespec {
    let part = |ns: u64| i64::try_from(ns).expect("seconds of 584 years, or below 10^9");
    Timespec { tv_sec: part(time.ns() / 1_000_000_000), tv_nsec: part(time.ns() % 1_000_000_000) }
}

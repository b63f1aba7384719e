// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Wakes a thread that blocks for the device: there is something to do that no device told it.
//!
//! An eventfd behind a state, of two bits: somebody rang, and the sleeper is asleep or about to be.
//!
//! ```text
//!   ringer:   put it down; rung, and if asleep: eventfd
//!   sleeper:  asleep, unless rung; block; neither of both; look; ...
//! ```
//! A ringer that meets a sleeper who is awake makes no system call. Of several that meet one who is
//! asleep each wakes it: were it left to the first, one that is kept from running between its two
//! steps would keep the others waiting. The state is cleared before each look and nowhere else, so
//! nothing is missed; and a sleep that an old event ends is only one look too many.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use tidegate_model::Duration;

/// Somebody rang, and was not heard yet.
const RUNG: u8 = 1;

/// The sleeper needs the event to wake.
const ASLEEP: u8 = 2;

/// Both ends of a bell; clones are the same bell.
#[derive(Debug, Clone)]
pub struct Waker {
    bell: Arc<Bell>,
}

#[derive(Debug)]
struct Bell {
    event: OwnedFd,
    state: AtomicU8,
}

impl Waker {
    /// A bell that was not rung.
    ///
    /// # Errors
    /// When no file descriptor is to be had.
    pub fn new() -> Result<Self, Errno> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { bell: Arc::new(Bell { event, state: AtomicU8::new(0) }) })
    }

    /// Wakes whoever waits, now or next.
    pub fn ring(&self) {
        if self.bell.state.fetch_or(RUNG, Ordering::AcqRel) & ASLEEP != 0 {
            // It fails only when the count is full, and then it is rung already.
            let _ = write(&self.bell.event, &1_u64.to_ne_bytes());
        }
    }

    /// Whether it was rung and not heard: whoever is about to sleep need not.
    pub(crate) fn is_rung(&self) -> bool {
        self.bell.state.load(Ordering::Acquire) & RUNG != 0
    }

    /// To be said before blocking for the event; false where it was rung since it was last heard:
    /// then there is something to do, and no event may come.
    pub fn doze(&self) -> bool {
        self.bell.state.compare_exchange(0, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Is awake, and hears it: it must be rung again for the next wake-up. Only to be called before
    /// looking at what there is to do: what was put down before a ring is seen then. After a look it would
    /// take away the ring of what came since.
    pub fn hear(&self) {
        self.bell.state.swap(0, Ordering::AcqRel);
    }

    /// Makes the event descriptor silent, for who polls it by level; whether it was rung stays known.
    pub fn silence(&self) {
        let _ = read(&self.bell.event, &mut [0; 8]);
    }

    /// Blocks until it is rung, a signal comes, or this time is over; then it is heard.
    pub fn sleep(&self, at_most: Duration) {
        let timeout = timespec(at_most);
        // Whatever ends it, the caller looks at everything.
        let mut bell = [PollFd::new(&self.bell.event, PollFlags::IN)];
        if self.doze() && poll(&mut bell, Some(&timeout)) == Ok(1) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn events(waker: &Waker) -> u64 {
        let mut count = [0; 8];
        match read(&waker.bell.event, &mut count) {
            Ok(_) => u64::from_ne_bytes(count),
            Err(_) => 0,
        }
    }

    #[test]
    fn whoever_meets_a_sleeper_wakes_it_and_nobody_else_does() {
        let waker = Waker::new().unwrap();
        waker.ring();
        assert_eq!(events(&waker), 0, "it is awake");
        assert!(!waker.doze(), "it was rung");
        waker.hear();
        assert!(waker.doze());
        // The first might be kept from running before it has made the event.
        waker.ring();
        waker.ring();
        assert_eq!(events(&waker), 2);
        waker.hear();
        assert!(!waker.is_rung() && waker.doze());
    }
}

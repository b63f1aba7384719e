// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The wait of a thread that serves sockets and that other threads can wake.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tidegate_device::Waker;

/// Blocks until a wake-up, one of the events, a signal, or `until`. Afterwards the caller must
/// check for all of these.
pub(crate) fn wait_for<'a>(
    waker: &'a Waker,
    events: impl Iterator<Item = (BorrowedFd<'a>, PollFlags)>,
    until: Instant,
) {
    let mut polled = vec![PollFd::new(waker, PollFlags::IN)];
    polled.extend(events.map(|(socket, flags)| PollFd::from_borrowed_fd(socket, flags)));
    // One nanosecond is added so that a deadline has passed when the thread wakes.
    let time = until.saturating_duration_since(Instant::now()) + Duration::from_nanos(1);
    let time = if waker.prepare_to_sleep() { time } else { Duration::ZERO };
    let timeout = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    if poll(&mut polled, Some(&timeout)).is_ok() && !polled[0].revents().is_empty() {
        waker.clear_event();
    }
    waker.acknowledge();
}

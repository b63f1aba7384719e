// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An io_uring executor that moves data of clients: reads, writes and flushes of one target.
//!
//! Like [`crate::Ring`], a batch goes to the kernel with one system call, the same in which the
//! thread begins to wait. Unlike it, each request brings its own memory and gets it back, and
//! the thread can be woken by others while it waits.
//!
//! ```text
//!   free --push--> pushed --wait--> in flight --reap--> free
//!                            |          ^
//!                            +-- wake --+   a poll of the waker is always under way: by its
//!                                           edges, so the event is never read
//! ```

use std::os::fd::AsRawFd;

use io_uring::opcode;
use io_uring::types::Fd;
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::io_buffer::IoBuffer;
use crate::ring_core::{Held, RingCore, is_kept};
use crate::ring_error::{IoError, RingError};
use crate::target::Target;
use crate::uring::{TARGET, length_u32};
use crate::waker::Waker;

/// The name of the waker's poll.
const WAKE: u64 = u64::MAX;

/// How long the ring waits before it asks again a kernel that had no memory.
const RETRY_DELAY: std::time::Duration = std::time::Duration::from_millis(1);

/// A read or a write with its memory.
#[derive(Debug)]
pub struct Transfer {
    /// Comes back with it; means nothing to the ring.
    pub token: u64,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// How much: the first bytes of `data`.
    pub size: Bytes,
    /// What is written, or where to what is read goes.
    pub data: IoBuffer,
}

/// What came back.
#[derive(Debug)]
pub struct Moved {
    /// The token of the request.
    pub token: u64,
    /// The memory of a transfer; `None` for a flush and a trim.
    pub data: Option<IoBuffer>,
    /// Whether the device did what was asked.
    pub result: Result<(), IoError>,
}

/// The executor; see the module's text.
pub struct DataRing {
    core: RingCore<Option<IoBuffer>>,
    waker: Waker,
    is_poll_armed: bool,
    /// How long it looks before it blocks.
    busy_poll: Duration,
}

impl DataRing {
    /// Makes a ring on `target` with room for `slots` requests, woken by `waker`.
    ///
    /// # Errors
    /// [`RingError`] when the host has no io_uring or refuses a ring of this size.
    pub fn new(target: &Target, slots: u32, waker: Waker) -> Result<Self, RingError> {
        // One more entry for the poll of the waker.
        let core = RingCore::new(target, slots, 1)?;
        Ok(Self { core, waker, is_poll_armed: false, busy_poll: Duration::ZERO })
    }

    /// Looks for completions and wake-ups for this long before it blocks: a look finds what comes
    /// within it without the time that waking takes, and uses the processor meanwhile.
    #[must_use]
    pub fn busy_polling(mut self, time: Duration) -> Self {
        self.busy_poll = time;
        self
    }

    /// How many more requests can be pushed.
    pub fn free_count(&self) -> u32 {
        self.core.free_count()
    }

    /// How many requests were pushed and not reaped.
    pub fn in_flight_count(&self) -> u32 {
        self.core.in_flight_count()
    }

    /// Puts a transfer into the next batch.
    ///
    /// # Panics
    /// When no slot is free; when the transfer is not aligned, larger than its memory, or reaches
    /// beyond the target; when it writes to a target opened read-only.
    pub fn push(&mut self, transfer: Transfer) {
        let Transfer { token, op, start, size, data } = transfer;
        self.core.check(op, start, size, data.capacity());
        let (address, count) = (data.address(), length_u32(size));
        let offset = start.offset_bytes();
        let entry = match op {
            Op::Read => opcode::Read::new(TARGET, address, count).offset(offset).build(),
            Op::Write => {
                opcode::Write::new(TARGET, address.cast_const(), count).offset(offset).build()
            }
        };
        let slot = self.core.claim();
        self.core.hold(slot, Held { token, size, memory: Some(data) }, entry);
    }

    /// Puts a flush into the next batch: when it is back, everything is on the medium that came
    /// back before this was pushed.
    ///
    /// # Panics
    /// When no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        self.core.push_flush(token, None);
    }

    /// Puts a deallocation into the next batch: what these blocks held is no longer wanted. What the
    /// device cannot do is not done, and is no fault: nobody relies on it.
    ///
    /// # Panics
    /// When no slot is free; when the target was opened read-only.
    pub fn push_trim(&mut self, token: u64, start: Lba, size: Bytes) {
        self.core.push_trim(token, start, size, None);
    }

    /// Gives all that was pushed to the kernel as one batch, then blocks until something came
    /// back, the waker was woken, a signal came, or `timeout` is over.
    ///
    /// # Errors
    /// [`RingError::Enter`] when the kernel takes nothing.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), RingError> {
        self.arm_poll();
        let entered = self.submit_and_block(timeout);
        // Only here, before the caller looks at what there is to do: later it would take away a
        // wake-up for what came after that look.
        self.waker.acknowledge();
        match entered {
            Ok(()) | Err(Errno::TIME | Errno::INTR) => Ok(()),
            Err(Errno::AGAIN | Errno::BUSY) => {
                // The kernel has no memory for a moment: that is no reason to end.
                std::thread::sleep(RETRY_DELAY);
                Ok(())
            }
            Err(source) => Err(RingError::Enter { source }),
        }
    }

    fn submit_and_block(&mut self, timeout: Duration) -> Result<(), Errno> {
        if !self.busy_poll.is_zero() {
            self.core.enter(0, Some(Duration::ZERO))?;
            if self.poll(self.busy_poll.min(timeout)) {
                // The kernel delivers what it deferred only when it is entered.
                let is_deferred = self.core.has_deferred_work();
                return if is_deferred { self.core.enter(0, Some(Duration::ZERO)) } else { Ok(()) };
            }
        }
        let timeout = if self.waker.prepare_to_sleep() { timeout } else { Duration::ZERO };
        self.core.enter(1, Some(timeout))
    }

    /// Looks until something came back, the waker was woken, or `time` is over; whether there is
    /// something to do.
    fn poll(&mut self, time: Duration) -> bool {
        let begun = std::time::Instant::now();
        let time = std::time::Duration::from_nanos(time.ns());
        loop {
            let has_come = self.core.has_deferred_work() || self.core.has_completion();
            if has_come || self.waker.is_woken() {
                return true;
            }
            if begun.elapsed() >= time {
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// Takes all completions there are. Does not wait.
    pub fn reap(&mut self, mut take: impl FnMut(Moved)) {
        let Self { core, is_poll_armed, .. } = self;
        core.reap(
            |_, Held { token, memory, .. }, result| take(Moved { token, data: memory, result }),
            // The poll stays, and tells of each wake-up, unless the kernel says that it ended.
            |flags| *is_poll_armed = is_kept(flags),
        );
    }

    fn arm_poll(&mut self) {
        if !self.is_poll_armed {
            let event = Fd(self.waker.as_raw_fd());
            let poll = opcode::PollAdd::new(event, libc::POLLIN.cast_unsigned().into());
            self.core.push_other(poll.multi(true).build(), WAKE);
            self.is_poll_armed = true;
        }
    }
}

impl Drop for DataRing {
    /// A request whose device never answers keeps its memory: it is lost, not corrupted.
    fn drop(&mut self) {
        self.core.close().for_each(|held| std::mem::forget(held.memory));
    }
}

impl std::fmt::Debug for DataRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataRing")
            .field("slots", &self.core.slot_count())
            .field("in_flight_count", &self.in_flight_count())
            .finish_non_exhaustive()
    }
}

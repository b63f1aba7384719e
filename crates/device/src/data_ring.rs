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
//!                            +-- bell --+   a poll of the waker is always under way: by its
//!                                           edges, so the event is never read
//! ```

use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use io_uring::types::{Fd, FsyncFlags, SubmitArgs};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::io_buffer::IoBuffer;
use crate::ring::{SIZE_MAX, SLOTS_MAX};
use crate::ring_error::{IoError, RingError};
use crate::target::{Access, Target};
use crate::uring::{TARGET, errno_of, length_u32, outcome, refused, set_up, timespec};
use crate::waker::Waker;

/// What the poll of the waker comes back as.
const BELL: u64 = u64::MAX;

/// Before the kernel is asked again that had no memory.
const BREATH: std::time::Duration = std::time::Duration::from_millis(1);

/// How long a dropped ring waits for its last requests.
const LAST_WAIT: Duration = Duration::from_ms(10_000);

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
    /// The memory of a transfer; none of a flush.
    pub data: Option<IoBuffer>,
    /// Whether the device did what was asked.
    pub result: Result<(), IoError>,
}

/// A request pushed or in flight.
#[derive(Debug)]
struct Held {
    token: u64,
    size: Bytes,
    data: Option<IoBuffer>,
}

/// The executor; see the module's text.
///
/// # Invariants
/// - The memory of what is pushed or in flight is owned by `held`.
pub struct DataRing {
    uring: IoUring,
    held: Vec<Option<Held>>,
    free: Vec<u16>,
    pushed_count: u32,
    waker: Waker,
    is_bell_armed: bool,
    /// How long it looks before it blocks.
    busy_poll: Duration,
    target_size: Bytes,
    alignment: Bytes,
    access: Access,
    /// The kernel ties the ring to the thread that made it.
    _not_send: PhantomData<*const ()>,
}

impl DataRing {
    /// A ring on `target` with room for `slots` requests, woken by `waker`.
    ///
    /// # Errors
    /// [`RingError`] when io_uring is not to be had, or not that large.
    pub fn new(target: &Target, slots: u32, waker: Waker) -> Result<Self, RingError> {
        if slots == 0 || slots > SLOTS_MAX {
            return Err(RingError::SlotsOutOfRange { slots });
        }
        // One more for the bell.
        let (uring, _) = set_up(slots + 1)?;
        uring
            .submitter()
            .register_files(&[target.as_raw_fd()])
            .map_err(|error| refused("register the target", &error))?;
        let free: Vec<u16> = (0..slot(u64::from(slots))).rev().collect();
        Ok(Self {
            uring,
            held: free.iter().map(|_| None).collect(),
            free,
            pushed_count: 0,
            waker,
            is_bell_armed: false,
            busy_poll: Duration::ZERO,
            target_size: target.size(),
            alignment: target.alignment(),
            access: target.access(),
            _not_send: PhantomData,
        })
    }

    /// Looks for completions and rings for this long before it blocks: a look finds what comes
    /// within it without the time that waking takes, and uses the processor meanwhile.
    #[must_use]
    pub fn busy_polling(mut self, time: Duration) -> Self {
        self.busy_poll = time;
        self
    }

    /// How many more requests can be pushed.
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// How many requests were pushed and not reaped.
    pub fn in_flight_count(&self) -> usize {
        self.held.len() - self.free.len()
    }

    /// Puts a transfer into the next batch.
    ///
    /// # Panics
    /// When no slot is free; when the transfer is not aligned, larger than its memory, or reaches
    /// beyond the target; when it writes to a target opened read-only.
    pub fn push(&mut self, transfer: Transfer) {
        self.check(&transfer);
        let Transfer { token, op, start, size, data } = transfer;
        let (address, count) = (data.address(), length_u32(size));
        let offset = start.offset_bytes();
        let entry = match op {
            Op::Read => opcode::Read::new(TARGET, address, count).offset(offset).build(),
            Op::Write => {
                opcode::Write::new(TARGET, address.cast_const(), count).offset(offset).build()
            }
        };
        self.hold(Held { token, size, data: Some(data) }, &entry);
    }

    /// Puts a flush into the next batch: when it is back, everything is on the medium that came
    /// back before this was pushed.
    ///
    /// # Panics
    /// When no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        let entry = opcode::Fsync::new(TARGET).flags(FsyncFlags::DATASYNC).build();
        self.hold(Held { token, size: Bytes::new(0), data: None }, &entry);
    }

    /// Puts a deallocation into the next batch: what these blocks held is no longer wanted. What the
    /// device cannot do is not done, and is no fault: nobody relies on it.
    ///
    /// # Panics
    /// When no slot is free; when the target was opened read-only.
    pub fn push_trim(&mut self, token: u64, start: Lba, size: Bytes) {
        assert!(self.access == Access::ReadWrite, "trimming needs a target opened ReadWrite");
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let entry = opcode::Fallocate::new(TARGET, size.get())
            .offset(start.offset_bytes())
            .mode(mode)
            .build();
        self.hold(Held { token, size: Bytes::new(0), data: None }, &entry);
    }

    /// Gives all that was pushed to the kernel as one batch, then blocks until something came
    /// back, the waker was rung, a signal came, or `timeout` is over.
    ///
    /// # Errors
    /// [`RingError::Enter`] when the kernel takes nothing.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), RingError> {
        self.arm_bell();
        let entered = self.submit_and_block(timeout);
        // Only here, before the caller looks at what there is to do: later it may have been rung
        // again for what comes after that look.
        self.waker.hear();
        match entered.map_err(|error| errno_of(&error)) {
            Err(Errno::AGAIN | Errno::BUSY) => {
                // For want of memory, for a moment: that is no reason to end.
                std::thread::sleep(BREATH);
                Ok(())
            }
            Ok(_) | Err(Errno::TIME | Errno::INTR) => {
                // What the kernel did not take yet goes with the next call.
                let left = self.uring.submission().len();
                self.pushed_count = self.pushed_count.min(u32::try_from(left).unwrap_or(u32::MAX));
                Ok(())
            }
            Err(source) => Err(RingError::Enter { source }),
        }
    }

    fn submit_and_block(&mut self, timeout: Duration) -> std::io::Result<usize> {
        if !self.busy_poll.is_zero() {
            let submitted = self.enter(0, Duration::ZERO)?;
            if self.poll(self.busy_poll.min(timeout)) {
                // The kernel delivers what it deferred only when it is entered.
                let is_deferred = self.uring.submission().taskrun();
                return if is_deferred { self.enter(0, Duration::ZERO) } else { Ok(submitted) };
            }
        }
        let timeout = if self.waker.doze() { timeout } else { Duration::ZERO };
        self.enter(1, timeout)
    }

    /// Gives the kernel what was pushed, and blocks until so much came back or `timeout` is over.
    fn enter(&mut self, want: usize, timeout: Duration) -> std::io::Result<usize> {
        let time = timespec(timeout);
        self.uring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&time))
    }

    /// Looks until something came back, the waker was rung, or `time` is over; whether there is
    /// something to do.
    fn poll(&mut self, time: Duration) -> bool {
        let begun = std::time::Instant::now();
        let time = std::time::Duration::from_nanos(time.ns());
        loop {
            let has_come = self.uring.submission().taskrun() || !self.uring.completion().is_empty();
            if has_come || self.waker.is_rung() {
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
        let Self { uring, held, free, is_bell_armed, .. } = self;
        for entry in uring.completion() {
            if entry.user_data() == BELL {
                // It stays, and tells each ring, unless the kernel says that it was the last.
                *is_bell_armed = cqueue::more(entry.flags());
                continue;
            }
            let slot = slot(entry.user_data());
            // The kernel answers each entry once.
            let Some(Held { token, size, data }) = held[usize::from(slot)].take() else { continue };
            free.push(slot);
            take(Moved { token, data, result: outcome(entry.result(), size) });
        }
    }

    fn arm_bell(&mut self) {
        if !self.is_bell_armed {
            let bell = Fd(self.waker.as_raw_fd());
            let poll = opcode::PollAdd::new(bell, libc::POLLIN.cast_unsigned().into());
            push_entry(&mut self.uring, &poll.multi(true).build().user_data(BELL));
            self.is_bell_armed = true;
        }
    }

    fn hold(&mut self, held: Held, entry: &squeue::Entry) {
        let slot = self.free.pop().expect("push needs a free slot: reap first");
        self.held[usize::from(slot)] = Some(held);
        push_entry(&mut self.uring, &entry.clone().user_data(u64::from(slot)));
        self.pushed_count += 1;
    }

    fn check(&self, transfer: &Transfer) {
        let (start, size) = (transfer.start.offset_bytes(), transfer.size);
        let (alignment, capacity) = (self.alignment.get(), transfer.data.capacity());
        assert!(size.get() > 0 && size <= capacity.min(SIZE_MAX), "{size} in {capacity}");
        assert!(
            start % alignment == 0 && size.get() % alignment == 0,
            "{size} at byte {start} is not aligned to {alignment} bytes",
        );
        assert!(
            start.checked_add(size.get()).is_some_and(|end| end <= self.target_size.get()),
            "{size} at byte {start} reaches beyond the target of {}",
            self.target_size,
        );
        assert!(
            transfer.op == Op::Read || self.access == Access::ReadWrite,
            "writing needs a target opened ReadWrite",
        );
    }

    /// Waits until the device is done with all memory, within reason.
    fn drain(&mut self) {
        while self.in_flight_count() > 0 {
            if self.wait(LAST_WAIT).is_err() || self.uring.completion().is_empty() {
                return;
            }
            self.reap(drop);
        }
    }
}

impl Drop for DataRing {
    /// A request whose device never answers keeps its memory: it is lost, not corrupted. What was
    /// pushed and never given to the kernel does not happen.
    fn drop(&mut self) {
        if self.pushed_count == 0 {
            self.drain();
        }
        for held in self.held.drain(..).flatten() {
            std::mem::forget(held.data);
        }
        let _ = self.uring.submitter().unregister_files();
    }
}

impl std::fmt::Debug for DataRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataRing")
            .field("slots", &self.held.len())
            .field("in_flight_count", &self.in_flight_count())
            .finish_non_exhaustive()
    }
}

/// Puts an entry into the submission queue.
#[expect(unsafe_code, reason = "the kernel will follow the entry's address")]
fn push_entry(uring: &mut IoUring, entry: &squeue::Entry) {
    // SAFETY: an address in the entry is that of an `IoBuffer` that holds at least as much and
    // that `held` owns until the completion was reaped, or for ever.
    let pushed = unsafe { uring.submission().push(entry) };
    pushed.expect("the submission queue has room for every slot and the bell");
}

fn slot(number: u64) -> u16 {
    u16::try_from(number).expect("at most SLOTS_MAX")
}

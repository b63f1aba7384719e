// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An io_uring executor that moves clients' data: reads, writes and flushes of one target, and the
//! bytes of clients' sockets.
//!
//! As with [`crate::Ring`], one system call submits a batch and begins the wait. Unlike with
//! `Ring`, each request brings its own memory, which its completion returns, and other threads can
//! wake the waiting thread. Disk and sockets share each system call: one call submits the requests
//! of some clients and the replies to others, and waits for completions of either kind.
//!
//! ```text
//!   free --push--> pushed --wait--> in flight --reap--> free
//!                            |          ^
//!                            +-- wake --+   a poll of the waker is always in flight,
//!                                           edge-triggered, so the event is not read
//! ```

use std::os::fd::AsRawFd;

use io_uring::opcode;
use io_uring::types::Fd;
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::io_buffer::IoBuffer;
use crate::ring_core::{Held, RingCore, is_kept};
use crate::ring_error::{IoError, RingError};
use crate::socket::{self, Delivered, Message, Receive, Send, Socket};
use crate::target::Target;
use crate::uring::{TARGET, length_u32, outcome};
use crate::waker::Waker;

/// The identifier of the waker's poll.
const WAKE: u64 = u64::MAX;

/// The time before a retry when the kernel has no memory.
const RETRY_DELAY: std::time::Duration = std::time::Duration::from_millis(1);

/// A read or a write with its memory.
#[derive(Debug)]
pub struct Transfer {
    /// The caller's name for the request, returned with its completion.
    pub token: u64,
    /// Read or write.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The number of bytes to transfer, from the start of `data`.
    pub size: Bytes,
    /// The data to write, or the buffer to read into.
    pub data: IoBuffer,
}

/// A completed request.
#[derive(Debug)]
pub struct Moved {
    /// The request's token.
    pub token: u64,
    /// The memory of a transfer; `None` for a flush and a trim.
    pub data: Option<IoBuffer>,
    /// Whether the device executed the request.
    pub result: Result<(), IoError>,
}

/// The memory that the kernel uses for an entry.
enum Memory {
    /// No memory: a flush or a trim.
    None,
    Data(IoBuffer),
    /// The socket stays open until the receive operation ends.
    Receive(IoBuffer, Socket),
    Send(Box<Message>, Socket),
}

/// An executor for requests that own their memory.
pub struct DataRing {
    core: RingCore<Memory>,
    /// The target's completed requests that were not yet taken.
    moved: Vec<Moved>,
    delivered: Vec<Delivered>,
    waker: Waker,
    is_poll_armed: bool,
    /// The time for which the ring polls before it blocks.
    busy_poll: Duration,
}

impl DataRing {
    /// Makes a ring with room for `slots` requests and socket transfers, woken by `waker`. `target`
    /// is `None` for a ring that serves only sockets.
    ///
    /// # Errors
    /// [`RingError`] if the host has no io_uring or refuses a ring of this size.
    pub fn new(target: Option<&Target>, slots: u32, waker: Waker) -> Result<Self, RingError> {
        // One more entry for the poll of the waker.
        let core = RingCore::new(target, slots, 1)?;
        Ok(Self {
            core,
            moved: Vec::new(),
            delivered: Vec::new(),
            waker,
            is_poll_armed: false,
            busy_poll: Duration::ZERO,
        })
    }

    /// Makes the ring poll for completions and wake-ups for this time before it blocks. Polling
    /// saves the time to wake up, but keeps the processor busy.
    #[must_use]
    pub fn busy_polling(mut self, time: Duration) -> Self {
        self.busy_poll = time;
        self
    }

    /// Returns the number of requests that can still be pushed.
    pub fn free_count(&self) -> u32 {
        self.core.free_count()
    }

    /// Returns the number of requests that were pushed and not reaped.
    pub fn in_flight_count(&self) -> u32 {
        self.core.in_flight_count()
    }

    /// Adds a transfer to the next batch.
    ///
    /// # Panics
    /// If no slot is free; if the transfer is not aligned, larger than its memory, or reaches
    /// beyond the target; if it writes to a target opened read-only.
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
        self.core.hold(slot, Held { token, size, memory: Memory::Data(data) }, entry);
    }

    /// Adds a receive operation on a socket to the next batch.
    ///
    /// # Panics
    /// If no slot is free; if the range is empty or exceeds the buffer.
    pub fn push_receive(&mut self, receive: Receive) {
        let entry = socket::receive(&receive);
        let Receive { token, socket, buffer, .. } = receive;
        let slot = self.core.claim();
        let memory = Memory::Receive(buffer, socket);
        self.core.hold(slot, Held { token, size: Bytes::new(0), memory }, entry);
    }

    /// Adds a message to send to the next batch.
    ///
    /// # Panics
    /// If no slot is free; if nothing is left to send.
    pub fn push_send(&mut self, mut send: Send) {
        // Only a kernel that can defer completions can also send silently: see `socket::send`.
        let (entry, whole) = socket::send(&mut send, self.core.is_deferred());
        let Send { token, socket, message, .. } = send;
        let slot = self.core.claim();
        let held = Held { token, size: Bytes::new(0), memory: Memory::Send(message, socket) };
        match whole {
            Some(bytes) => self.core.hold_silent(slot, held, entry, bytes),
            None => self.core.hold(slot, held, entry),
        }
    }

    /// Adds a flush to the next batch. When it is complete, all writes that were reaped before this
    /// call are on the medium.
    ///
    /// # Panics
    /// If no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        self.core.push_flush(token, Memory::None);
    }

    /// Adds a deallocation to the next batch: the data of these blocks is no longer needed. If the
    /// device cannot do it, nothing happens, because deallocation is only a hint.
    ///
    /// # Panics
    /// If no slot is free; if the target was opened read-only.
    pub fn push_trim(&mut self, token: u64, start: Lba, size: Bytes) {
        self.core.push_trim(token, start, size, Memory::None);
    }

    /// Submits all pushed requests to the kernel as one batch, then blocks until a completion, a
    /// wake-up, a signal, or the end of `timeout`.
    ///
    /// # Errors
    /// [`RingError::Enter`] if the kernel refuses the call, except for a temporary lack of memory.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), RingError> {
        self.arm_poll();
        let has_some = !self.moved.is_empty() || !self.delivered.is_empty();
        let timeout = if has_some { Duration::ZERO } else { timeout };
        let entered = self.submit_and_block(timeout);
        // Acknowledge before the caller looks for work: a later acknowledgement would lose the
        // wake-up for work that arrives in between.
        self.waker.acknowledge();
        match entered {
            Ok(()) | Err(Errno::TIME | Errno::INTR) => Ok(()),
            Err(Errno::AGAIN | Errno::BUSY) => {
                // The kernel temporarily has no memory, which is not fatal.
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
                // The kernel delivers deferred completions only when it is entered.
                let is_deferred = self.core.has_deferred_work();
                return if is_deferred { self.core.enter(0, Some(Duration::ZERO)) } else { Ok(()) };
            }
        }
        let timeout = if self.waker.prepare_to_sleep() { timeout } else { Duration::ZERO };
        self.core.enter(1, Some(timeout))
    }

    /// Polls until a completion, a wake-up, or the end of `time`; returns whether there is
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

    /// Takes all requests of the target that have completed, without waiting.
    pub fn reap(&mut self, take: impl FnMut(Moved)) {
        self.collect();
        self.moved.drain(..).for_each(take);
    }

    /// Moves all socket transfers that have ended to the end of `delivered`, without waiting.
    pub fn take_delivered(&mut self, delivered: &mut Vec<Delivered>) {
        self.collect();
        delivered.append(&mut self.delivered);
    }

    fn collect(&mut self) {
        let Self { core, moved, delivered, is_poll_armed, .. } = self;
        core.reap(
            |_, Held { token, size, memory }, result| match memory {
                Memory::None => {
                    moved.push(Moved { token, data: None, result: outcome(result, size) });
                }
                Memory::Data(data) => {
                    moved.push(Moved { token, data: Some(data), result: outcome(result, size) });
                }
                Memory::Receive(buffer, _) => {
                    let result = socket::count(result);
                    delivered.push(Delivered::Received { token, buffer, result });
                }
                Memory::Send(message, _) => {
                    let result = socket::count(result);
                    delivered.push(Delivered::Sent { token, message, result });
                }
            },
            // The poll of the waker stays armed, unless the kernel's flags say that it ended.
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
    /// Leaks the memory of a request that the device never completes, because the device may still
    /// write to that memory.
    fn drop(&mut self) {
        for held in self.core.held() {
            if let Memory::Receive(_, socket) | Memory::Send(_, socket) = &held.memory {
                // Otherwise a receive operation might never end. Shutting down a closed socket
                // fails, which is harmless.
                let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
            }
        }
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An io_uring executor: batches of reads and writes on one target.
//!
//! ```text
//!          push            submit: one io_uring_enter         wait, reap
//!   free ---------> pushed --------------------------> in flight -------> free
//! ```
//!
//! One system call submits all pushed requests, so that the device gets them as one batch. The
//! kernel then collects a batch of three or more before it calls the driver, but it passes requests
//! of 128 KiB and larger on individually, microseconds apart.
//!
//! Nothing is allocated per request. A ring belongs to the thread that made it: the kernel
//! completes requests only while that thread waits, so other threads are not disturbed.

use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::buffers::Buffers;
use crate::io_priority;
pub use crate::io_priority::IoClass;
use crate::ring_core::{Held, RingCore, slot_of};
use crate::ring_error::{IoError, RingError};
pub use crate::ring_limits::{SIZE_MAX, SLOTS_MAX};
use crate::target::{Access, Target};
use crate::uring::{TARGET, length, length_u32, outcome};

/// A request for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// The caller's name for the request, returned with its completion.
    pub token: u64,
    /// Read or write.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The number of bytes.
    pub size: Bytes,
    /// Whether a write must be on the medium before it completes.
    pub fua: bool,
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's token.
    pub token: u64,
    /// Whether the device executed the request.
    pub result: Result<(), IoError>,
}

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// A completion can be reaped.
    Completion,
    /// The timeout has expired.
    Timeout,
    /// A signal arrived; the caller must check whether to end.
    Interrupted,
}

/// The ring's properties that depend on the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingSetup {
    /// Whether the buffers are registered, so that the kernel need not map them for each request.
    /// False if the limit of locked memory (`ulimit -l`) is too low.
    pub fixed_buffers: bool,
    /// Whether requests complete only while the owner waits, not during its other work.
    pub deferred: bool,
}

/// An executor with its own buffers, for measurements.
///
/// # Invariants
/// - A buffer is accessed only while its slot is free.
pub struct Ring {
    core: RingCore<()>,
    /// The read buffers, one per slot.
    reads: Buffers,
    /// The write buffers, one per slot, if writing is allowed.
    writes: Option<Buffers>,
    /// The number stamped into each written block, so that no two written blocks are equal.
    written_count: u64,
    size_max: Bytes,
    setup: RingSetup,
}

impl Ring {
    /// Makes a ring on `target` with `slots` slots for requests of at most `size_max` each.
    ///
    /// # Errors
    /// [`RingError`] if io_uring is not available or refuses this size.
    pub fn new(target: &Target, slots: u32, size_max: Bytes) -> Result<Self, RingError> {
        let alignment = target.alignment();
        if size_max.get() == 0
            || size_max > SIZE_MAX
            || !size_max.get().is_multiple_of(alignment.get())
        {
            return Err(RingError::SizeOutOfRange { size: size_max, alignment });
        }
        let core = RingCore::new(Some(target), slots, 0)?;
        let reads = allocate(slots, size_max)?;
        let writes = match target.access() {
            Access::ReadOnly => None,
            Access::ReadWrite => Some(allocate(slots, size_max)?),
        };
        let fixed_buffers = register_buffers(core.uring(), slots, &reads, writes.as_ref());
        let setup = RingSetup { fixed_buffers, deferred: core.is_deferred() };
        Ok(Self { core, reads, writes, written_count: 0, size_max, setup })
    }

    /// Returns the ring's properties that depend on the kernel.
    pub fn setup(&self) -> RingSetup {
        self.setup
    }

    /// Returns the number of requests that can still be pushed.
    pub fn free_count(&self) -> u32 {
        self.core.free_count()
    }

    /// Returns the number of requests that were pushed and not reaped.
    pub fn in_flight_count(&self) -> u32 {
        self.core.in_flight_count()
    }

    /// Returns the size of the largest request.
    pub fn size_max(&self) -> Bytes {
        self.size_max
    }

    /// Adds a request to the next batch. A write carries incompressible data.
    ///
    /// # Panics
    /// If no slot is free; if the request is larger than the ring's `size_max`, is not aligned, or
    /// reaches beyond the target; if it writes to a target opened read-only; if a read requests
    /// FUA.
    pub fn push(&mut self, io: Io) {
        self.push_as(io, IoClass::Inherited);
    }

    /// Does the same as [`Ring::push`], with a given priority class. Without permission, the kernel
    /// fails each request of class `RealTime`.
    ///
    /// # Panics
    /// As [`Ring::push`].
    pub fn push_as(&mut self, io: Io, class: IoClass) {
        self.check(&io);
        let class = io_priority::value(class);
        let slot = self.core.claim();
        let entry = match io.op {
            Op::Read => self.read_entry(slot, &io, class),
            Op::Write => self.write_entry(slot, &io, class),
        };
        self.core.hold(slot, Held { token: io.token, size: io.size, memory: () }, entry);
    }

    /// Adds a flush to the next batch. When it is complete, all writes that were reaped before this
    /// call are on the medium.
    ///
    /// # Panics
    /// If no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        self.core.push_flush(token, ());
    }

    /// Adds a deallocation to the next batch: the device may discard the data of these blocks.
    ///
    /// # Panics
    /// If no slot is free; if the target was opened read-only.
    pub fn push_trim(&mut self, token: u64, start: Lba, size: Bytes) {
        self.core.push_trim(token, start, size, ());
    }

    /// Submits all pushed requests to the kernel as one batch; does nothing if there are none.
    ///
    /// # Errors
    /// [`RingError::BatchSplit`] if the kernel accepted only some, [`RingError::Enter`] if it
    /// accepted none. Requests that it did not accept are submitted with the next batch.
    pub fn submit(&mut self) -> Result<(), RingError> {
        self.core.submit()
    }

    /// Blocks until at least one request is complete, or until `timeout` is over. Submits pushed
    /// requests first.
    ///
    /// # Errors
    /// As for [`Ring::submit`].
    ///
    /// # Panics
    /// If no request is in flight and there is no timeout, because the wait would never end.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Wake, RingError> {
        self.wait_for(1, timeout)
    }

    /// Blocks until at least `count` requests are complete and not reaped, or until `timeout` is
    /// over; otherwise like [`Ring::wait`].
    ///
    /// # Errors
    /// As for [`Ring::submit`].
    ///
    /// # Panics
    /// If fewer than `count` requests are in flight and there is no timeout.
    pub fn wait_for(&mut self, count: u32, timeout: Option<Duration>) -> Result<Wake, RingError> {
        self.submit()?;
        let count = count.max(1);
        assert!(
            timeout.is_some() || self.in_flight_count() >= count,
            "waiting for {count} of {} requests in flight would never end",
            self.in_flight_count(),
        );
        match self.core.enter(count, timeout) {
            Ok(()) => Ok(Wake::Completion),
            Err(Errno::TIME) => Ok(self.woken_by(Wake::Timeout)),
            Err(Errno::INTR) => Ok(self.woken_by(Wake::Interrupted)),
            Err(source) => Err(RingError::Enter { source }),
        }
    }

    /// Takes all available completions, without waiting and without a system call: `take` receives
    /// each one with the memory of its slot, which for a read holds the data. Returns their number.
    pub fn reap(&mut self, mut take: impl FnMut(Completion, &[u8])) -> u32 {
        let Self { core, reads, .. } = self;
        let mut count = 0;
        let take = |slot, Held { token, size, memory: () }, result| {
            let data = &reads.slot(usize::from(slot))[..length(size)];
            take(Completion { token, result: outcome(result, size) }, data);
            count += 1;
        };
        core.reap(take, |_| ());
        count
    }

    /// Returns `otherwise`, or [`Wake::Completion`] if completions arrived at the same time.
    fn woken_by(&mut self, otherwise: Wake) -> Wake {
        if self.core.has_completion() { Wake::Completion } else { otherwise }
    }

    fn check(&self, io: &Io) {
        self.core.check(io.op, io.start, io.size, self.size_max);
        assert!(!io.fua || io.op == Op::Write, "only a write can ask for FUA");
    }

    fn read_entry(&self, slot: u16, io: &Io, class: u16) -> squeue::Entry {
        let address = self.reads.address(usize::from(slot));
        let (offset, length) = (io.start.offset_bytes(), length_u32(io.size));
        if self.setup.fixed_buffers {
            return opcode::ReadFixed::new(TARGET, address, length, slot)
                .offset(offset)
                .ioprio(class)
                .build();
        }
        opcode::Read::new(TARGET, address, length).offset(offset).ioprio(class).build()
    }

    fn write_entry(&mut self, slot: u16, io: &Io, class: u16) -> squeue::Entry {
        let buffers = self.writes.as_mut().expect("checked before");
        self.written_count += 1;
        stamp(&mut buffers.slot_mut(usize::from(slot))[..length(io.size)], self.written_count);
        let address = buffers.address(usize::from(slot)).cast_const();
        let (offset, length) = (io.start.offset_bytes(), length_u32(io.size));
        let flags = if io.fua { libc::RWF_DSYNC } else { 0 };
        if self.setup.fixed_buffers {
            let index = slot + slot_of(self.core.slot_count());
            return opcode::WriteFixed::new(TARGET, address, length, index)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(class)
                .build();
        }
        opcode::Write::new(TARGET, address, length)
            .offset(offset)
            .rw_flags(flags)
            .ioprio(class)
            .build()
    }
}

impl Drop for Ring {
    /// Leaks the buffers if the device never completes a request, because it may still write to
    /// them.
    fn drop(&mut self) {
        if self.core.close().next().is_some() {
            self.reads.abandon();
            self.writes.iter_mut().for_each(Buffers::abandon);
        }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("slots", &self.core.slot_count())
            .field("in_flight_count", &self.in_flight_count())
            .field("size_max", &self.size_max)
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

fn allocate(slots: u32, size: Bytes) -> Result<Buffers, RingError> {
    Buffers::new(slots as usize, length(size)).map_err(|source| RingError::NoMemory {
        slots,
        size,
        source,
    })
}

/// Registers all read buffers, then all write buffers; returns false if the kernel refuses to lock
/// that much memory.
#[expect(unsafe_code, reason = "the kernel keeps the addresses of the buffers")]
fn register_buffers(
    uring: &IoUring,
    slots: u32,
    reads: &Buffers,
    writes: Option<&Buffers>,
) -> bool {
    let vector = |buffers: &Buffers, slot: u32| libc::iovec {
        iov_base: buffers.address(slot as usize).cast(),
        iov_len: buffers.stride(),
    };
    let vectors: Vec<_> = std::iter::once(reads)
        .chain(writes)
        .flat_map(|buffers| (0..slots).map(move |slot| vector(buffers, slot)))
        .collect();
    // SAFETY: every address is a slot's in a live mapping. The ring owns both mappings and keeps
    // them until no request is in flight; the kernel pins the pages itself.
    unsafe { uring.submitter().register_buffers(&vectors) }.is_ok()
}

/// Makes every block of a write differ from all blocks written before, for devices that
/// deduplicate.
fn stamp(data: &mut [u8], count: u64) {
    for block in data.chunks_exact_mut(512) {
        block[..8].copy_from_slice(&count.to_le_bytes());
    }
}

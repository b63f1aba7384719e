// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An io_uring executor: batches of reads and writes on one target.
//!
//! ```text
//!          push            submit: one io_uring_enter         wait, reap
//!   free ---------> pushed --------------------------> in flight -------> free
//! ```
//!
//! All that was pushed goes to the kernel with one system call, so the device is given a
//! batch and not its pieces. What the kernel does below that is its own: it collects a
//! batch of three or more before it calls the driver, but hands requests of 128 KiB and
//! larger on as they come, microseconds apart.
//!
//! Nothing is allocated per request. A ring belongs to the thread that made it: the
//! kernel completes requests only when that thread waits, so no other one is disturbed.

use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::buffers::Buffers;
use crate::io_priority;
use crate::ring_core::{Held, RingCore, slot_of};
pub use crate::ring_core::{SIZE_MAX, SLOTS_MAX};
use crate::ring_error::{IoError, RingError};
use crate::target::{Access, Target};
use crate::uring::{TARGET, length, length_u32};

/// One request for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Comes back with the completion; means nothing to the ring.
    pub token: u64,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// How much.
    pub size: Bytes,
    /// A write that must be on the medium before it counts as complete.
    pub fua: bool,
}

/// The kernel's I/O priority class of a request. The kernel's own scheduler orders by it, and a
/// driver may tell the device: NCQ knows a high priority, that of `RealTime`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoClass {
    /// That of the thread: real time for a thread with real-time scheduling.
    #[default]
    Inherited,
    /// Above all others; needs permission, see [`crate::io_priority::is_permitted`].
    RealTime,
    /// Below real time.
    BestEffort,
}

/// How one request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The token of the request.
    pub token: u64,
    /// Whether the device did what was asked.
    pub result: Result<(), IoError>,
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// There is something to reap.
    Completion,
    /// The time is over.
    Timeout,
    /// A signal arrived: look whether the run is to end.
    Interrupted,
}

/// How the kernel let the ring be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingSetup {
    /// The buffers are registered: the kernel need not map them for each request. False
    /// where the limit of locked memory (`ulimit -l`) is too low for them.
    pub fixed_buffers: bool,
    /// Requests complete when the owner waits, not in the middle of what it does.
    pub deferred: bool,
}

/// The executor; see the module's text.
///
/// # Invariants
/// - A buffer is touched only while its slot is free.
pub struct Ring {
    core: RingCore<()>,
    /// Read buffers, one for each slot.
    reads: Buffers,
    /// Write buffers, one for each slot, where writing is allowed.
    writes: Option<Buffers>,
    /// Stamped into every write, so that no two blocks written are alike.
    written_count: u64,
    size_max: Bytes,
    setup: RingSetup,
}

impl Ring {
    /// A ring on `target` with room for `slots` requests of at most `size_max` each.
    ///
    /// # Errors
    /// [`RingError`] when io_uring is not to be had, or not that large.
    pub fn new(target: &Target, slots: u32, size_max: Bytes) -> Result<Self, RingError> {
        let alignment = target.alignment();
        if size_max.get() == 0
            || size_max > SIZE_MAX
            || !size_max.get().is_multiple_of(alignment.get())
        {
            return Err(RingError::SizeOutOfRange { size: size_max, alignment });
        }
        let core = RingCore::new(target, slots, 0)?;
        let reads = allocate(slots, size_max)?;
        let writes = match target.access() {
            Access::ReadOnly => None,
            Access::ReadWrite => Some(allocate(slots, size_max)?),
        };
        let fixed_buffers = register_buffers(core.uring(), slots, &reads, writes.as_ref());
        let setup = RingSetup { fixed_buffers, deferred: core.is_deferred() };
        Ok(Self { core, reads, writes, written_count: 0, size_max, setup })
    }

    /// How the kernel let the ring be set up.
    pub fn setup(&self) -> RingSetup {
        self.setup
    }

    /// How many more requests can be pushed.
    pub fn free_count(&self) -> u32 {
        self.core.free_count()
    }

    /// How many requests were pushed and not reaped.
    pub fn in_flight_count(&self) -> u32 {
        self.core.in_flight_count()
    }

    /// The largest request it has room for.
    pub fn size_max(&self) -> Bytes {
        self.size_max
    }

    /// Puts a request into the next batch. A write carries data that does not compress.
    ///
    /// # Panics
    /// When no slot is free; when the request is larger than the ring's `size_max`, is not
    /// aligned, or reaches beyond the target; when it writes to a target opened read-only;
    /// when a read asks for FUA.
    pub fn push(&mut self, io: Io) {
        self.push_as(io, IoClass::Inherited);
    }

    /// As [`Ring::push`], with a priority class of its own. Without permission the kernel fails
    /// each request of class `RealTime`.
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

    /// Puts a flush into the next batch: when it is back, everything is on the medium that came
    /// back before this was pushed.
    ///
    /// # Panics
    /// When no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        self.core.push_flush(token, ());
    }

    /// Puts a deallocation into the next batch: the device may forget what these blocks hold.
    ///
    /// # Panics
    /// When no slot is free; when the target was opened read-only.
    pub fn push_trim(&mut self, token: u64, start: Lba, size: Bytes) {
        self.core.push_trim(token, start, size, ());
    }

    /// Gives all pushed requests to the kernel, as one batch; nothing pushed, nothing done.
    ///
    /// # Errors
    /// [`RingError::BatchSplit`] when the kernel took only some, [`RingError::Enter`] when
    /// it took none. What was not taken goes with the next batch.
    pub fn submit(&mut self) -> Result<(), RingError> {
        self.core.submit()
    }

    /// Blocks until at least one request is complete, or until `timeout` is over. What is
    /// pushed and not submitted is submitted first.
    ///
    /// # Errors
    /// As for [`Ring::submit`].
    ///
    /// # Panics
    /// When nothing is in flight and no timeout is given: that would never end.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Wake, RingError> {
        self.wait_for(1, timeout)
    }

    /// Blocks until at least `count` requests are complete and not reaped, or until
    /// `timeout` is over; otherwise like [`Ring::wait`].
    ///
    /// # Errors
    /// As for [`Ring::submit`].
    ///
    /// # Panics
    /// When fewer than `count` requests are in flight and no timeout is given.
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

    /// Takes all completions there are: each goes to `take` with the data of the request's
    /// slot, for a read what was read. Returns how many there were. Does not wait and calls
    /// no system.
    pub fn reap(&mut self, mut take: impl FnMut(Completion, &[u8])) -> u32 {
        let Self { core, reads, .. } = self;
        let mut count = 0;
        let take = |slot, Held { token, size, memory: () }, result| {
            let data = &reads.slot(usize::from(slot))[..length(size)];
            take(Completion { token, result }, data);
            count += 1;
        };
        core.reap(take, |_| ());
        count
    }

    /// `otherwise`, unless completions came at the same moment.
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
    /// A request whose device never answers keeps its buffers: memory is lost, not corrupted.
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

/// Registers every read buffer, then every write buffer; false if the kernel will not lock
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
    // SAFETY: every address is that of a slot of a live mapping. The ring owns both and
    // keeps the mappings until no request is in flight; the kernel pins the pages itself.
    unsafe { uring.submitter().register_buffers(&vectors) }.is_ok()
}

/// Makes every block of a write differ from all blocks written before, for devices that
/// store equal blocks once.
fn stamp(data: &mut [u8], count: u64) {
    for block in data.chunks_exact_mut(512) {
        block[..8].copy_from_slice(&count.to_le_bytes());
    }
}

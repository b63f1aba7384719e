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

use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use io_uring::types::{FsyncFlags, SubmitArgs};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::buffers::Buffers;
use crate::io_priority;
use crate::ring_error::{IoError, RingError};
use crate::target::{Access, Target};
use crate::uring::{TARGET, errno_of, length, length_u32, outcome, refused, set_up, timespec};

/// The most slots of a ring.
pub const SLOTS_MAX: u32 = 4096;

/// The largest request of a ring.
pub const SIZE_MAX: Bytes = Bytes::new(256 << 20);

/// How long a dropped ring waits for its last requests.
const LAST_WAIT: Duration = Duration::from_ms(10_000);

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

/// A request in flight.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    token: u64,
    size: Bytes,
}

/// The executor; see the module's text.
///
/// # Invariants
/// - A slot is either in `free` or pushed or in flight, never two of these.
/// - A buffer is touched only while its slot is free.
pub struct Ring {
    uring: IoUring,
    /// Read buffers, one for each slot.
    reads: Buffers,
    /// Write buffers, one for each slot, where writing is allowed.
    writes: Option<Buffers>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    pushed_count: u32,
    /// Stamped into every write, so that no two blocks written are alike.
    written_count: u64,
    target_size: Bytes,
    alignment: Bytes,
    size_max: Bytes,
    setup: RingSetup,
    /// The kernel ties the ring to the thread that made it.
    _not_send: PhantomData<*const ()>,
}

impl Ring {
    /// A ring on `target` with room for `slots` requests of at most `size_max` each.
    ///
    /// # Errors
    /// [`RingError`] when io_uring is not to be had, or not that large.
    pub fn new(target: &Target, slots: u32, size_max: Bytes) -> Result<Self, RingError> {
        if slots == 0 || slots > SLOTS_MAX {
            return Err(RingError::SlotsOutOfRange { slots });
        }
        let alignment = target.alignment();
        if size_max.get() == 0
            || size_max > SIZE_MAX
            || !size_max.get().is_multiple_of(alignment.get())
        {
            return Err(RingError::SizeOutOfRange { size: size_max, alignment });
        }
        let (uring, deferred) = set_up(slots)?;
        let reads = allocate(slots, size_max)?;
        let writes = match target.access() {
            Access::ReadOnly => None,
            Access::ReadWrite => Some(allocate(slots, size_max)?),
        };
        uring
            .submitter()
            .register_files(&[target.as_raw_fd()])
            .map_err(|error| refused("register the target", &error))?;
        let fixed_buffers = register_buffers(&uring, slots, &reads, writes.as_ref());
        Ok(Self {
            uring,
            reads,
            writes,
            slots: vec![Slot::default(); slots as usize],
            free: (0..slots).rev().map(index).collect(),
            pushed_count: 0,
            written_count: 0,
            target_size: target.size(),
            alignment,
            size_max,
            setup: RingSetup { fixed_buffers, deferred },
            _not_send: PhantomData,
        })
    }

    /// How the kernel let the ring be set up.
    pub fn setup(&self) -> RingSetup {
        self.setup
    }

    /// How many more requests can be pushed.
    pub fn free_count(&self) -> u32 {
        slot_count(self.free.len())
    }

    /// How many requests were pushed and not reaped.
    pub fn in_flight_count(&self) -> u32 {
        slot_count(self.slots.len()) - self.free_count()
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
        let slot = self.free.pop().expect("push needs a free slot: reap first");
        self.slots[usize::from(slot)] = Slot { token: io.token, size: io.size };
        let entry = match io.op {
            Op::Read => self.read_entry(slot, &io, class),
            Op::Write => self.write_entry(slot, &io, class),
        };
        push_entry(&mut self.uring, &entry.user_data(u64::from(slot)));
        self.pushed_count += 1;
    }

    /// Puts a flush into the next batch: when it is back, everything is on the medium that came
    /// back before this was pushed.
    ///
    /// # Panics
    /// When no slot is free.
    pub fn push_flush(&mut self, token: u64) {
        let slot = self.free.pop().expect("push needs a free slot: reap first");
        self.slots[usize::from(slot)] = Slot { token, size: Bytes::new(0) };
        let entry = opcode::Fsync::new(TARGET).flags(FsyncFlags::DATASYNC).build();
        push_entry(&mut self.uring, &entry.user_data(u64::from(slot)));
        self.pushed_count += 1;
    }

    /// Gives all pushed requests to the kernel, as one batch; nothing pushed, nothing done.
    ///
    /// # Errors
    /// [`RingError::BatchSplit`] when the kernel took only some, [`RingError::Enter`] when
    /// it took none. What was not taken goes with the next batch.
    pub fn submit(&mut self) -> Result<(), RingError> {
        if self.pushed_count == 0 {
            return Ok(());
        }
        let size = self.pushed_count as usize;
        let taken =
            self.uring.submit().map_err(|error| RingError::Enter { source: errno_of(&error) })?;
        self.pushed_count -= slot_count(taken);
        if taken == size { Ok(()) } else { Err(RingError::BatchSplit { taken, size }) }
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
        match self.enter(count as usize, timeout) {
            Ok(_) => Ok(Wake::Completion),
            Err(Errno::TIME) => Ok(self.woken_by(Wake::Timeout)),
            Err(Errno::INTR) => Ok(self.woken_by(Wake::Interrupted)),
            Err(source) => Err(RingError::Enter { source }),
        }
    }

    /// Takes all completions there are: each goes to `take` with the data of the request's
    /// slot, for a read what was read. Returns how many there were. Does not wait and calls
    /// no system.
    pub fn reap(&mut self, mut take: impl FnMut(Completion, &[u8])) -> u32 {
        let Self { uring, reads, slots, free, .. } = self;
        let mut count = 0;
        for entry in uring.completion() {
            let slot = slot_of(&entry);
            let Slot { token, size } = slots[usize::from(slot)];
            let result = outcome(entry.result(), size);
            let data = &reads.slot(usize::from(slot))[..length(size)];
            take(Completion { token, result }, data);
            free.push(slot);
            count += 1;
        }
        count
    }

    fn enter(&self, count: usize, timeout: Option<Duration>) -> Result<usize, Errno> {
        let time = timeout.map(timespec);
        let arguments = match &time {
            Some(time) => SubmitArgs::new().timespec(time),
            None => SubmitArgs::new(),
        };
        self.uring.submitter().submit_with_args(count, &arguments).map_err(|error| errno_of(&error))
    }

    /// `otherwise`, unless completions came at the same moment.
    fn woken_by(&mut self, otherwise: Wake) -> Wake {
        if self.uring.completion().is_empty() { otherwise } else { Wake::Completion }
    }

    fn check(&self, io: &Io) {
        let (start, size) = (io.start.offset_bytes(), io.size.get());
        let alignment = self.alignment.get();
        assert!(size > 0 && io.size <= self.size_max, "{} exceeds {}", io.size, self.size_max);
        assert!(
            start % alignment == 0 && size % alignment == 0,
            "{} at byte {start} is not aligned to {alignment} bytes",
            io.size,
        );
        assert!(
            start.checked_add(size).is_some_and(|end| end <= self.target_size.get()),
            "{} at byte {start} reaches beyond the target of {}",
            io.size,
            self.target_size,
        );
        assert!(!io.fua || io.op == Op::Write, "only a write can ask for FUA");
        assert!(
            io.op == Op::Read || self.writes.is_some(),
            "writing needs a target opened ReadWrite",
        );
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
            let index = slot + index(slot_count(self.slots.len()));
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

    /// Waits until the device is done with all buffers, within reason.
    fn drain(&mut self) {
        while self.in_flight_count() > self.pushed_count {
            let left = self.in_flight_count() - self.pushed_count;
            match self.enter(left as usize, Some(LAST_WAIT)) {
                Ok(_) | Err(Errno::INTR) => self.reap(|_, _| ()),
                Err(_) => return,
            };
        }
    }
}

impl Drop for Ring {
    /// A request whose device never answers keeps its buffers: memory is lost, not corrupted.
    fn drop(&mut self) {
        // Requests pushed and never submitted would go with the wait: there is no harm in
        // reads, but a write nobody submitted must not happen.
        if self.pushed_count == 0 {
            self.drain();
        }
        if self.in_flight_count() > self.pushed_count {
            self.reads.abandon();
            self.writes.iter_mut().for_each(Buffers::abandon);
            return;
        }
        // The kernel takes a closed ring apart in its own time. Given back here, the target
        // can be opened exclusively or unmounted at once.
        let _ = self.uring.submitter().unregister_files();
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("slots", &self.slots.len())
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

/// Puts an entry into the submission queue.
#[expect(unsafe_code, reason = "the kernel will follow the entry's addresses")]
fn push_entry(uring: &mut IoUring, entry: &squeue::Entry) {
    // SAFETY: the entry's address and length lie within the buffer of a slot that was free
    // a moment ago. The ring does not touch that buffer again before it reaped the
    // completion, and frees or abandons it only as `drop` describes.
    let pushed = unsafe { uring.submission().push(entry) };
    pushed.expect("the submission queue has room for every slot");
}

/// Makes every block of a write differ from all blocks written before, for devices that
/// store equal blocks once.
fn stamp(data: &mut [u8], count: u64) {
    for block in data.chunks_exact_mut(512) {
        block[..8].copy_from_slice(&count.to_le_bytes());
    }
}

fn index(slot: u32) -> u16 {
    u16::try_from(slot).expect("at most SLOTS_MAX")
}

fn slot_count(length: usize) -> u32 {
    u32::try_from(length).expect("at most SLOTS_MAX")
}

fn slot_of(entry: &cqueue::Entry) -> u16 {
    u16::try_from(entry.user_data()).expect("the number of a slot")
}

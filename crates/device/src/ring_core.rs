// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common core of all rings: setup, slots, submission, waiting, reaping and closing.
//!
//! ```text
//!   free --hold--> pushed --submit, enter--> in flight --reap--> free
//! ```
//! A slot's number is the user data of its entry. Until the request is reaped, its slot holds the
//! request's token, size and memory (`M`: nothing, or the memory of its data). Nothing is allocated
//! per request. The kernel ties a ring to the thread that made it and completes requests only while
//! that thread waits, so other threads are not disturbed.

use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::types::{FsyncFlags, SubmitArgs};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration, Lba, Op};

use crate::ring_error::{RingError, errno_of};
use crate::ring_limits::{SIZE_MAX, SLOTS_MAX};
use crate::target::{Access, Target};
use crate::uring::{TARGET, refused, timespec};

/// The longest time that a closing ring waits for its last requests, in total.
const LAST_WAIT: Duration = Duration::from_ms(10_000);

/// A request that is pushed or in flight.
#[derive(Debug)]
pub(crate) struct Held<M> {
    /// The caller's name for the request.
    pub(crate) token: u64,
    /// The number of bytes that the request transfers.
    pub(crate) size: Bytes,
    pub(crate) memory: M,
}

/// The limits of the target.
#[derive(Debug, Clone, Copy)]
struct TargetLimits {
    size: Bytes,
    alignment: Bytes,
    access: Access,
}

/// The slots and the kernel's ring.
///
/// # Invariants
/// - A slot is either in `free` or has an entry in `held`, never both.
/// - Memory that an entry refers to is not accessed until the entry's completion was reaped.
pub(crate) struct RingCore<M> {
    uring: IoUring,
    held: Vec<Option<Held<M>>>,
    free: Vec<u16>,
    pushed_count: u32,
    /// For each slot with a silent entry that the kernel has not reported, the result that the
    /// entry has if it succeeds.
    success: Vec<Option<i32>>,
    /// The slots of silent entries that were pushed. The kernel may have reported some since.
    silent: Vec<u16>,
    is_deferred: bool,
    target: Option<TargetLimits>,
    /// The kernel ties the ring to the thread that made it.
    _not_send: PhantomData<*const ()>,
}

impl<M> RingCore<M> {
    /// Makes a ring with `slots` slots and room for `others` entries without a slot, on `target` if
    /// the ring serves a target.
    ///
    /// # Errors
    /// [`RingError`] if the host has no io_uring or refuses a ring of this size.
    pub(crate) fn new(target: Option<&Target>, slots: u32, others: u32) -> Result<Self, RingError> {
        if slots == 0 || slots > SLOTS_MAX {
            return Err(RingError::SlotsOutOfRange { slots });
        }
        let (uring, is_deferred) = set_up(slots + others)?;
        if let Some(target) = target {
            uring
                .submitter()
                .register_files(&[target.as_raw_fd()])
                .map_err(|error| refused("register the target", &error))?;
        }
        let limits = |target: &Target| TargetLimits {
            size: target.size(),
            alignment: target.alignment(),
            access: target.access(),
        };
        Ok(Self {
            uring,
            held: (0..slots).map(|_| None).collect(),
            free: (0..slots).rev().map(slot_of).collect(),
            pushed_count: 0,
            success: vec![None; slots as usize],
            silent: Vec::with_capacity(slots as usize),
            is_deferred,
            target: target.map(limits),
            _not_send: PhantomData,
        })
    }

    /// Returns whether requests complete only while the owner waits.
    pub(crate) fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    pub(crate) fn uring(&self) -> &IoUring {
        &self.uring
    }

    pub(crate) fn slot_count(&self) -> u32 {
        count(self.held.len())
    }

    /// Returns the number of requests that can still be pushed.
    pub(crate) fn free_count(&self) -> u32 {
        count(self.free.len())
    }

    /// Returns the number of requests that were pushed and not reaped.
    pub(crate) fn in_flight_count(&self) -> u32 {
        self.slot_count() - self.free_count()
    }

    /// Checks that the target allows a transfer with memory of `room` bytes.
    ///
    /// # Panics
    /// If it does not.
    pub(crate) fn check(&self, op: Op, start: Lba, size: Bytes, room: Bytes) {
        let target = self.target.expect("transfers need a ring with a target");
        let (start, alignment) = (start.offset_bytes(), target.alignment.get());
        assert!(size.get() > 0 && size <= room.min(SIZE_MAX), "{size} exceeds {room}");
        assert!(
            start.is_multiple_of(alignment) && size.get().is_multiple_of(alignment),
            "{size} at byte {start} is not aligned to {alignment} bytes",
        );
        assert!(
            start.checked_add(size.get()).is_some_and(|end| end <= target.size.get()),
            "{size} at byte {start} reaches beyond the target of {}",
            target.size,
        );
        assert!(op == Op::Read || self.is_writable(), "writing needs a target opened ReadWrite");
    }

    fn is_writable(&self) -> bool {
        self.target.is_some_and(|target| target.access == Access::ReadWrite)
    }

    /// Takes a free slot, which the caller then passes to [`Self::hold`].
    ///
    /// # Panics
    /// If no slot is free.
    pub(crate) fn claim(&mut self) -> u16 {
        self.free.pop().expect("push needs a free slot: reap first")
    }

    /// Pushes the entry of the request in a claimed slot.
    pub(crate) fn hold(&mut self, slot: u16, held: Held<M>, entry: squeue::Entry) {
        self.held[usize::from(slot)] = Some(held);
        self.push_entry(&entry.user_data(u64::from(slot)));
        self.pushed_count += 1;
    }

    /// Pushes the entry of the request in a claimed slot. The kernel must complete the entry during
    /// its submission, and reports only a failure; the result of a success is `success`.
    pub(crate) fn hold_silent(
        &mut self,
        slot: u16,
        held: Held<M>,
        entry: squeue::Entry,
        success: i32,
    ) {
        self.hold(slot, held, entry.flags(squeue::Flags::SKIP_SUCCESS));
        self.success[usize::from(slot)] = Some(success);
        self.silent.push(slot);
    }

    /// Pushes an entry without a slot or memory.
    ///
    /// # Panics
    /// If `name` is at most `u16::MAX`: such names are slots.
    pub(crate) fn push_other(&mut self, entry: squeue::Entry, name: u64) {
        assert!(name > u64::from(u16::MAX), "{name} is the name of a slot");
        self.push_entry(&entry.user_data(name));
    }

    /// Pushes a flush; it covers all writes that were reaped before.
    ///
    /// # Panics
    /// If no slot is free.
    pub(crate) fn push_flush(&mut self, token: u64, memory: M) {
        let entry = opcode::Fsync::new(TARGET).flags(FsyncFlags::DATASYNC).build();
        let slot = self.claim();
        self.hold(slot, Held { token, size: Bytes::new(0), memory }, entry);
    }

    /// Pushes a deallocation of blocks.
    ///
    /// # Panics
    /// If no slot is free; if the target was opened read-only.
    pub(crate) fn push_trim(&mut self, token: u64, start: Lba, size: Bytes, memory: M) {
        assert!(self.is_writable(), "trimming needs a target opened ReadWrite");
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let entry = opcode::Fallocate::new(TARGET, size.get()).offset(start.offset_bytes());
        let slot = self.claim();
        self.hold(slot, Held { token, size: Bytes::new(0), memory }, entry.mode(mode).build());
    }

    #[expect(unsafe_code, reason = "the kernel will follow the entry's addresses")]
    fn push_entry(&mut self, entry: &squeue::Entry) {
        // SAFETY: each address in the entry points into memory of a slot that was free just before:
        // a buffer of the ring, or one that `held` now owns. By the type's invariant that memory is
        // not accessed until the completion was reaped; a ring that is dropped earlier leaks it.
        let pushed = unsafe { self.uring.submission().push(entry) };
        pushed.expect("the submission queue has room for every slot and every other entry");
    }

    /// Submits everything pushed with one system call.
    ///
    /// # Errors
    /// [`RingError::BatchSplit`] if the kernel accepted a part, [`RingError::Enter`] if it accepted
    /// nothing. The rest is submitted with the next batch.
    pub(crate) fn submit(&mut self) -> Result<(), RingError> {
        if self.pushed_count == 0 {
            return Ok(());
        }
        let size = self.pushed_count as usize;
        let taken =
            self.uring.submit().map_err(|error| RingError::Enter { source: errno_of(&error) })?;
        self.pushed_count -= count(taken);
        if taken == size { Ok(()) } else { Err(RingError::BatchSplit { taken, size }) }
    }

    /// Submits everything pushed, then blocks until `want` completions are available or `timeout`
    /// is over.
    ///
    /// # Errors
    /// The kernel's: `TIME` if the time is over, `INTR` after a signal.
    pub(crate) fn enter(&mut self, want: u32, timeout: Option<Duration>) -> Result<(), Errno> {
        let time = timeout.map(timespec);
        let arguments = match &time {
            Some(time) => SubmitArgs::new().timespec(time),
            None => SubmitArgs::new(),
        };
        let entered = self.uring.submitter().submit_with_args(want as usize, &arguments);
        // Entries that the kernel did not accept are submitted with the next call.
        let left = u32::try_from(self.uring.submission().len()).unwrap_or(u32::MAX);
        self.pushed_count = self.pushed_count.min(left);
        entered.map(drop).map_err(|error| errno_of(&error))
    }

    /// Returns whether a completion can be reaped.
    pub(crate) fn has_completion(&mut self) -> bool {
        !self.uring.completion().is_empty()
    }

    /// Returns whether the kernel holds completions back until it is entered.
    pub(crate) fn has_deferred_work(&mut self) -> bool {
        self.uring.submission().taskrun()
    }

    /// Takes all completions, without waiting and without a system call. `take` receives each
    /// request's slot, its held values and the kernel's result, which `outcome` interprets; `other`
    /// receives the flags of entries without a slot. A silent entry that was submitted and is not
    /// reported has succeeded.
    pub(crate) fn reap(
        &mut self,
        mut take: impl FnMut(u16, Held<M>, i32),
        mut other: impl FnMut(u32),
    ) {
        let Self { uring, held, free, success, silent, .. } = self;
        for entry in uring.completion() {
            let Some(slot) = u16::try_from(entry.user_data()).ok() else {
                other(entry.flags());
                continue;
            };
            // The kernel completes each entry once.
            let Some(request) = held[usize::from(slot)].take() else { continue };
            free.push(slot);
            success[usize::from(slot)] = None;
            take(slot, request, entry.result());
        }
        let submission = uring.submission();
        if !silent.is_empty() && submission.is_empty() && !submission.cq_overflow() {
            for slot in silent.drain(..) {
                let Some(result) = success[usize::from(slot)].take() else { continue };
                let request = held[usize::from(slot)].take().expect("it was not reported");
                free.push(slot);
                take(slot, request, result);
            }
        }
    }

    /// Returns the held values of requests that were not reaped.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Held<M>> {
        self.held.iter().flatten()
    }

    /// Waits for the last requests for a limited time, and returns the requests whose memory the
    /// kernel may still use: the caller must never free that memory. Requests that were pushed and
    /// not submitted are not executed.
    pub(crate) fn close(&mut self) -> impl Iterator<Item = Held<M>> {
        // Waiting would submit pushed requests, but a write that was not submitted must not be
        // executed.
        if self.pushed_count == 0 {
            self.drain();
        }
        if self.in_flight_count() <= self.pushed_count {
            // The kernel dismantles a closed ring asynchronously. Unregistering the target here
            // lets it be opened exclusively or unmounted immediately.
            let _ = self.uring.submitter().unregister_files();
        }
        self.held.drain(..).flatten()
    }

    /// Waits for all requests in flight, at most [`LAST_WAIT`] in total.
    fn drain(&mut self) {
        let begun = Instant::now();
        loop {
            // Reap first: the kernel does not report a silent entry that succeeded, so a wait for
            // it would not end.
            self.reap(|_, _, _| (), |_| ());
            if self.in_flight_count() == 0 {
                return;
            }
            let waited = u64::try_from(begun.elapsed().as_nanos());
            let waited = waited.map_or(Duration::MAX, Duration::from_ns);
            if waited >= LAST_WAIT {
                return;
            }
            match self.enter(1, Some(LAST_WAIT - waited)) {
                Ok(()) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// Sets up the best ring that the kernel allows; also returns whether completions are deferred.
fn set_up(entries: u32) -> Result<(IoUring, bool), RingError> {
    let deferred = IoUring::builder()
        .setup_submit_all()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .build(entries);
    let plain = match deferred.map_err(|error| errno_of(&error)) {
        Ok(uring) => return Ok((uring, true)),
        // Kernels before 6.1 do not know these flags.
        Err(Errno::INVAL) => IoUring::builder().build(entries).map_err(|error| errno_of(&error)),
        Err(source) => Err(source),
    };
    match plain {
        Ok(uring) if uring.params().is_feature_ext_arg() => Ok((uring, false)),
        Ok(_) | Err(Errno::NOSYS) => Err(RingError::Absent),
        Err(source @ (Errno::PERM | Errno::ACCESS)) => Err(RingError::Forbidden { source }),
        Err(source) => Err(RingError::Setup { step: "set up a ring", source }),
    }
}

/// Returns whether an entry that completes repeatedly will complete again.
pub(crate) fn is_kept(flags: u32) -> bool {
    cqueue::more(flags)
}

pub(crate) fn slot_of(number: u32) -> u16 {
    u16::try_from(number).expect("at most SLOTS_MAX")
}

fn count(length: usize) -> u32 {
    u32::try_from(length).expect("at most SLOTS_MAX")
}

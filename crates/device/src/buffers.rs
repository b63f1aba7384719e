// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Page-aligned memory that the device reads from and writes to.
//!
//! The memory is one anonymous mapping, cut into slots of equal stride. `Buffers` owns the mapping
//! and accesses it through raw pointers, because the kernel writes to it without the compiler's
//! knowledge: a reference to a slot exists only while no request uses that slot.

use std::ptr::NonNull;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// The page size in bytes; every slot starts at a multiple of it.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Slots of page-aligned memory, initially filled with random data.
///
/// # Invariants
/// - `base` is the start of a live private mapping of `slots * stride` bytes, readable and
///   writable.
/// - An abandoned mapping is never unmapped.
/// - `stride` is a multiple of the page size.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    slots: usize,
    stride: usize,
    is_abandoned: bool,
}

impl Buffers {
    /// Maps `slots` slots of at least `size` bytes each and fills them with incompressible data.
    pub(crate) fn new(slots: usize, size: usize) -> Result<Self, Errno> {
        let stride = size.next_multiple_of(PAGE_BYTES);
        let length = stride.checked_mul(slots).ok_or(Errno::NOMEM)?;
        let mut buffers = Self { base: map(length)?, slots, stride, is_abandoned: false };
        let mut random = Pcg64Mcg::seed_from_u64(0x7469_6465);
        for slot in 0..slots {
            random.fill_bytes(buffers.slot_mut(slot));
        }
        Ok(buffers)
    }

    /// Returns the slot's start address, for the kernel.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        self.base.as_ptr().wrapping_add(slot * self.stride)
    }

    /// Returns the number of bytes from one slot's start to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Keeps the mapping when this value is dropped, because the kernel may still write to it.
    pub(crate) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Returns the memory of a slot that no request uses.
    #[expect(unsafe_code, reason = "a view of memory that the kernel filled")]
    pub(crate) fn slot(&self, slot: usize) -> &[u8] {
        // SAFETY: `address` checks the index, so the slot lies within the live mapping, which holds
        // initialised bytes. Callers in this crate hand out a slot only after its request completed
        // and before the next one is pushed, so no one else writes to it meanwhile.
        unsafe { std::slice::from_raw_parts(self.address(slot), self.stride) }
    }

    /// Returns the writable memory of a slot that no request uses.
    #[expect(unsafe_code, reason = "a view of memory that the kernel reads")]
    pub(crate) fn slot_mut(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: as for `slot`; `&mut self` excludes every other view of this process.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot), self.stride) }
    }
}

impl Drop for Buffers {
    #[expect(unsafe_code, reason = "gives the mapping back")]
    fn drop(&mut self) {
        if self.is_abandoned {
            return;
        }
        // SAFETY: `map` made the mapping with this length, and nothing refers to it: views borrow
        // `self`, and a ring drops its buffers only when no request is in flight. If unmapping
        // fails, the memory stays mapped, which is harmless.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.slots * self.stride) };
    }
}

/// Maps zeroed memory, on huge pages if the kernel has some: fewer scattered pages make fewer
/// segments, so that large requests are not split.
#[expect(unsafe_code, reason = "maps memory")]
fn map(length: usize) -> Result<NonNull<u8>, Errno> {
    // SAFETY: an anonymous mapping at an address that the kernel chooses touches no memory of this
    // process.
    let address = unsafe {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        mmap_anonymous(std::ptr::null_mut(), length, protection, MapFlags::PRIVATE)?
    };
    // SAFETY: the range was just mapped, and this advice changes no contents. Kernels without huge
    // pages refuse it, which is harmless.
    let _ = unsafe { madvise(address, length, Advice::LinuxHugepage) };
    Ok(NonNull::new(address.cast()).expect("a mapping is not at address 0"))
}

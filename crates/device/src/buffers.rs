// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Page-aligned memory that the device reads from and writes to.
//!
//! One anonymous mapping cut into slots of equal stride. The mapping is owned here and
//! reached by raw pointers, because the kernel writes to it behind the compiler's back: a
//! reference to a slot exists only while no request uses it.

use std::ptr::NonNull;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Every slot starts at a multiple of this.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Slots of page-aligned memory, filled with random data at the start.
///
/// # Invariants
/// - `base` is the start of a live private mapping of `slots * stride` bytes, read and write.
/// - An abandoned mapping stays for ever.
/// - `stride` is a multiple of the page size.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    slots: usize,
    stride: usize,
    is_abandoned: bool,
}

impl Buffers {
    /// `slots` slots that hold at least `size` bytes each, filled with data that does not
    /// compress.
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

    /// Where a slot starts, for the kernel.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        self.base.as_ptr().wrapping_add(slot * self.stride)
    }

    /// Bytes from one slot to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Keeps the memory when this is dropped: the kernel may still write to it.
    pub(crate) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// The memory of a slot that no request uses.
    #[expect(unsafe_code, reason = "a view of memory that the kernel filled")]
    pub(crate) fn slot(&self, slot: usize) -> &[u8] {
        // SAFETY: `address` checks the index, so the slot lies within the live mapping, which
        // holds initialised bytes. Callers in this crate hand out a slot only after its
        // request completed and before the next one is pushed: nobody writes to it meanwhile.
        unsafe { std::slice::from_raw_parts(self.address(slot), self.stride) }
    }

    /// The memory of a slot that no request uses, to be written.
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
        // SAFETY: the mapping was made by `map` with this length and nothing refers to it:
        // views borrow `self`, and a ring drops its buffers only when no request is left.
        // An error leaves it mapped, which is harmless.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.slots * self.stride) };
    }
}

/// A new mapping of zeroed memory, on huge pages where the kernel has some: fewer
/// scattered pages are fewer segments, so that large requests are not split.
#[expect(unsafe_code, reason = "maps memory")]
fn map(length: usize) -> Result<NonNull<u8>, Errno> {
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory
    // of this process.
    let address = unsafe {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        mmap_anonymous(std::ptr::null_mut(), length, protection, MapFlags::PRIVATE)?
    };
    // SAFETY: the range was just mapped; this advice changes no contents. Kernels without
    // huge pages refuse it, which costs nothing.
    let _ = unsafe { madvise(address, length, Advice::LinuxHugepage) };
    Ok(NonNull::new(address.cast()).expect("a mapping is not at address 0"))
}

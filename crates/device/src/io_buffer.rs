// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Memory that a client's data travels in: page-aligned, as direct I/O wants it, and owned.
//!
//! It is moved, never shared: whoever holds it may look at it, and while the kernel fills or
//! reads it nobody holds it but the ring.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use tidegate_model::Bytes;

use crate::buffers::PAGE_BYTES;
use crate::uring::length;

/// Page-aligned memory of whole pages, all zero at first.
///
/// # Invariants
/// - `base` is an allocation of `length` bytes at `PAGE_BYTES`, initialised, of this value alone.
#[derive(Debug)]
pub struct IoBuffer {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the allocation belongs to the value alone, and no thread is special to it.
#[expect(unsafe_code, reason = "owned memory may change threads")]
unsafe impl Send for IoBuffer {}

impl IoBuffer {
    /// At least `size`, rounded up to whole pages, at least one.
    ///
    /// # Panics
    /// When `size` exceeds what can be addressed; like every allocation, it ends the process
    /// when there is no memory.
    pub fn new(size: Bytes) -> Self {
        let length = length(size).max(1).next_multiple_of(PAGE_BYTES);
        let layout = layout(length);
        Self { base: allocate(layout), length }
    }

    /// How much it holds.
    pub fn capacity(&self) -> Bytes {
        Bytes::new(self.length as u64)
    }

    /// All of it.
    #[expect(unsafe_code, reason = "a view of owned memory")]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the invariant; the kernel writes to it only while a ring owns the value, and
        // then nobody can borrow it.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.length) }
    }

    /// All of it, to be written.
    #[expect(unsafe_code, reason = "a view of owned memory")]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; `&mut self` excludes every other view.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }

    /// Where it starts, for the kernel.
    pub(crate) fn address(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for IoBuffer {
    #[expect(unsafe_code, reason = "gives the memory back")]
    fn drop(&mut self) {
        // SAFETY: allocated by `allocate` with this layout, and given back once.
        unsafe { dealloc(self.base.as_ptr(), layout(self.length)) };
    }
}

fn layout(length: usize) -> Layout {
    Layout::from_size_align(length, PAGE_BYTES).expect("a length that can be addressed")
}

#[expect(unsafe_code, reason = "allocates aligned memory")]
fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty: it holds a page at least.
    let address = unsafe { alloc_zeroed(layout) };
    NonNull::new(address).unwrap_or_else(|| handle_alloc_error(layout))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Owned memory for a client's data, page-aligned as direct I/O requires.
//!
//! A buffer is moved, never shared: its owner can read it, and while the kernel fills or reads it,
//! the ring owns it.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use tidegate_model::Bytes;

use crate::buffers::PAGE_BYTES;
use crate::uring::length;

/// Page-aligned memory of whole pages, initially zero.
///
/// # Invariants
/// - `base` is an initialised allocation of `length` bytes aligned to `PAGE_BYTES`, owned by this
///   value alone.
#[derive(Debug)]
pub struct IoBuffer {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the allocation belongs to this value alone and is bound to no thread.
#[expect(unsafe_code, reason = "owned memory may change threads")]
unsafe impl Send for IoBuffer {}

impl IoBuffer {
    /// Allocates at least `size` bytes, rounded up to whole pages, at least one page.
    ///
    /// # Panics
    /// If `size` exceeds the address space. Like every allocation, it ends the process if there is
    /// no memory.
    pub fn new(size: Bytes) -> Self {
        let length = length(size).max(1).next_multiple_of(PAGE_BYTES);
        let layout = layout(length);
        Self { base: allocate(layout), length }
    }

    /// Returns the buffer's size.
    pub fn capacity(&self) -> Bytes {
        Bytes::new(self.length as u64)
    }

    /// Returns all bytes of the buffer.
    #[expect(unsafe_code, reason = "a view of owned memory")]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the invariant; the kernel writes to it only while a ring owns the value, and then
        // it cannot be borrowed.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.length) }
    }

    /// Returns all bytes of the buffer, writable.
    #[expect(unsafe_code, reason = "a view of owned memory")]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; `&mut self` excludes every other view.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }

    /// Returns the buffer's start address, for the kernel.
    pub(crate) fn address(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for IoBuffer {
    #[expect(unsafe_code, reason = "gives the memory back")]
    fn drop(&mut self) {
        // SAFETY: `allocate` allocated it with this layout, and it is freed once.
        unsafe { dealloc(self.base.as_ptr(), layout(self.length)) };
    }
}

fn layout(length: usize) -> Layout {
    Layout::from_size_align(length, PAGE_BYTES).expect("a length that can be addressed")
}

#[expect(unsafe_code, reason = "allocates aligned memory")]
fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty, because it holds at least one page.
    let address = unsafe { alloc_zeroed(layout) };
    NonNull::new(address).unwrap_or_else(|| handle_alloc_error(layout))
}

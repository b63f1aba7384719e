// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reuses memory for calls, because fresh pages cost more time than a small request.
//!
//! All buffers have the size of the largest request of the service's initial exports; larger
//! buffers, for exports admitted later, are not kept. The pool's size is bounded, so a burst of
//! clients does not keep more memory in use.

use std::sync::{Mutex, PoisonError};

use tidegate_device::IoBuffer;
use tidegate_model::Bytes;

/// The largest number of bytes that the pool keeps.
const KEPT_BYTES: u64 = 64 << 20;

/// The unused buffers of a service.
#[derive(Debug)]
pub(crate) struct Pool {
    size: Bytes,
    /// The capacity of a buffer of `size` bytes.
    capacity: Bytes,
    kept_max: usize,
    kept: Mutex<Vec<IoBuffer>>,
}

impl Pool {
    /// Makes a pool of buffers of at least `size`.
    pub(crate) fn new(size: Bytes) -> Self {
        let kept_max = usize::try_from(KEPT_BYTES / size.get().max(4096)).unwrap_or(usize::MAX);
        let capacity = IoBuffer::new(size).capacity();
        Self { size, capacity, kept_max, kept: Mutex::default() }
    }

    /// Returns a buffer of at least `size`, with unspecified contents; a buffer larger than the
    /// pool's size is always new.
    pub(crate) fn take(&self, size: Bytes) -> IoBuffer {
        if size > self.size {
            return IoBuffer::new(size);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| IoBuffer::new(self.size))
    }

    /// Returns buffers to the pool.
    pub(crate) fn give(&self, pieces: impl Iterator<Item = IoBuffer>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in pieces {
            if kept.len() < self.kept_max && piece.capacity() == self.capacity {
                kept.push(piece);
            }
        }
    }
}

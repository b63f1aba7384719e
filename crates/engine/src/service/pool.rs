// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Memory for calls, used again: fresh pages cost more than a small request does.
//!
//! All pieces are as large as the largest request of the exports that a service begins with; what
//! an export needs that came later and has larger ones is not kept. What is kept is bounded, so a burst of
//! clients leaves no more behind than that.

use std::sync::{Mutex, PoisonError};

use tidegate_device::IoBuffer;
use tidegate_model::Bytes;

/// How much is kept for later.
const KEPT_BYTES: u64 = 64 << 20;

/// Memory that nobody uses; see the module's text.
#[derive(Debug)]
pub(crate) struct Pool {
    size: Bytes,
    /// What a piece of that size holds.
    capacity: Bytes,
    kept_max: usize,
    kept: Mutex<Vec<IoBuffer>>,
}

impl Pool {
    /// Pieces of at least `size`.
    pub(crate) fn new(size: Bytes) -> Self {
        let kept_max = usize::try_from(KEPT_BYTES / size.get().max(4096)).unwrap_or(usize::MAX);
        let capacity = IoBuffer::new(size).capacity();
        Self { size, capacity, kept_max, kept: Mutex::default() }
    }

    /// A piece that holds `size`; what is larger than the pool's is new each time. What it
    /// holds is of no meaning.
    pub(crate) fn take(&self, size: Bytes) -> IoBuffer {
        if size > self.size {
            return IoBuffer::new(size);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| IoBuffer::new(self.size))
    }

    /// Gives pieces back.
    pub(crate) fn give(&self, pieces: impl Iterator<Item = IoBuffer>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in pieces {
            if kept.len() < self.kept_max && piece.capacity() == self.capacity {
                kept.push(piece);
            }
        }
    }
}

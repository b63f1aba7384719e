// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reuses the memory of clients' requests. It needs no lock, because only the service's thread uses
//! it.

use std::collections::BTreeMap;

use tidegate_device::IoBuffer;
use tidegate_model::Bytes;

/// The largest number of unused bytes that are kept.
pub(crate) const KEPT_BYTES: u64 = 32 << 20;

/// Unused buffers, by their size.
#[derive(Debug, Default)]
pub(super) struct Memory {
    kept: BTreeMap<Bytes, Vec<IoBuffer>>,
    kept_bytes: u64,
    /// Unused lists of parts, for reuse.
    lists: Vec<Vec<super::CallPart>>,
}

impl Memory {
    /// Returns a buffer of at least `size` bytes, with any contents.
    pub(super) fn take(&mut self, size: usize) -> IoBuffer {
        let rounded = Bytes::new(rounded(size));
        match self.kept.get_mut(&rounded).and_then(Vec::pop) {
            Some(buffer) => {
                self.kept_bytes -= rounded.get();
                buffer
            }
            None => IoBuffer::new(rounded),
        }
    }

    pub(super) fn give(&mut self, buffer: IoBuffer) {
        let size = buffer.capacity();
        if self.kept_bytes + size.get() <= KEPT_BYTES {
            self.kept_bytes += size.get();
            self.kept.entry(size).or_default().push(buffer);
        }
    }

    pub(super) fn take_list(&mut self) -> Vec<super::CallPart> {
        self.lists.pop().unwrap_or_default()
    }

    /// Takes a call's parts back with their memory.
    pub(super) fn give_list(&mut self, mut parts: Vec<super::CallPart>) {
        for part in parts.drain(..) {
            if let Some(buffer) = part.data {
                self.give(buffer);
            }
        }
        // There are never more lists than outstanding calls, and each is small.
        self.lists.push(parts);
    }
}

/// Returns the bytes that a buffer of this size takes: whole pages.
pub(super) fn rounded(size: usize) -> u64 {
    const PAGE: usize = 4096;
    size.max(1).next_multiple_of(PAGE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_and_not_too_many_are_kept() {
        let mut memory = Memory::default();
        let mut buffer = memory.take(5_000);
        buffer.bytes_mut()[0] = 7;
        assert_eq!(buffer.capacity(), Bytes::new(8192));
        memory.give(buffer);
        assert_eq!((memory.take(4096).bytes()[0], memory.take(8192).bytes()[0]), (0, 7));
        for _ in 0..100 {
            memory.give(IoBuffer::new(Bytes::new(1 << 20)));
        }
        assert_eq!(memory.kept_bytes, KEPT_BYTES);
    }
}

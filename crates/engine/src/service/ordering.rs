// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keeps the order of overlapping requests of one export.
//!
//! No write passes an overlapping request that came before it, and none passes a write. What
//! overlaps waits here, before it is released, so that neither policy nor drive can reorder it;
//! what does not overlap passes. Exports do not wait for each other: they overlap only where one
//! reads what another writes, and no protocol promises an order between two connections to
//! different exports.

use std::collections::VecDeque;

use model::{Bytes, Lba, Op, RequestId};

/// A request by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    id: RequestId,
    first: u64,
    end: u64,
    op: Op,
}

impl Range {
    fn conflicts(&self, other: &Self) -> bool {
        let is_apart = self.end <= other.first || other.end <= self.first;
        let are_reads = self.op == Op::Read && other.op == Op::Read;
        !is_apart && !are_reads
    }
}

/// The requests of one export that are not complete; see the module's text.
///
/// # Invariants
/// - No two of `active` conflict.
/// - Each of `waiting` conflicts with one of `active` or with one before it in `waiting`.
///
/// # Complexity
/// O(outstanding) for each request; O(outstanding^2) for a completion while some wait.
#[derive(Debug, Default)]
pub(crate) struct Ordering {
    active: Vec<Range>,
    waiting: VecDeque<Range>,
    /// Keeps no order at all, for tests that must notice it.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) is_off: bool,
}

impl Ordering {
    /// Whether this request may be released now; if not, `complete` names it when it may.
    pub(crate) fn admit(&mut self, id: RequestId, op: Op, start: Lba, size: Bytes) -> bool {
        #[cfg(any(test, feature = "harness"))]
        if self.is_off {
            return true;
        }
        let first = start.offset_bytes();
        let range = Range { id, first, end: first + size.get(), op };
        let is_free = !self.active.iter().chain(&self.waiting).any(|other| other.conflicts(&range));
        if is_free {
            self.active.push(range);
        } else {
            self.waiting.push_back(range);
        }
        is_free
    }

    /// A request is complete: `release` gets those that waited for it, in the order in which
    /// they came.
    pub(crate) fn complete(&mut self, id: RequestId, mut release: impl FnMut(RequestId)) {
        let Some(position) = self.active.iter().position(|range| range.id == id) else { return };
        self.active.swap_remove(position);
        let mut index = 0;
        while index < self.waiting.len() {
            let range = self.waiting[index];
            let mut before = self.active.iter().chain(self.waiting.iter().take(index));
            if before.any(|other| other.conflicts(&range)) {
                index += 1;
                continue;
            }
            self.waiting.remove(index);
            self.active.push(range);
            release(range.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests by name, operation, first block, blocks.
    fn admit(ordering: &mut Ordering, id: u64, op: Op, first: u64, blocks: u64) -> bool {
        ordering.admit(RequestId(id), op, Lba::new(first * 8), Bytes::from_kib(4 * blocks))
    }

    fn released(ordering: &mut Ordering, id: u64) -> Vec<u64> {
        let mut released = Vec::new();
        ordering.complete(RequestId(id), |RequestId(id)| released.push(id));
        released
    }

    #[test]
    fn only_what_overlaps_waits() {
        let mut ordering = Ordering::default();
        assert!(admit(&mut ordering, 1, Op::Write, 0, 2));
        assert!(admit(&mut ordering, 2, Op::Write, 2, 1));
        assert!(!admit(&mut ordering, 3, Op::Read, 1, 1));
        assert!(admit(&mut ordering, 4, Op::Read, 3, 1));
        assert!(admit(&mut ordering, 5, Op::Read, 3, 1));
        assert!(!admit(&mut ordering, 6, Op::Write, 3, 1));
        assert_eq!(released(&mut ordering, 1), [3]);
        assert_eq!(released(&mut ordering, 4), [0; 0]);
        assert_eq!(released(&mut ordering, 5), [6]);
    }

    /// A read that came after a waiting write does not pass it, though nothing in flight is in
    /// its way.
    #[test]
    fn a_chain_is_kept() {
        let mut ordering = Ordering::default();
        assert!(admit(&mut ordering, 1, Op::Read, 0, 1));
        assert!(!admit(&mut ordering, 2, Op::Write, 0, 2));
        assert!(!admit(&mut ordering, 3, Op::Read, 1, 1));
        assert!(!admit(&mut ordering, 4, Op::Write, 1, 1));
        assert_eq!(released(&mut ordering, 1), [2]);
        assert_eq!(released(&mut ordering, 2), [3]);
        assert_eq!(released(&mut ordering, 3), [4]);
        assert_eq!(released(&mut ordering, 4), [0; 0]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keeps the order of overlapping requests of one export.
//!
//! No write overtakes an overlapping request that arrived before it, and no overlapping request
//! overtakes a write. Overlapping requests wait here before they are released, so that neither
//! policy nor drive can reorder them; other requests pass. Requests of different exports do not
//! wait for each other: they overlap only if one export reads what another writes, and no protocol
//! defines an order between two connections to different exports.

use std::collections::{BTreeMap, HashMap};

use tidegate_model::{Bytes, Lba, Op, RequestId};

/// Requests ordered by their first byte.
type RangeIndex = BTreeMap<(u64, RequestId), Held>;

/// An incomplete request; the map's key holds its start.
#[derive(Debug, Clone, Copy)]
struct Held {
    end: u64,
    /// The number of conflicting requests that arrived before this one and are incomplete; at 0,
    /// the request is released.
    ahead: usize,
}

/// Requests of one operation, by length: class `n` contains those longer than 2^(n-1) bytes and not
/// longer than 2^n. This bounds the range in which an overlapping request can begin, so one long
/// request does not lengthen every search.
#[derive(Debug, Default)]
struct Lengths(BTreeMap<u32, RangeIndex>);

impl Lengths {
    /// Returns the requests that overlap a range; see [`Ordering`] for the cost.
    fn overlapping(
        &mut self,
        first: u64,
        end: u64,
    ) -> impl Iterator<Item = (RequestId, &mut Held)> {
        self.0.iter_mut().flat_map(move |(&class, ranges)| {
            let reach = 1_u64.checked_shl(class).unwrap_or(u64::MAX);
            let from = (first.saturating_sub(reach), RequestId(0));
            let near = ranges.range_mut(from..(end, RequestId(0)));
            near.filter(move |(_, held)| first < held.end).map(|(&(_, id), held)| (id, held))
        })
    }
}

/// A request's key in the index.
#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    op: Op,
    class: u32,
    first: u64,
}

/// The incomplete requests of one export, with their order.
///
/// Each request counts the others for which it waits. Of two conflicting requests at most one is
/// released: the one that arrived first. So every request that conflicts with a completing one
/// arrived after it and waits for it.
///
/// # Complexity
/// Each request and each completion costs O((log outstanding + overlapping) * classes), with one
/// class for each power of two between the shortest and the longest request that the export ever
/// had. Reads are not compared with reads.
#[derive(Debug, Default)]
pub(crate) struct Ordering {
    reads: Lengths,
    writes: Lengths,
    entries: HashMap<RequestId, IndexEntry>,
    /// A scratch list, empty between calls.
    freed: Vec<RequestId>,
    /// Whether no order is kept, a fault that tests must detect.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) is_off: bool,
}

impl Ordering {
    /// Returns whether this request can be released now; if not, `complete` releases it later.
    /// Later requests must have higher numbers.
    pub(crate) fn admit(&mut self, id: RequestId, op: Op, start: Lba, size: Bytes) -> bool {
        #[cfg(any(test, feature = "harness"))]
        if self.is_off {
            return true;
        }
        let first = start.offset_bytes();
        let end = first + size.get();
        let ahead = self.conflicting(op, first, end).count();
        let class = size.get().next_power_of_two().ilog2();
        let ranges = self.of(op).0.entry(class).or_default();
        ranges.insert((first, id), Held { end, ahead });
        self.entries.insert(id, IndexEntry { op, class, first });
        ahead == 0
    }

    /// Removes a complete request; `release` gets the requests that waited for it, in the order of
    /// their arrival.
    pub(crate) fn complete(&mut self, id: RequestId, release: impl FnMut(RequestId)) {
        let Some(&IndexEntry { op, class, first }) = self.entries.get(&id) else { return };
        let ranges = self.of(op).0.get_mut(&class).expect("it was put there");
        let Some(held) = ranges.get(&(first, id)).copied().filter(|held| held.ahead == 0) else {
            return;
        };
        ranges.remove(&(first, id));
        self.entries.remove(&id);
        let mut freed = std::mem::take(&mut self.freed);
        for (id, behind) in self.conflicting(op, first, held.end) {
            behind.ahead -= 1;
            if behind.ahead == 0 {
                freed.push(id);
            }
        }
        freed.sort_unstable();
        freed.drain(..).for_each(release);
        self.freed = freed;
    }

    /// Returns the number of requests in the index.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn of(&mut self, op: Op) -> &mut Lengths {
        match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
        }
    }

    /// Returns the overlapping requests, except reads that overlap a read.
    fn conflicting(
        &mut self,
        op: Op,
        first: u64,
        end: u64,
    ) -> impl Iterator<Item = (RequestId, &mut Held)> {
        let Self { reads, writes, .. } = self;
        let reads = (op == Op::Write).then_some(reads);
        std::iter::once(writes).chain(reads).flat_map(move |kind| kind.overlapping(first, end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Admits a request with this number, operation, first block and number of blocks; returns
    /// whether it is released.
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

    /// A read that arrives after a waiting write does not overtake it, although no request in
    /// flight conflicts with the read.
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

    /// The rule in its plain form, which compares all requests; the reference for the index.
    #[derive(Default)]
    struct Rule {
        active: Vec<Range>,
        waiting: VecDeque<Range>,
    }

    #[derive(Debug, Clone, Copy)]
    struct Range {
        id: u64,
        op: Op,
        first: u64,
        blocks: u64,
    }

    impl Range {
        fn conflicts(&self, other: &Self) -> bool {
            let ends = |range: &Self| range.first + range.blocks;
            let is_apart = ends(self) <= other.first || ends(other) <= self.first;
            let are_reads = self.op == Op::Read && other.op == Op::Read;
            !is_apart && !are_reads
        }
    }

    impl Rule {
        fn admit(&mut self, range: Range) -> bool {
            let mut before = self.active.iter().chain(&self.waiting);
            let is_free = !before.any(|other| other.conflicts(&range));
            if is_free {
                self.active.push(range);
            } else {
                self.waiting.push_back(range);
            }
            is_free
        }

        fn complete(&mut self, id: u64) -> Vec<u64> {
            let mut released = Vec::new();
            let Some(position) = self.active.iter().position(|range| range.id == id) else {
                return released;
            };
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
                released.push(range.id);
            }
            released
        }
    }

    #[derive(Debug, Clone, Copy)]
    enum OrderingAction {
        Admit {
            op: Op,
            first: u64,
            blocks: u64,
        },
        /// Completes one of the released requests or, with `is_any`, one of all requests.
        Complete {
            which: prop::sample::Index,
            is_any: bool,
        },
    }

    fn any_action() -> impl Strategy<Value = OrderingAction> {
        let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
        // Most requests have the size of a part; some are trims that cover many blocks.
        let blocks = prop_oneof![8 => 1_u64..9, 1 => 1_u64..65];
        let admit = (op, 0_u64..64, blocks).prop_map(|(op, first, blocks)| OrderingAction::Admit {
            op,
            first,
            blocks,
        });
        let complete = (any::<prop::sample::Index>(), prop::bool::weighted(0.1))
            .prop_map(|(which, is_any)| OrderingAction::Complete { which, is_any });
        prop_oneof![3 => admit, 2 => complete]
    }

    /// Runs the same steps on the index and on the rule, then completes the remaining requests.
    fn compare(mut ordering: Ordering, steps: &[OrderingAction]) -> Result<(), TestCaseError> {
        let (mut rule, mut admitted) = (Rule::default(), Vec::new());
        for &step in steps {
            match step {
                OrderingAction::Admit { op, first, blocks } => {
                    let id = admitted.len() as u64;
                    let is_free = admit(&mut ordering, id, op, first, blocks);
                    let range = Range { id, op, first, blocks };
                    prop_assert_eq!(is_free, rule.admit(range), "{:?}", range);
                    admitted.push(id);
                }
                OrderingAction::Complete { which, is_any } => {
                    let active: Vec<u64> = rule.active.iter().map(|range| range.id).collect();
                    let ids = if is_any { &admitted } else { &active };
                    if ids.is_empty() {
                        continue;
                    }
                    let id = *which.get(ids);
                    prop_assert_eq!(released(&mut ordering, id), rule.complete(id));
                }
            }
        }
        while let Some(&Range { id, .. }) = rule.active.first() {
            prop_assert_eq!(released(&mut ordering, id), rule.complete(id));
        }
        prop_assert!(rule.waiting.is_empty() && ordering.entries.is_empty());
        Ok(())
    }

    /// Canary: the comparison detects a missing order.
    #[test]
    fn a_lack_of_order_is_noticed() {
        let steps = [OrderingAction::Admit { op: Op::Write, first: 0, blocks: 1 }; 2];
        assert!(compare(Ordering { is_off: true, ..Ordering::default() }, &steps).is_err());
    }

    proptest! {
        /// Goal: the index releases the same requests in the same order as the rule. Method: random
        /// sequences.
        #[test]
        fn the_index_answers_as_the_rule_does(steps in prop::collection::vec(any_action(), 0..120)) {
            compare(Ordering::default(), &steps)?;
        }
    }
}

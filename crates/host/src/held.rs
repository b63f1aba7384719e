// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Holds the requests that the policy had no room for.
//!
//! Each source has its own queue, in the order of release, because the policy may have room for one
//! source and not for another: a task that exceeds its contract must not block the others.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{RequestId, TaskIndex};

/// The requests that wait for room, oldest first.
///
/// # Invariants
/// - No queue is empty.
#[derive(Debug, Default)]
pub(crate) struct Held {
    lines: BTreeMap<TaskIndex, VecDeque<RequestId>>,
    /// The memory of queues that became empty, for reuse.
    spare: Vec<VecDeque<RequestId>>,
    /// A scratch list for [`Self::offer`], empty between calls: the head of every queue.
    heads: Vec<(RequestId, TaskIndex)>,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn is_waiting(&self, source: TaskIndex) -> bool {
        self.lines.contains_key(&source)
    }

    pub(crate) fn push(&mut self, source: TaskIndex, id: RequestId) {
        let Self { lines, spare, .. } = self;
        let line = lines.entry(source).or_insert_with(|| spare.pop().unwrap_or_default());
        line.push_back(id);
    }

    /// Removes all requests.
    pub(crate) fn clear(&mut self) {
        while let Some((_, mut line)) = self.lines.pop_first() {
            line.clear();
            self.spare.push(line);
        }
    }

    /// Offers the held requests in the order of release, each queue until one is refused; returns
    /// whether any was taken. Identifiers rise in the order of release.
    ///
    /// # Complexity
    /// O(queues) for each request that is taken.
    pub(crate) fn offer(&mut self, mut is_taken: impl FnMut(RequestId) -> bool) -> bool {
        let mut heads = std::mem::take(&mut self.heads);
        heads.extend(self.lines.iter().map(|(&source, line)| (line[0], source)));
        let mut is_any_taken = false;
        while let Some(oldest) = (0..heads.len()).min_by_key(|&index| heads[index].0) {
            let (id, source) = heads[oldest];
            if !is_taken(id) {
                heads.swap_remove(oldest);
                continue;
            }
            is_any_taken = true;
            match self.pop(source) {
                Some(next) => heads[oldest].0 = next,
                None => {
                    heads.swap_remove(oldest);
                }
            }
        }
        self.heads = heads;
        is_any_taken
    }

    /// Removes a queue's oldest request; returns the next one.
    fn pop(&mut self, source: TaskIndex) -> Option<RequestId> {
        let line = self.lines.get_mut(&source).expect("a line that has a head");
        line.pop_front();
        let next = line.front().copied();
        if next.is_none() {
            self.spare.extend(self.lines.remove(&source));
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a service that holds requests and offers them again allocates nothing. Method: check
    /// that a queue that becomes empty, by offers or by clearing, gives its memory to the next
    /// queue.
    #[test]
    fn an_empty_line_gives_its_memory_to_the_next() {
        let mut held = Held::default();
        (0..100).for_each(|id| held.push(TaskIndex(0), RequestId(id)));
        let capacity = held.lines[&TaskIndex(0)].capacity();
        assert!(held.offer(|_| true) && held.is_empty());
        held.push(TaskIndex(7), RequestId(100));
        assert_eq!((held.lines[&TaskIndex(7)].capacity(), held.spare.len()), (capacity, 0));
        held.clear();
        assert!(held.is_empty() && !held.offer(|_| true));
        held.push(TaskIndex(1), RequestId(101));
        assert_eq!(held.lines[&TaskIndex(1)].capacity(), capacity);
    }
}

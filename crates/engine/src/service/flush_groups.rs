// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Assigns requests that must be durable to flushes.
//!
//! The durable writes of a batch and its flush requests form a group. A group shares one flush,
//! which is sent when its writes are complete. A flush covers the writes that completed before it
//! was sent, so it can be sent later than it was requested, but not earlier.

use std::collections::HashMap;

use tidegate_model::RequestId;

/// The bit that distinguishes the identifiers of flushes from those of requests.
const FLUSH: u64 = 1 << 63;

#[derive(Debug, Default)]
struct Group {
    members: Vec<RequestId>,
    writes_left: usize,
}

/// The groups of requests that must be durable.
#[derive(Debug, Default)]
pub(crate) struct FlushGroups {
    /// The group of the batch that is being formed.
    forming: Group,
    under_way: HashMap<u64, Group>,
    /// The group of each durable write that is not complete.
    of_write: HashMap<RequestId, u64>,
    next: u64,
}

impl FlushGroups {
    /// Returns whether no request waits for a flush.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Adds a request that must be durable to the batch that is being formed.
    pub(crate) fn add(&mut self, id: RequestId, is_flush: bool) {
        self.forming.members.push(id);
        if !is_flush {
            self.forming.writes_left += 1;
            self.of_write.insert(id, self.next);
        }
    }

    /// Ends the batch. Returns its flush's identifier if the flush can be sent now.
    pub(crate) fn close(&mut self) -> Option<RequestId> {
        if self.forming.members.is_empty() {
            return None;
        }
        let group = std::mem::take(&mut self.forming);
        let (number, is_ready) = (self.next, group.writes_left == 0);
        self.next += 1;
        self.under_way.insert(number, group);
        is_ready.then_some(RequestId(FLUSH | number))
    }

    /// Records a completed write; returns the flush's identifier if the write was the last of its
    /// batch.
    pub(crate) fn written(&mut self, id: RequestId) -> Option<RequestId> {
        let number = self.of_write.remove(&id).expect("a durable write has a group");
        let group = self.under_way.get_mut(&number).expect("a group outlives its writes");
        group.writes_left -= 1;
        (group.writes_left == 0).then_some(RequestId(FLUSH | number))
    }

    /// Returns the requests that this flush made durable; `None` if the identifier is not a
    /// flush's.
    pub(crate) fn flushed(&mut self, id: RequestId) -> Option<Vec<RequestId>> {
        let number = id.0.checked_sub(FLUSH)?;
        let group = self.under_way.remove(&number).expect("a flush comes back once");
        Some(group.members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flush_follows_the_last_write_of_its_batch() {
        let mut groups = FlushGroups::default();
        let [first, second, asked] = [1, 2, 3].map(RequestId);
        groups.add(first, false);
        groups.add(asked, true);
        groups.add(second, false);
        assert_eq!(groups.close(), None);
        assert_eq!(groups.written(second), None);
        let flush = groups.written(first).expect("both are written");
        assert_eq!(groups.flushed(first), None);
        assert_eq!(groups.flushed(flush), Some(vec![first, asked, second]));
        assert!(groups.is_empty());
    }

    #[test]
    fn a_flush_alone_is_sent_at_once_and_a_batch_without_needs_none() {
        let mut groups = FlushGroups::default();
        assert_eq!(groups.close(), None);
        groups.add(RequestId(7), true);
        let flush = groups.close().expect("nothing to wait for");
        assert_eq!(groups.flushed(flush), Some(vec![RequestId(7)]));
    }
}

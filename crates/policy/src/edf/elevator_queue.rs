// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue of real-time requests in order of absolute deadline. Equal deadlines are in the order in
//! which an elevator that serves only on its way up reaches them.

use std::collections::BTreeSet;

use tidegate_model::{Lba, Plan, Request, RequestId, Time};

use super::due_queue::due_of;
use super::one_at_a_time::{PlacedQueue, end_of};
use crate::Full;
use crate::queue::RealTimeQueue;

/// A request with its sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    due: Time,
    start: Lba,
    id: RequestId,
    sectors: u64,
}

/// Requests with the earliest deadline first; equal deadlines upwards from the head, then from the
/// lowest position.
///
/// # Complexity
/// O(log queued) for `push` and `pop`.
#[derive(Debug)]
pub(crate) struct ElevatorQueue {
    requests: BTreeSet<Entry>,
    head: Lba,
    queued_max: u32,
}

impl ElevatorQueue {
    /// Returns an empty queue with the head at the drive's first sector.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { requests: BTreeSet::new(), head: Lba::new(0), queued_max }
    }

    fn next(&self) -> Option<Entry> {
        let lowest = *self.requests.first()?;
        let ahead = Entry { start: self.head, id: RequestId(0), sectors: 0, ..lowest };
        let above = self.requests.range(ahead..).next().copied();
        above.filter(|entry| entry.due == lowest.due).or(Some(lowest))
    }
}

impl RealTimeQueue for ElevatorQueue {
    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.len() >= self.queued_max {
            return Err(Full);
        }
        let Request { id, start, size, .. } = *request;
        self.requests.insert(Entry {
            due: due_of(request),
            start,
            id,
            sectors: size.sectors_ceil(),
        });
        Ok(())
    }

    fn pop(&mut self) -> Option<RequestId> {
        let entry = self.next()?;
        self.requests.remove(&entry);
        self.head = end_of(entry.start, entry.sectors);
        Some(entry.id)
    }

    fn cancel(&mut self, id: RequestId) -> bool {
        let entry = self.requests.iter().find(|entry| entry.id == id).copied();
        entry.is_some_and(|entry| self.requests.remove(&entry))
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.queued_max = plan.queued_max;
    }

    fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("bounded by queued_max")
    }
}

impl PlacedQueue for ElevatorQueue {
    fn note_sent(&mut self, best_effort: &Request) {
        self.head = end_of(best_effort.start, best_effort.size.sectors_ceil());
    }
}

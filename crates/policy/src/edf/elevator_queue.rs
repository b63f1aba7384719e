// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue of real-time requests in order of absolute deadline. Deadlines that count as equal are
//! in the order in which an elevator that serves only on its way up reaches them.

use std::collections::BTreeSet;

use tidegate_model::parameters::ScanEdfParameters;
use tidegate_model::{Lba, Plan, Request, RequestId, Time};

use super::due_queue::due_of;
use super::one_at_a_time::{PlacedQueue, end_of};
use crate::Full;
use crate::queue::RealTimeQueue;

/// A request with its sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The beginning of the window that holds its deadline.
    window_start: Time,
    start: Lba,
    id: RequestId,
    sectors: u64,
    due: Time,
}

/// Requests with the earliest deadline first; among deadlines that count as equal, upwards from the
/// head, then from the lowest position.
///
/// # Complexity
/// O(log queued) for `push` and `pop`.
#[derive(Debug)]
pub(crate) struct ElevatorQueue {
    requests: BTreeSet<Entry>,
    head: Lba,
    parameters: ScanEdfParameters,
    queued_max: u32,
}

impl ElevatorQueue {
    /// Returns an empty queue with the head at the drive's first sector.
    pub(crate) fn new(parameters: ScanEdfParameters, queued_max: u32) -> Self {
        Self { requests: BTreeSet::new(), head: Lba::new(0), parameters, queued_max }
    }

    fn next(&self) -> Option<Entry> {
        let lowest = *self.requests.first()?;
        let ahead =
            Entry { start: self.head, id: RequestId(0), sectors: 0, due: Time::ZERO, ..lowest };
        let above = self.requests.range(ahead..).next().copied();
        above.filter(|entry| entry.window_start == lowest.window_start).or(Some(lowest))
    }
}

impl RealTimeQueue for ElevatorQueue {
    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.len() >= self.queued_max {
            return Err(Full);
        }
        let Request { id, start, size, .. } = *request;
        let due = due_of(request);
        self.requests.insert(Entry {
            window_start: self.parameters.window_start(due),
            start,
            id,
            sectors: size.sectors_ceil(),
            due,
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
        let parameters = plan.parameters.scan_edf;
        if parameters != self.parameters {
            let moved =
                |entry: Entry| Entry { window_start: parameters.window_start(entry.due), ..entry };
            self.requests = std::mem::take(&mut self.requests).into_iter().map(moved).collect();
            self.parameters = parameters;
        }
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

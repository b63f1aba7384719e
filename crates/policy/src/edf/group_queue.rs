// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue of real-time requests, grouped by nearby deadlines. Within a group, either the smallest
//! request comes first, and among equal sizes the one nearest to the head, or the nearest request
//! comes first whatever its size.

use std::collections::BTreeMap;

use tidegate_model::parameters::{GroupEdfParams, GroupRule};
use tidegate_model::{Bytes, Duration, Lba, Plan, Request, RequestId, Task, TaskIndex, Time};

use super::due_queue::due_of;
use super::one_at_a_time::{PlacedQueue, end_of};
use crate::Full;
use crate::queue::RealTimeQueue;

/// The properties of a request that its group's order uses.
#[derive(Debug, Clone, Copy)]
struct Entry {
    task: TaskIndex,
    /// The relative deadline, counted from the request's eligibility.
    until_due: Duration,
    start: Lba,
    size: Bytes,
}

/// Takes the first request of the group with the earliest deadline, by the rule of the parameters;
/// ties go to the oldest.
///
/// # Complexity
/// O(log queued) for `push`; O(group) for `pop`, at worst the whole queue: no single order serves
/// both nearby deadlines and nearby positions.
#[derive(Debug)]
pub(crate) struct GroupQueue {
    requests: BTreeMap<(Time, RequestId), Entry>,
    /// Relative deadlines, by task index.
    deadlines: Vec<Duration>,
    parameters: GroupEdfParams,
    head: Lba,
    queued_max: u32,
}

impl GroupQueue {
    /// Returns an empty queue with the head at the drive's first sector.
    pub(crate) fn new(parameters: GroupEdfParams, tasks: &[Task], queued_max: u32) -> Self {
        Self {
            requests: BTreeMap::new(),
            deadlines: deadlines(tasks),
            parameters,
            head: Lba::new(0),
            queued_max,
        }
    }

    /// Returns the latest deadline in the group that begins with this request.
    fn group_end(&self, due: Time, earliest: &Entry) -> Time {
        // For a task that is not in the plan, the request gives the deadline.
        let deadline = self.deadlines.get(earliest.task.index()).unwrap_or(&earliest.until_due);
        let span = u128::from(deadline.ns()) * u128::from(self.parameters.group_ppm) / 1_000_000;
        let span = u64::try_from(span).expect("a share of a u64");
        // Saturation is intended: no deadline is later than the last instant.
        Time::from_ns(due.ns().saturating_add(span))
    }

    fn next(&self) -> Option<(Time, RequestId)> {
        let (&(due, _), earliest) = self.requests.first_key_value()?;
        let last = (self.group_end(due, earliest), RequestId(u64::MAX));
        // A plain loop: `min_by_key` took up to twice as long where the compiler did not inline it.
        let mut best: Option<((Bytes, u64, RequestId), Time)> = None;
        for (&(due, id), entry) in self.requests.range(..=last) {
            let size = match self.parameters.order {
                GroupRule::Smallest => entry.size,
                GroupRule::Nearest => Bytes::new(0),
            };
            let rank = (size, entry.start.get().abs_diff(self.head.get()), id);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, due));
            }
        }
        best.map(|((.., id), due)| (due, id))
    }
}

fn deadlines(tasks: &[Task]) -> Vec<Duration> {
    tasks.iter().map(|task| task.deadline).collect()
}

impl RealTimeQueue for GroupQueue {
    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.len() >= self.queued_max {
            return Err(Full);
        }
        let due = due_of(request);
        // Saturation is intended: a deadline before the release leaves no time.
        let until_due = Duration::from_ns(due.ns().saturating_sub(request.eligible.ns()));
        let Request { id, task, start, size, .. } = *request;
        self.requests.insert((due, id), Entry { task, until_due, start, size });
        Ok(())
    }

    fn pop(&mut self) -> Option<RequestId> {
        let key = self.next()?;
        let entry = self.requests.remove(&key)?;
        self.head = end_of(entry.start, entry.size.sectors_ceil());
        Some(key.1)
    }

    fn cancel(&mut self, id: RequestId) -> bool {
        let key = self.requests.keys().find(|&&(_, queued)| queued == id).copied();
        key.is_some_and(|key| self.requests.remove(&key).is_some())
    }

    fn reconfigure(&mut self, plan: &Plan) {
        self.queued_max = plan.queued_max;
        self.parameters = plan.parameters.group_edf;
        self.deadlines = deadlines(&plan.tasks);
    }

    fn len(&self) -> u32 {
        u32::try_from(self.requests.len()).expect("bounded by queued_max")
    }
}

impl PlacedQueue for GroupQueue {
    fn note_sent(&mut self, best_effort: &Request) {
        self.head = end_of(best_effort.start, best_effort.size.sectors_ceil());
    }
}

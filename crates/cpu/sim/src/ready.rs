// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The ready threads in order of urgency.

use tidegate_cpu_model::Priority;
use tidegate_model::Time;

/// The urgency of a ready thread; the smallest value is served first. Among equals, the thread that
/// became ready first is served first. A preempted thread keeps its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Urgency {
    rank: u64,
    turn: u64,
}

impl Urgency {
    /// Returns the urgency of a priority; the highest priority is served first.
    pub(super) fn of_priority(priority: Priority, turn: u64) -> Self {
        Self { rank: u64::MAX - u64::from(priority.0), turn }
    }

    /// Returns the urgency of an absolute deadline; the earliest is served first.
    pub(super) fn of_deadline(due: Time, turn: u64) -> Self {
        Self { rank: due.ns(), turn }
    }

    /// Returns whether two urgencies are equal except for their turns.
    pub(super) fn is_equal_rank(self, other: Self) -> bool {
        self.rank == other.rank
    }
}

/// The ready threads other than the running one, the most urgent last. They are few, so a sorted
/// list is fastest.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready {
    threads: Vec<(Urgency, usize)>,
}

impl Ready {
    pub(super) fn with_room(threads: usize) -> Self {
        Self { threads: Vec::with_capacity(threads) }
    }

    pub(super) fn insert(&mut self, urgency: Urgency, thread: usize) {
        let place = self.threads.partition_point(|(known, _)| *known > urgency);
        self.threads.insert(place, (urgency, thread));
    }

    pub(super) fn remove(&mut self, urgency: Urgency) {
        let place = self.threads.partition_point(|(known, _)| *known > urgency);
        assert_eq!(self.threads[place].0, urgency, "the thread is ready");
        self.threads.remove(place);
    }

    /// Returns the most urgent thread.
    pub(super) fn first(&self) -> Option<(Urgency, usize)> {
        self.threads.last().copied()
    }

    /// Removes the most urgent thread.
    pub(super) fn pop(&mut self) {
        self.threads.pop();
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's own queue: the requests it holds and which one it serves next.
//!
//! In order of precedence:
//! 1. *Head of queue.* A head-of-queue request is next; if there are several, the last to arrive is
//!    next, as in SCSI-2. It overtakes every other request, even one that has waited too long: a
//!    host that sends only head-of-queue requests starves the others intentionally.
//! 2. *Starvation.* Otherwise the oldest request is next if it has waited for at least
//!    `starvation_ns`. So of several starved requests the one that waited longest is next.
//! 3. *Ordered.* Otherwise, if the oldest request is ordered, it is next. If not, only requests
//!    that arrived before the first ordered one are eligible. Rules 2 and 3 never conflict: the
//!    oldest request is never behind a barrier.
//! 4. *Priority.* If some eligible requests have priority, only those remain eligible.
//! 5. *The scheduler* chooses among the eligible requests; among equals, the first to arrive.
//!
//! ```text
//!   oldest                                      youngest
//!     s1   s2   P3  | O4 |  s5   P6   O7        H8, H9
//!     `--eligible--'  barrier                   served first: H9, H8
//!     P3 before s1 and s2; then O4; then P6, s5; then O7
//! ```
//!
//! Tags that the drive does not honour count as simple. A request chosen by rules 1 to 3 does not
//! reverse a sweep: the sweep continues in its direction, from the position to which that request
//! moved the arm. Each group of schedulers has its own file; each choice is a function of the
//! eligible requests.

mod by_access;
mod by_position;
mod eligible;
mod pending;
mod reach;
mod scheduler;
#[cfg(test)]
mod tests;

use tidegate_model::mechanics::Queue;
use tidegate_model::{Duration, Tag, Time};

use self::eligible::Eligible;
pub(crate) use self::pending::Pending;
pub(crate) use self::reach::Reach;
use self::scheduler::{ArmPosition, SchedulerState};

/// The requests that a drive holds but does not serve yet.
///
/// # Invariants
/// - `pending` is sorted by arrival and holds no head-of-queue request.
/// - `head_of_queue` is sorted by arrival and holds only head-of-queue requests.
#[derive(Debug, Clone)]
pub(crate) struct DiskQueue {
    pending: Vec<Pending>,
    head_of_queue: Vec<Pending>,
    scheduler: SchedulerState,
    /// The number of ordered requests in `pending`.
    barrier_count: usize,
    /// The number of priority requests in `pending`.
    priority_count: usize,
    /// The cylinder of the last served request; `None` if no other request waited then.
    sweep: Option<u32>,
    starvation: Option<Duration>,
    honours_priority: bool,
    simple_only: bool,
}

impl DiskQueue {
    /// Creates an empty queue.
    pub(crate) fn new(params: &Queue) -> Self {
        Self {
            pending: Vec::new(),
            head_of_queue: Vec::new(),
            scheduler: SchedulerState::new(params),
            barrier_count: 0,
            priority_count: 0,
            sweep: None,
            starvation: params.starvation_ns.map(Duration::from_ns),
            honours_priority: params.priority,
            simple_only: params.simple_only,
        }
    }

    /// Returns the number of requests in the queue; the drive keeps its own count.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.pending.len() + self.head_of_queue.len()
    }

    /// Returns whether the queue holds no request.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.head_of_queue.is_empty()
    }

    /// Adds a request.
    ///
    /// # Panics
    /// If the request arrived before another request of the same list.
    pub(crate) fn push(&mut self, mut pending: Pending) {
        pending.request.tag = self.honoured(pending.request.tag);
        match pending.request.tag {
            Tag::Ordered => self.barrier_count += 1,
            Tag::Priority => self.priority_count += 1,
            _ => (),
        }
        let is_head = pending.request.tag == Tag::HeadOfQueue;
        let line = if is_head { &mut self.head_of_queue } else { &mut self.pending };
        let is_in_order = line.last().is_none_or(|last| last.arrived <= pending.arrived);
        assert!(is_in_order, "requests must arrive in order of time");
        line.push(pending);
    }

    /// Returns the tag if the drive honours it, and otherwise [`Tag::Simple`].
    pub(crate) fn honoured(&self, tag: Tag) -> Tag {
        match tag {
            Tag::Priority if self.honours_priority => tag,
            Tag::Ordered | Tag::HeadOfQueue if !self.simple_only => tag,
            _ => Tag::Simple,
        }
    }

    /// Returns whether an ordered request waits: later requests must not overtake it.
    pub(crate) fn has_barrier(&self) -> bool {
        self.barrier_count > 0
    }

    /// Removes the next request to serve, with the arm at `cylinder`; `None` if the queue is empty.
    ///
    /// `reach` returns the time from `now` until a request's first sector is under its head.
    ///
    /// # Complexity
    /// Linear in the queue: each tag is read once if any tag is not simple, and the requests
    /// younger than the chosen one are moved once. Schedulers by access call [`Reach::access_min`]
    /// at most once for each eligible request and [`Reach::access`] once for each that this bound
    /// does not rule out; other schedulers call neither. A choice by rules 1 to 3 does not examine
    /// the other requests. Nothing is allocated.
    pub(crate) fn take(&mut self, now: Time, cylinder: u32, reach: &impl Reach) -> Option<Pending> {
        let taken = match self.head_of_queue.pop() {
            Some(head) => head,
            None => self.take_in_turn(now, cylinder, reach)?,
        };
        if self.pending.is_empty() {
            self.sweep = None;
            self.scheduler.rest();
        } else {
            self.sweep = Some(taken.target.cylinder);
        }
        Some(taken)
    }

    /// Removes the oldest request that satisfies `is_meant`, regardless of the rules.
    pub(crate) fn take_oldest(&mut self, is_meant: impl Fn(&Pending) -> bool) -> Option<Pending> {
        let index = self.pending.iter().position(is_meant)?;
        Some(self.remove(index))
    }

    fn remove(&mut self, index: usize) -> Pending {
        let removed = self.pending.remove(index);
        match removed.request.tag {
            Tag::Ordered => self.barrier_count -= 1,
            Tag::Priority => self.priority_count -= 1,
            _ => (),
        }
        removed
    }

    /// Applies rules 2 to 5.
    fn take_in_turn(&mut self, now: Time, cylinder: u32, reach: &impl Reach) -> Option<Pending> {
        let oldest = self.pending.first()?;
        if self.goes_before_all(oldest, now) {
            return Some(self.remove(0));
        }
        let position = ArmPosition { arm: cylinder, sweep: self.sweep.unwrap_or(cylinder) };
        let is_plain = self.barrier_count == 0 && self.priority_count == 0;
        let of = if is_plain { Eligible::all } else { Eligible::of };
        let index = self.scheduler.choose(&of(&self.pending), position, reach);
        Some(self.remove(index))
    }

    /// Returns whether no younger request may be served before the oldest.
    fn goes_before_all(&self, oldest: &Pending, now: Time) -> bool {
        let waited = now.since(oldest.arrived);
        oldest.request.tag == Tag::Ordered || self.starvation.is_some_and(|bound| waited >= bound)
    }
}

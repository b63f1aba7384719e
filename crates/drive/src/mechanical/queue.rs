// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's own queue: what it holds and what it serves next.
//!
//! In order of precedence:
//! 1. *Head of queue.* Such a request is next, of several the one that came last, as SCSI-2
//!    has it. It goes past everything, also past what has waited too long: a host that
//!    sends nothing else starves the rest, and meant it.
//! 2. *Starvation.* Otherwise the oldest request is next if it has waited for
//!    `starvation_ns` or longer. So of several, the one that has waited longest.
//! 3. *Ordered.* Otherwise, if the oldest is ordered, it is next. If not, only what came
//!    before the first ordered request is eligible. Rules 2 and 3 never disagree: what is
//!    oldest is never behind a barrier.
//! 4. *Priority.* If some eligible requests have priority, all others are not eligible.
//! 5. *The scheduler* chooses among the eligible; of equals, the one that came first.
//!
//! ```text
//!   oldest                                      youngest
//!     s1   s2   P3  | O4 |  s5   P6   O7        H8, H9
//!     `--eligible--'  barrier                   served first: H9, H8
//!     P3 before s1 and s2; then O4; then P6, s5; then O7
//! ```
//!
//! Tags that the drive does not honour count as simple. What rules 1 to 3 choose does not
//! turn a sweep: it goes on, in its direction, from where such a request took the arm.
//! One file for each group of schedulers; each choice is a function of the eligible.

mod by_access;
mod by_position;
mod eligible;
mod reach;
mod scheduler;
#[cfg(test)]
mod tests;

use tidegate_model::mechanics::Queue;
use tidegate_model::{Duration, Request, Tag, Time};

use self::eligible::Eligible;
pub(crate) use self::reach::Reach;
use self::scheduler::{OnDisk, Place};
use super::layout::Extent;

/// A request that the drive holds and does not serve yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// The drive's own name for it: hosts may use a name again.
    pub(crate) number: u64,
    /// The request; the queue hands it back with the tag that it honoured.
    pub(crate) request: Request,
    /// When the drive got it.
    pub(crate) arrived: Time,
    /// Where its first part lies.
    pub(crate) target: Extent,
}

/// What a drive holds and does not serve yet.
///
/// # Invariants
/// - `pending` is in order of arrival and holds nothing for the head of the queue.
/// - `head_of_queue` is in order of arrival and holds nothing else.
#[derive(Debug, Clone)]
pub(crate) struct DiskQueue {
    pending: Vec<Pending>,
    head_of_queue: Vec<Pending>,
    scheduler: OnDisk,
    /// How many ordered requests are in `pending`.
    barrier_count: usize,
    /// How many requests of priority are in `pending`.
    priority_count: usize,
    /// The cylinder of what was served last, while others wait.
    sweep: Option<u32>,
    starvation: Option<Duration>,
    honours_priority: bool,
    simple_only: bool,
}

impl DiskQueue {
    /// An empty queue.
    pub(crate) fn new(params: &Queue) -> Self {
        Self {
            pending: Vec::new(),
            head_of_queue: Vec::new(),
            scheduler: OnDisk::new(params),
            barrier_count: 0,
            priority_count: 0,
            sweep: None,
            starvation: params.starvation_ns.map(Duration::from_ns),
            honours_priority: params.priority,
            simple_only: params.simple_only,
        }
    }

    /// How many requests it holds; the drive counts its own.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.pending.len() + self.head_of_queue.len()
    }

    /// Whether it holds none.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.head_of_queue.is_empty()
    }

    /// Adds a request.
    ///
    /// # Panics
    /// When it arrived before one that is held in the same line.
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
        assert!(is_in_order, "a drive gets its requests in order of time");
        line.push(pending);
    }

    /// The tag as far as the drive honours it.
    pub(crate) fn honoured(&self, tag: Tag) -> Tag {
        match tag {
            Tag::Priority if self.honours_priority => tag,
            Tag::Ordered | Tag::HeadOfQueue if !self.simple_only => tag,
            _ => Tag::Simple,
        }
    }

    /// Whether an ordered request waits: what comes later may not pass it.
    pub(crate) fn has_barrier(&self) -> bool {
        self.barrier_count > 0
    }

    /// Takes out what is to be served next, when the arm is at `cylinder`; none from an
    /// empty queue.
    ///
    /// `reach` says how long it takes from `now` until the first sector of a request is
    /// under its head.
    ///
    /// # Complexity
    /// O(queue): one look at each tag, if any is not simple; for the schedulers by access one call of
    /// [`Reach::access_min`] for each eligible request and one of [`Reach::access`] for those
    /// that it leaves in question, for the others none; and the move of what is younger than
    /// what was taken. A request that rules 1 to 3 choose needs no look at the others.
    /// Nothing is allocated.
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

    /// Takes out the oldest that is meant, whatever the rules say.
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

    /// Rules 2 to 5.
    fn take_in_turn(&mut self, now: Time, cylinder: u32, reach: &impl Reach) -> Option<Pending> {
        let oldest = self.pending.first()?;
        if self.goes_before_all(oldest, now) {
            return Some(self.remove(0));
        }
        let place = Place { arm: cylinder, sweep: self.sweep.unwrap_or(cylinder) };
        let is_plain = self.barrier_count == 0 && self.priority_count == 0;
        let of = if is_plain { Eligible::all } else { Eligible::of };
        let index = self.scheduler.choose(&of(&self.pending), place, reach);
        Some(self.remove(index))
    }

    /// Whether nothing younger may be served before the oldest.
    fn goes_before_all(&self, oldest: &Pending, now: Time) -> bool {
        let waited = now.since(oldest.arrived);
        oldest.request.tag == Tag::Ordered || self.starvation.is_some_and(|bound| waited >= bound)
    }
}

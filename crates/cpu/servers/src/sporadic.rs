// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The corrected sporadic server.
//!
//! The budget is divided into chunks, each a cohort of unit servers that were activated together. A
//! chunk that is used up is replenished one period after its own activation (Budget_Check). If only
//! part of a chunk is used, that part is replenished in the same way (Split_Check). The budget
//! available when the server unblocks is activated then (Unblock_Check). An overrun is borrowed
//! from the next chunk, which becomes available later by the same time. So in any window the server
//! executes at most as much as a periodic task with its budget and period, plus one overrun.
//!
//! # Source
//! Stanovich, dissertation, figures 6.3 to 6.5 and observations 1 to 3; preemption charge 6.6.1,
//! coalescing 6.6.3. The pseudo-code is used with the twelve corrections of
//! docs/theory/sporadic-servers.md; comments name each correction where it is used.

use tidegate_cpu_model::ServerParams;
use tidegate_model::{Duration, Time};

use super::replenishments::{Replenishment, ReplenishmentQueue};
use super::{Server, ServerEvent, ServerStatus};

/// The rule for the chunks when the server runs out of budget with work left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coalescing {
    /// The chunks stay as they are.
    Never,
    /// All chunks are merged into one.
    Immediate,
    /// The first two chunks are merged.
    Gradual,
}

/// The corrected sporadic server and, with coalescing, the two hybrids.
///
/// # Invariants
/// - The chunks sum to the budget (I1, I5), are sorted, none is zero, and there are at most
///   `replenishments_max` (I4).
/// - After every event `usage` is less than the head's amount.
#[derive(Debug, Clone)]
pub struct Sporadic {
    params: ServerParams,
    pub(super) queue: ReplenishmentQueue,
    /// Execution charged to the head chunk that is not yet scheduled for replenishment or, if the
    /// head's time is in the future, borrowed from the head.
    usage: Duration,
    /// The present limit on chunks: coalescing lowers it until the load is light again.
    pub(super) chunks_max: usize,
    coalescing: Coalescing,
    has_work: bool,
}

impl Sporadic {
    /// Creates a server with its full budget.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn new(params: ServerParams, coalescing: Coalescing) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        Self {
            queue: ReplenishmentQueue::new(params.budget, params.replenishments_max),
            usage: Duration::ZERO,
            chunks_max: chunks_max(&params),
            coalescing,
            has_work: false,
            params,
        }
    }

    /// Returns the time for which the server may execute now without interruption, from the head
    /// chunk alone.
    fn capacity(&self, now: Time) -> Duration {
        let head = self.queue.head();
        if head.at > now {
            return Duration::ZERO;
        }
        // Usage beyond the chunk is an overrun (correction 5: capacity at most 0, not equal to
        // 0).
        head.amount.checked_sub(self.usage).unwrap_or_default()
    }

    /// Figure 6.3: chunks that are used up are replenished one period after their activation.
    fn budget_check(&mut self, now: Time) {
        if !self.capacity(now).is_zero() {
            return;
        }
        let mut is_exhausted = false;
        while self.queue.head().amount <= self.usage {
            let chunk = self.queue.pop();
            self.usage = self.usage - chunk.amount;
            self.queue.insert(Replenishment { at: chunk.at + self.params.period, ..chunk });
            is_exhausted = true;
        }
        // Correction 2: as printed, a second call would postpone the head a second time.
        if !is_exhausted {
            return;
        }
        if !self.usage.is_zero() {
            self.borrow();
        }
        if self.has_work && self.capacity(now).is_zero() {
            self.coalesce(self.coalescing);
        }
    }

    /// Figure 6.3, lines 8 to 15: the overrun is taken from the earliest part of the next chunk, as
    /// if it had been executed then.
    ///
    /// Correction 3: this also postpones a chunk that was already available, although using such a
    /// chunk is no overrun. That is safe by observation 2.
    fn borrow(&mut self) {
        let head = self.queue.head();
        let at = head.at + self.usage;
        self.queue.set_head(Replenishment { at, ..head });
        // Correction 9: the head may now be later than any number of chunks behind it. Merging
        // keeps the order, because those chunks move to the head's later time.
        while let Some(next) = self.queue.next() {
            // Correction 1: without `- usage`, units of the next chunk could be used too early,
            // by as much as was borrowed.
            if at + (self.queue.head().amount - self.usage) < next.at {
                return;
            }
            self.queue.merge_head(at);
        }
    }

    /// Figure 6.4: if only part of a chunk is used, that part is replenished one period after the
    /// activation, and the remnant is available from now on.
    fn split_check(&mut self, now: Time) {
        let head = self.queue.head();
        // Correction 6: a debt borrowed from a future chunk stays with that chunk.
        if self.usage.is_zero() || head.at > now {
            return;
        }
        let remnant = head.amount - self.usage;
        let mut used = Replenishment { at: head.at + self.params.period, amount: self.usage };
        if self.queue.len() < self.chunks_max {
            self.queue.set_head(Replenishment { at: head.at, amount: remnant });
            // Correction 12, like correction 9: the remnant may now be later than the next chunk.
            self.queue.postpone_head(head.at + self.usage);
            self.queue.insert(used);
        } else {
            // Correction 6: the remnant joins the next chunk or, if there is none, is replenished
            // with the used part. With a single chunk this is a polling server.
            self.queue.pop();
            if self.queue.len() > 0 {
                let next = self.queue.head();
                self.queue.set_head(Replenishment { amount: next.amount + remnant, ..next });
            } else {
                used.amount += remnant;
            }
            self.queue.insert(used);
        }
        self.usage = Duration::ZERO;
    }

    /// Figure 6.5: the available budget is activated now, together with budget that becomes
    /// available before it is used up.
    fn unblock_check(&mut self, now: Time) {
        if self.capacity(now).is_zero() {
            return;
        }
        // Correction 7: borrowed units are replenished slightly later than they could be.
        let head = self.queue.head();
        self.queue.set_head(Replenishment { at: now, ..head });
        while let Some(next) = self.queue.next() {
            if next.at > now + self.capacity(now) {
                return;
            }
            self.queue.merge_head(now);
        }
    }

    /// Blocks the server: with budget left the load is light, and many chunks are allowed again.
    fn block(&mut self, now: Time) {
        self.has_work = false;
        self.budget_check(now);
        if !self.capacity(now).is_zero() {
            self.chunks_max = chunks_max(&self.params);
        }
        self.split_check(now);
    }
}

fn chunks_max(params: &ServerParams) -> usize {
    usize::try_from(params.replenishments_max).expect("a u32 is a usize")
}

impl Server for Sporadic {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.usage += executed;
        match event {
            ServerEvent::Unblock => {
                self.has_work = true;
                self.unblock_check(now);
            }
            ServerEvent::Dispatch { preempts } => {
                if preempts {
                    // Correction 11: the charge is made when the server takes the processor, before
                    // it executes.
                    self.usage += self.params.preemption_charge;
                }
                self.budget_check(now);
            }
            ServerEvent::Preempt | ServerEvent::Alarm => self.budget_check(now),
            ServerEvent::Block => self.block(now),
        }
    }

    fn status(&self, now: Time) -> ServerStatus {
        let budget = self.capacity(now);
        let head = self.queue.head().at;
        let alarm = (self.has_work && budget.is_zero()).then_some(head);
        ServerStatus { budget, alarm, due: head + self.params.period }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
        out.extend(self.queue.iter());
    }
}

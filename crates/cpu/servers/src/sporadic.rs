// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The corrected sporadic server.
//!
//! The budget is cut into chunks, each a cohort of unit servers that were activated together.
//! A chunk that is used up comes back a period after its own activation (Budget_Check), of one
//! that is used in part the used part does (Split_Check), and what is available when the server
//! unblocks is activated then (Unblock_Check). An overrun is borrowed from the next chunk, which
//! becomes available later by as much. So the server never executes more than a periodic task
//! with its budget and period, plus one overrun, in any window.
//!
//! # Source
//! Stanovich, dissertation, figures 6.3 to 6.5 and observations 1 to 3; preemption charge 6.6.1,
//! coalescing 6.6.3. The pseudo-code is used with twelve corrections, docs/theory/sporadic-servers.md;
//! each is named where it is used.

use tidegate_cpu_model::ServerParams;
use tidegate_model::{Duration, Time};

use super::replenishments::{Replenishment, ReplenishmentQueue};
use super::{Server, ServerEvent, Standing};

/// What becomes of the chunks when the server runs out of budget with work left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coalescing {
    /// They stay as they are.
    Never,
    /// All become one.
    Immediate,
    /// The first two become one.
    Gradual,
}

/// The corrected sporadic server, and with coalescing the two hybrids.
///
/// # Invariants
/// - The chunks sum to the budget (I1, I5), are sorted, none is zero, and there are at most
///   `replenishments_max` (I4).
/// - After every event `usage` is less than the head's amount.
#[derive(Debug, Clone)]
pub struct Sporadic {
    params: ServerParams,
    pub(super) queue: ReplenishmentQueue,
    /// Executed from the head chunk and not yet given a time to come back; or, where the head's
    /// time is still to come, borrowed from it.
    usage: Duration,
    /// The most chunks for now: coalescing lowers it until the load is light again.
    pub(super) chunks_max: usize,
    coalescing: Coalescing,
    has_work: bool,
}

impl Sporadic {
    /// A server that has all its budget.
    ///
    /// # Panics
    /// When there is no such server ([`ServerParams::checked`]).
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

    /// What may be executed now without a break, of the head chunk alone.
    fn capacity(&self, now: Time) -> Duration {
        let head = self.queue.head();
        if head.at > now {
            return Duration::ZERO;
        }
        // Usage beyond the chunk is an overrun (correction 5: capacity at most 0, not equal).
        head.amount.checked_sub(self.usage).unwrap_or_default()
    }

    /// Figure 6.3: chunks that are used up come back a period after their activation.
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

    /// Lines 8 to 15: what was executed too much is taken from the earliest part of the next
    /// chunk, as if it had been executed then.
    ///
    /// Correction 3: this also postpones a chunk that was available already, and so was no
    /// overrun; that is safe by observation 2.
    fn borrow(&mut self) {
        let head = self.queue.head();
        let at = head.at + self.usage;
        self.queue.set_head(Replenishment { at, ..head });
        // Correction 9: the head may now be later than chunks behind it, as many as there are:
        // merging keeps the order, since they move to its later time.
        while let Some(next) = self.queue.next() {
            // Correction 1: without `- usage`, units of the next chunk could be used too early,
            // by as much as was borrowed.
            if at + (self.queue.head().amount - self.usage) < next.at {
                return;
            }
            self.queue.merge_head(at);
        }
    }

    /// Figure 6.4: of a chunk that is used in part, the used part comes back a period after the
    /// activation, and the remnant is there from now on.
    fn split_check(&mut self, now: Time) {
        let head = self.queue.head();
        // Correction 6: what was borrowed from a chunk that is still to come stays with it.
        if self.usage.is_zero() || head.at > now {
            return;
        }
        let remnant = head.amount - self.usage;
        let mut used = Replenishment { at: head.at + self.params.period, amount: self.usage };
        if self.queue.len() < self.chunks_max {
            self.queue.set_head(Replenishment { at: head.at, amount: remnant });
            // Correction 12, as 9: the remnant may now be later than the next chunk.
            self.queue.postpone_head(head.at + self.usage);
            self.queue.insert(used);
        } else {
            // Correction 6: the remnant goes to the next chunk, or back with the used part where
            // there is none, which with a single chunk is a polling server.
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

    /// Figure 6.5: what is available is activated now, and what becomes available before that is
    /// used up belongs to it.
    fn unblock_check(&mut self, now: Time) {
        if self.capacity(now).is_zero() {
            return;
        }
        // Correction 7: units that were borrowed come back a little later than they could.
        let head = self.queue.head();
        self.queue.set_head(Replenishment { at: now, ..head });
        while let Some(next) = self.queue.next() {
            if next.at > now + self.capacity(now) {
                return;
            }
            self.queue.merge_head(now);
        }
    }

    /// The server blocks: with budget left the load is light, and chunks may be many again.
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
                    // Correction 11: charged when it takes the processor, before it executes.
                    self.usage += self.params.preemption_charge;
                }
                self.budget_check(now);
            }
            ServerEvent::Preempt | ServerEvent::Alarm => self.budget_check(now),
            ServerEvent::Block => self.block(now),
        }
    }

    fn standing(&self, now: Time) -> Standing {
        let budget = self.capacity(now);
        let head = self.queue.head().at;
        let alarm = (self.has_work && budget.is_zero()).then_some(head);
        Standing { budget, alarm, due: head + self.params.period }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
        out.extend(self.queue.iter());
    }
}

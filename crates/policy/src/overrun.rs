// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delays best effort after the drive has taken longer than its table says.
//!
//! Rule: suppose that a batch of n requests takes x longer than b(n) to complete. (If batches are
//! limited by cost, and the proof charges A and the costs of a batch's requests, their sum replaces
//! b(n).) Best effort is then kept off the drive for x. Real-time requests are unaffected: no batch
//! becomes larger or later, so no bound depends on this rule. In total, best effort waits no longer
//! than the drive was late.
//!
//! Source: dissertation 6.2, figure 6.3, line 9, where a server that overran its budget gets the
//! next one later by the same amount; here the rule applies to the drive.

use tidegate_model::{BatchTable, Duration, Time};

/// The instant until which best effort waits; see the module documentation.
#[derive(Debug, Default)]
pub(crate) struct Overrun {
    /// The batch table b; without a table no batch counts as late.
    table: Option<BatchTable>,
    /// The instant from which the batch on the drive is late.
    due_back: Option<Time>,
    resume: Time,
}

impl Overrun {
    /// Measures overruns by `table` from the next batch on.
    pub(crate) fn set_table(&mut self, table: BatchTable) {
        self.table = Some(table);
    }

    /// Returns whether overruns are measured.
    pub(crate) const fn is_counting(&self) -> bool {
        self.table.is_some()
    }

    /// Records the dispatch of a batch of `requests` requests, which may take `by_cost`, or
    /// b(`requests`) if batches are not limited by cost.
    pub(crate) fn send(&mut self, now: Time, requests: u32, by_cost: Option<Duration>) {
        let table = self.table.as_ref().filter(|table| requests <= table.batch_max());
        let time_max = by_cost.or_else(|| table.map(|table| table.time_max(requests)));
        let time_max = time_max.filter(|_| self.is_counting());
        self.due_back = time_max.and_then(|time_max| now.checked_add(time_max));
    }

    /// Records that the whole batch is complete.
    pub(crate) fn end(&mut self, now: Time) {
        let Some(due_back) = self.due_back.take().filter(|&due_back| due_back < now) else {
            return;
        };
        // An instant past `Time::MAX` never comes.
        let resume = now.checked_add(now.since(due_back)).unwrap_or(Time::MAX);
        self.resume = self.resume.max(resume);
    }

    /// Returns the instant at which best effort may be sent again; `None` if it may be sent now.
    pub(crate) fn wait(&self, now: Time) -> Option<Time> {
        (now < self.resume).then_some(self.resume)
    }
}

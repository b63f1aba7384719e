// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What best effort pays when the drive took longer than its table says.
//!
//! Rule: a batch of n requests that came back x later than b(n) after it was sent, or than A and
//! the costs of its requests where batches are limited by cost and the proof charges these, keeps
//! best effort off the drive for x from then on. Real time goes as ever: no batch becomes larger
//! or later for it, so no bound depends on this. Best effort waits for no longer in all than
//! the drive was late in all.
//!
//! Source: dissertation 6.2, figure 6.3, line 9, where a server that overran its budget gets
//! the next one later by as much; carried over to the drive.

use tidegate_model::{BatchTable, Duration, Time};

/// Until when best effort waits; see the module's text.
#[derive(Debug, Default)]
pub(crate) struct Overrun {
    /// b; without it nobody knows what is late.
    table: Option<BatchTable>,
    /// When the batch on the drive is late.
    due_back: Option<Time>,
    resume: Time,
}

impl Overrun {
    /// Counts by `table` from the next batch on.
    pub(crate) fn set_table(&mut self, table: BatchTable) {
        self.table = Some(table);
    }

    /// Whether it counts at all.
    pub(crate) const fn is_counting(&self) -> bool {
        self.table.is_some()
    }

    /// A batch of so many requests goes to the drive, which may take `by_cost` for it, or b of
    /// their number where nothing is said by cost.
    pub(crate) fn send(&mut self, now: Time, requests: u32, by_cost: Option<Duration>) {
        let table = self.table.as_ref().filter(|table| requests <= table.batch_max());
        let time_max = by_cost.or_else(|| table.map(|table| table.time_max(requests)));
        let time_max = time_max.filter(|_| self.is_counting());
        self.due_back = time_max.and_then(|time_max| now.checked_add(time_max));
    }

    /// All of it came back.
    pub(crate) fn end(&mut self, now: Time) {
        let Some(due_back) = self.due_back.take().filter(|&due_back| due_back < now) else {
            return;
        };
        // An instant beyond the end of time never comes.
        let resume = now.checked_add(now.since(due_back)).unwrap_or(Time::MAX);
        self.resume = self.resume.max(resume);
    }

    /// When best effort may be sent again, if not now.
    pub(crate) fn wait(&self, now: Time) -> Option<Time> {
        (now < self.resume).then_some(self.resume)
    }
}

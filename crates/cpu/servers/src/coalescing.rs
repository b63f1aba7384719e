// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The hybrids: a sporadic server while the load is light, like a polling server while it is
//! heavy.
//!
//! A burst of small jobs cuts the budget into many chunks; as long as the backlog lasts each
//! comes back alone, and each costs a preemption. Running out of budget with work left is the
//! sign of a heavy load: chunks become one. Blocking with budget left is the sign of a light one:
//! there may be as many chunks as before.
//!
//! # Source
//! Stanovich, dissertation, section 6.6.3. Correction 10: a chunk may only be moved to a later
//! time (observation 2), so both go to the later one's.

use super::replenishments::Replenishment;
use super::sporadic::{Coalescing, Sporadic};

impl Sporadic {
    /// The server ran out of budget and has work left.
    pub(super) fn coalesce(&mut self, coalescing: Coalescing) {
        match coalescing {
            Coalescing::Never => return,
            Coalescing::Immediate => self.coalesce_all(),
            Coalescing::Gradual => {
                if let Some(second) = self.queue.next() {
                    self.queue.merge_head(second.at);
                }
            }
        }
        self.chunks_max = self.queue.len();
    }

    /// One chunk at the time of the last.
    fn coalesce_all(&mut self) {
        let at = self.queue.last().at;
        while self.queue.next().is_some() {
            self.queue.merge_head(at);
        }
        let all = self.queue.head();
        self.queue.set_head(Replenishment { at, ..all });
    }
}

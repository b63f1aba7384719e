// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The hybrid servers: sporadic while the load is light, like a polling server while it is heavy.
//!
//! A burst of small jobs cuts the budget into many chunks. During a backlog each chunk is
//! replenished separately, and each costs a preemption.
//! load, so chunks are merged. Blocking with budget left indicates a light load, so as many chunks
//! as before are allowed.
//!
//! # Source
//! Stanovich, dissertation, section 6.6.3. Correction 10: a chunk can only be moved to a later
//! time (observation 2), so two merged chunks take the later time.

use super::replenishments::Replenishment;
use super::sporadic::{Coalescing, Sporadic};

impl Sporadic {
    /// Merges chunks when the server ran out of budget and has work left.
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

    /// Merges all chunks into one at the last one's time.
    fn coalesce_all(&mut self) {
        let at = self.queue.last().at;
        while self.queue.next().is_some() {
            self.queue.merge_head(at);
        }
        let all = self.queue.head();
        self.queue.set_head(Replenishment { at, ..all });
    }
}

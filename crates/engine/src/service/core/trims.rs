// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Executes trims. A trim names blocks that hold data which a client no longer needs.
//!
//! The cost of trims to other exports was not measured, so trims are executed only while no export
//! is real time and no change of the exports waits. Otherwise they succeed without effect, which
//! clients must expect because a trim is a hint. Like writes, they keep the order of overlapping
//! requests. They bypass the policy, one at a time.

use tidegate_model::RequestId;

use super::{Answered, Core, DataBackend};

impl<B: DataBackend> Core<B> {
    /// Returns whether trims are executed: no export is real time, and no switch waits.
    pub(super) fn may_trim(&self) -> bool {
        !self.is_holding_back() && self.tenants.values().all(|tenant| !tenant.is_real_time())
    }

    /// Executes a trim that no longer overlaps an earlier request.
    pub(super) fn trim(&mut self, id: RequestId) {
        if !self.may_trim() {
            self.answer_trim(id);
            return;
        }
        self.trims.push_back(id);
        if self.trims.len() == 1 {
            self.send_trim();
        }
    }

    /// Completes a trim and sends the next one.
    pub(super) fn trimmed(&mut self, id: RequestId) {
        self.trims.pop_front();
        self.answer_trim(id);
        self.send_trim();
    }

    fn answer_trim(&mut self, id: RequestId) {
        let part = self.parts.remove(&id).expect("completed once");
        let export = self.calls[part.call].as_ref().expect("a call outlives its parts").call.export;
        let tenant = self.tenants.get_mut(&export).expect("an export outlives its requests");
        tenant.statistics.outstanding -= 1;
        tenant.ordering.complete(id, |id| self.freed.push((id, export)));
        // A store that cannot deallocate keeps the data, which is not an error. A broken store also
        // fails the next write.
        self.answer_part(part, Ok(Answered::default()));
    }

    fn send_trim(&mut self) {
        if let Some(&id) = self.trims.front() {
            let request = &self.parts[&id].request;
            self.backend.trim(id, request.start, request.size);
        }
    }
}

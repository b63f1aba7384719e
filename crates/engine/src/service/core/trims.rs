// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trims: blocks that a client no longer wants.
//!
//! Nobody measured what they cost others, so they are carried out only while nothing of the service
//! has a contract; otherwise they are answered and nothing happens, which a protocol's clients
//! must expect of a hint. They keep the order of what overlaps, as writes do, and go past the
//! policy, one at a time.

use tidegate_model::RequestId;

use super::{Answered, Core, DataBackend};

impl<B: DataBackend> Core<B> {
    /// Whether a trim is carried out: no contract is there, nor about to be.
    pub(super) fn may_trim(&self) -> bool {
        !self.is_holding_back() && self.tenants.values().all(|tenant| !tenant.has_contract())
    }

    /// A trim that nothing overlaps any more.
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

    /// It came back; the next one goes.
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
        // What the store cannot give up it keeps, and that is no failure; what it cannot do any
        // more, it will say of the next write.
        self.answer_part(part, Ok(Answered::default()));
    }

    fn send_trim(&mut self) {
        if let Some(&id) = self.trims.front() {
            let request = &self.parts[&id].request;
            self.backend.trim(id, request.start, request.size);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Handles completions, from the store to the replies.

use tidegate_device::IoError;
use tidegate_model::{Class, Outcome, RequestId, Time};
use tidegate_policy::Event;

use super::super::call::{Answered, CallError};
use super::super::data_backend::{DataBackend, Returned};
use super::super::offer::ExportId;
use super::super::statistics::Lateness;
use super::{Core, LINE, OpenCall, Part};

impl<B: DataBackend> Core<B> {
    /// Takes the completions from the store and handles them; returns their instant.
    pub(super) fn take_back(&mut self) -> Result<Time, B::Error> {
        let mut returned = std::mem::take(&mut self.returned);
        self.backend.reap(&mut returned)?;
        // The clock is read after the completions were taken, so all of them are before this
        // instant.
        let now = self.backend.now();
        for Returned { id, payload, result } in returned.drain(..) {
            if let Some(members) = self.flushes.flushed(id) {
                let result = self.settle_flush(now, result);
                for id in members {
                    self.complete(now, id, result);
                }
                continue;
            }
            if self.trims.front() == Some(&id) {
                self.trimmed(id);
                continue;
            }
            let part = self.parts.get_mut(&id).expect("the store returns what it was given");
            part.data = payload;
            part.result = result;
            if part.request.fua {
                if let Some(flush) = self.flushes.written(id) {
                    self.backend.flush(flush);
                }
            } else {
                self.complete(now, id, Ok(()));
            }
        }
        self.returned = returned;
        self.watch.look(now);
        Ok(now)
    }

    /// Restores the guarantee if nothing that was late can delay a later request. Every call that
    /// has arrived must be known.
    pub(super) fn stand_again_if_settled(&mut self, now: Time) {
        if self.watch.may_stand_again(now) {
            let has_timed_all = self.watch.has_timed_all();
            let tenants = self.tenants.values_mut();
            // Every export is checked, including those after the first one that stays degraded.
            let still_degraded =
                tenants.filter_map(|it| (!it.stand_again(has_timed_all)).then_some(()));
            self.watch.stand_again(now, still_degraded.count() == 0);
        }
    }

    /// Returns the result of a flush. No flush succeeds after a failed one, even if it was
    /// requested or sent before the failure: the kernel reports a failure only once, and data that
    /// the later flush covers can be lost.
    fn settle_flush(&mut self, now: Time, result: Result<(), IoError>) -> Result<(), CallError> {
        if self.is_flush_broken {
            return Err(CallError::FlushBroken);
        }
        if let Err(error) = result {
            self.is_flush_broken = true;
            self.watch.flush_failed(now, error);
        }
        result.map_err(CallError::from)
    }

    /// Completes a request; `also` is the result of the flush that covers the request.
    pub(super) fn complete(&mut self, now: Time, id: RequestId, also: Result<(), CallError>) {
        let part = self.parts.remove(&id).expect("completed once");
        let result = part.result.map_err(CallError::from).and(also);
        let outcome = if result.is_ok() { Outcome::Done } else { Outcome::Failed };
        self.watch.completed(now, &part.request, outcome);
        self.round.tell(now, Event::Complete { id, outcome });
        let export = self.calls[part.call].as_ref().expect("a call outlives its parts").call.export;
        self.watch.report(now, export, &part.request, outcome);
        let mut late = Lateness::default();
        if part.request.class == Class::BestEffort {
            self.admitted -= 1;
        } else {
            self.advance_line(export);
            if part.admission.due.is_some() {
                late = self.watch.kept(now, part.admission.eligible);
            }
        }
        let tenant = self.tenants.get_mut(&export).expect("an export outlives its requests");
        tenant.statistics.outstanding -= 1;
        tenant.statistics.failed += u64::from(result.is_err());
        if result.is_ok() {
            tenant.answered(now, part.request.released, part.admission, late);
            if tenant.statistics.is_degraded {
                self.watch.exceeded(now);
            }
            let bytes = if part.is_flush { 0 } else { part.request.size.get() };
            tenant.statistics.bytes += bytes;
        }
        tenant.ordering.complete(id, |id| self.freed.push((id, export)));
        let is_within_contract = part.admission.class != Class::BestEffort
            && part.admission.eligible == part.request.released;
        let answered =
            Answered { response: now.since(part.admission.eligible), is_within_contract };
        self.answer_part(part, result.map(|()| answered));
    }

    /// Returns the memory to the call; after the last part, sends the reply.
    pub(super) fn answer_part(&mut self, part: Part, result: Result<Answered, CallError>) {
        let place = part.call;
        let open = self.calls[place].as_mut().expect("a call outlives its parts");
        open.call.parts[part.index].data = part.data;
        open.result = match (open.result, result) {
            (Ok(others), Ok(answered)) => Ok(others.and(answered)),
            (Err(first), _) | (Ok(_), Err(first)) => Err(first),
        };
        open.parts_left -= 1;
        if open.parts_left == 0 {
            let OpenCall { call, result, .. } = self.calls[place].take().expect("just seen");
            self.free_calls.push(place);
            self.replies.extend(call.answer.give(result, call.parts));
        }
    }

    /// After a contract's request completes, prepares the next request in its export's queue for an
    /// offer.
    fn advance_line(&mut self, export: ExportId) {
        let tenant = self.tenants.get_mut(&export).expect("an export outlives its requests");
        tenant.admitted -= 1;
        self.move_up(export);
    }

    /// Prepares requests of an export's queue for an offer, up to the policy's room.
    pub(super) fn move_up(&mut self, export: ExportId) {
        let room = self.room;
        while let Some(next) = self.tenants.get_mut(&export).and_then(|it| it.next_in_line(room)) {
            self.number(next);
            self.round.hold(LINE, next);
        }
    }
}

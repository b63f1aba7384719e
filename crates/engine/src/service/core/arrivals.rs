// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Handles arriving calls, from their arrival to the offer to the policy.

use tidegate_device::IoBuffer;
use tidegate_model::{Class, Lba, Op, Request, RequestId, Tag, Time};

use super::super::call::{Answered, Call, CallError, CallKind};
use super::super::data_backend::DataBackend;
use super::super::offer::ExportId;
use super::super::tenant::{Admission, Tenant};
use super::{Core, ITERATION_PARTS, LINE, OpenCall, Part};

impl<B: DataBackend> Core<B> {
    /// Reads new calls: all those of real-time exports, then other calls up to the limit of one
    /// iteration.
    pub(super) fn read(&mut self, now: Time, calls: impl Iterator<Item = Call>) {
        for call in calls {
            if self.tenants.get(&call.export).is_some_and(Tenant::is_real_time) {
                self.open(now, call);
            } else {
                self.unread.push_back(call);
            }
        }
        let mut parts = 0;
        while parts < ITERATION_PARTS
            && let Some(call) = self.unread.pop_front()
        {
            parts += call.parts.len();
            self.open(now, call);
        }
    }

    /// Opens a new call, and releases the parts that can be released.
    fn open(&mut self, now: Time, mut call: Call) {
        if self.tenants.get(&call.export).is_none_or(|tenant| tenant.is_closed) {
            self.replies.extend(call.answer.give(Err(CallError::Removed), call.parts));
            return;
        }
        let is_durable =
            matches!(call.kind, CallKind::Flush | CallKind::Write { is_durable: true });
        if is_durable && self.is_flush_broken {
            self.replies.extend(call.answer.give(Err(CallError::FlushBroken), call.parts));
            return;
        }
        if call.kind == CallKind::Trim && !self.may_trim() {
            // A trim is only a hint and must not delay in-contract requests.
            self.replies.extend(call.answer.give(Ok(Answered::default()), call.parts));
            return;
        }
        let (export, kind, released) = (call.export, call.kind, call.released);
        let parts: Vec<(Lba, tidegate_model::Bytes, Option<IoBuffer>)> =
            call.parts.iter_mut().map(|part| (part.start, part.size, part.data.take())).collect();
        let parts_left = parts.len();
        let place = self.free_calls.pop().unwrap_or_else(|| {
            self.calls.push(None);
            self.calls.len() - 1
        });
        self.calls[place] = Some(OpenCall { call, parts_left, result: Ok(Answered::best()) });
        for (index, (start, size, data)) in parts.into_iter().enumerate() {
            let id = RequestId(self.next_id);
            self.next_id += 1;
            let tenant = self.tenants.get_mut(&export).expect("it is open");
            tenant.statistics.outstanding += 1;
            tenant.statistics.flushes += u64::from(is_durable);
            let op = if kind == CallKind::Read { Op::Read } else { Op::Write };
            let request = Request {
                id,
                task: tenant.task,
                class: Class::BestEffort,
                released,
                eligible: released,
                due: None,
                op,
                start,
                size,
                fua: is_durable,
                optional: false,
                tag: Tag::Simple,
            };
            let (is_flush, is_trim) = (kind == CallKind::Flush, kind == CallKind::Trim);
            let admission = Admission { class: Class::BestEffort, eligible: released, due: None };
            // A flush covers only writes that completed before it, so it waits for no request.
            let is_free = is_flush || tenant.ordering.admit(id, op, start, size);
            let (offered, result) = (None, Ok(()));
            let call = place;
            let part =
                Part { request, call, index, admission, offered, is_flush, is_trim, data, result };
            self.parts.insert(id, part);
            if is_free {
                self.release(now, released, id, export);
            }
        }
    }

    /// Releases a request that no longer overlaps an earlier one, at the instant `since`. The
    /// contract is charged only now, because a client's own ordering must not delay other exports.
    pub(super) fn release(&mut self, now: Time, since: Time, id: RequestId, export: ExportId) {
        if self.parts[&id].is_trim {
            self.trim(id);
            return;
        }
        let tenant = self.tenants.get_mut(&export).expect("an export outlives its requests");
        let part = self.parts.get_mut(&id).expect("it is outstanding");
        let admission = tenant.admit(since, part.request.op, self.host.unwrap_or_default());
        part.admission = admission;
        let request = &mut part.request;
        (request.class, request.due) = (admission.class, admission.due);
        (request.released, request.eligible) = (since, admission.eligible);
        if self.host.is_some() {
            // If the proof includes the host's time, contracts count from when the policy sees a
            // request.
            let late = now.since(admission.eligible);
            request.eligible = admission.eligible.max(now);
            request.due = admission.due.and_then(|due| due.checked_add(late));
        }
        let size = request.size;
        if admission.class == Class::BestEffort {
            self.shares.push(export, id, size);
            return;
        }
        if admission.due.is_some() {
            self.watch.promised(now, since, admission.eligible);
        }
        if tenant.line.is_empty() && tenant.admitted < self.room {
            tenant.admitted += 1;
            self.offer(now, id);
        } else {
            tenant.line.push_back(id);
        }
    }

    pub(super) fn offer(&mut self, now: Time, id: RequestId) {
        let request = self.number(id);
        self.round.release(now, LINE, &request);
    }

    /// Assigns a request its sequence number among the offers.
    pub(super) fn number(&mut self, id: RequestId) -> Request {
        let part = self.parts.get_mut(&id).expect("it is outstanding");
        part.offered = Some(self.offers);
        self.offers += 1;
        part.request
    }
}

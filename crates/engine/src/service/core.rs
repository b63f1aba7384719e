// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The service without its thread: calls in, answers out, a policy deciding between.
//!
//! ```text
//!   call -> parts -> ordering -> contract --real time----------------> policy --batch--> backing
//!                                   |                                    ^
//!                                   +--best effort--> shares --window----+
//!   batch: writes that must be durable, flushes  -- its writes done --> one flush --> answers
//! ```
//!
//! All that asks for durability in one batch shares one flush behind it, so that a batch costs
//! b(n) and at most one flush more, whoever asked: that is what the proof charges.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use device::{IoBuffer, IoError};
use model::{Class, Lba, Op, Outcome, Request, RequestId, Tag, Time};
use policy::{Decision, Event, NoticeKind, Policy};

use super::backing::{Backing, Move, Moved};
use super::call::{Call, CallError, CallKind, CallPart};
use super::rounds::Rounds;
use super::shares::Shares;
use super::statistics::{ServiceStatistics, Watch};
use super::tenant::{Admission, Tenant};
use model::ExportSpec;

/// One request of a call.
#[derive(Debug)]
struct Part {
    request: Request,
    /// Place of its call, and its place in it.
    call: usize,
    index: usize,
    admission: Admission,
    is_flush: bool,
    data: Option<IoBuffer>,
    result: Result<(), IoError>,
}

/// A call that is not answered.
#[derive(Debug)]
struct OpenCall {
    call: Call,
    parts_left: usize,
    result: Result<(), CallError>,
}

/// The service; see the module's text.
pub(crate) struct Core<B> {
    backing: B,
    policy: Box<dyn Policy>,
    tenants: Vec<Tenant>,
    calls: Vec<Option<OpenCall>>,
    free_calls: Vec<usize>,
    parts: HashMap<RequestId, Part>,
    shares: Shares,
    /// Best-effort requests that the policy may know of at once, and does.
    window: usize,
    shown: usize,
    /// What the policy had no room for, oldest first.
    held: VecDeque<RequestId>,
    rounds: Rounds,
    next_id: u64,
    not_before: Option<Time>,
    is_flush_broken: bool,
    watch: Watch,
    /// Scratch, empty between turns.
    moved: Vec<Moved>,
    batch: Vec<Move>,
    dispatched: Vec<Request>,
    /// Requests that nothing overlaps any more, with their exports.
    freed: Vec<(RequestId, usize)>,
}

impl<B: Backing> Core<B> {
    pub(crate) fn new(
        backing: B,
        policy: Box<dyn Policy>,
        exports: &[ExportSpec],
        window: usize,
        watch: Watch,
    ) -> Self {
        let mut shares = Shares::default();
        for ExportSpec { share, .. } in exports {
            shares.add_lane(share.weight, share.limit);
        }
        Self {
            backing,
            policy,
            tenants: tenants(exports),
            calls: Vec::new(),
            free_calls: Vec::new(),
            parts: HashMap::new(),
            shares,
            window,
            shown: 0,
            held: VecDeque::new(),
            rounds: Rounds::default(),
            next_id: 0,
            not_before: None,
            is_flush_broken: false,
            watch,
            moved: Vec::new(),
            batch: Vec::new(),
            dispatched: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// Everything that happens now: what came back first, then what was asked for.
    pub(crate) fn turn(&mut self, calls: impl Iterator<Item = Call>) {
        let now = self.take_back();
        // A policy observes what came back before what is new.
        let mut freed = std::mem::take(&mut self.freed);
        for (id, export) in freed.drain(..) {
            self.release(now, now, id, export);
        }
        self.freed = freed;
        for call in calls {
            self.open(now, call);
        }
        loop {
            self.show(now);
            if !self.decide(now) {
                return;
            }
        }
    }

    /// Blocks until the next turn.
    ///
    /// # Errors
    /// When the means of waiting fail.
    pub(crate) fn wait(&mut self) -> Result<(), device::RingError> {
        let opens = self.shares.opens().filter(|_| self.shown < self.window);
        let until = [self.not_before, opens, self.watch.stalls_at()].into_iter().flatten().min();
        self.backing.wait(until)
    }

    /// Whether everything is answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.parts.is_empty() && self.rounds.is_empty()
    }

    /// What a client says about its own service.
    pub(crate) fn notice(&mut self, export: usize, kind: NoticeKind) {
        let (now, task) = (self.backing.now(), self.tenants[export].task);
        self.tell(now, Event::Notice { task, kind });
    }

    /// What was seen so far, of these exports.
    pub(crate) fn statistics_of(&self, exports: Range<usize>) -> ServiceStatistics {
        let now = self.backing.now();
        let exports = self.tenants[exports].iter().map(|tenant| tenant.seen(now)).collect();
        self.watch.statistics(now, exports)
    }

    /// Takes note of what came back; the instant at which that was.
    fn take_back(&mut self) -> Time {
        let mut moved = std::mem::take(&mut self.moved);
        self.backing.reap(&mut moved);
        // Read after reaping: what came back did so before this instant.
        let now = self.backing.now();
        for Moved { id, data, result } in moved.drain(..) {
            if let Some(members) = self.rounds.flushed(id) {
                let result = self.settle_flush(now, result);
                for id in members {
                    self.complete(now, id, result);
                }
                continue;
            }
            let part = self.parts.get_mut(&id).expect("the store returns what it was given");
            part.data = data;
            part.result = result;
            if part.request.fua {
                if let Some(flush) = self.rounds.written(id) {
                    self.backing.flush(flush);
                }
            } else {
                self.complete(now, id, Ok(()));
            }
        }
        self.moved = moved;
        self.watch.look(now);
        now
    }

    /// What came of a flush. None is good after one that failed, also if it was asked for or sent
    /// before that: the failure is told once, and what was to be durable may have gone with it.
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

    /// A new call: its parts go as far as they may.
    fn open(&mut self, now: Time, mut call: Call) {
        let is_durable =
            !matches!(call.kind, CallKind::Read | CallKind::Write { is_durable: false });
        if is_durable && self.is_flush_broken {
            call.answer.give(Err(CallError::FlushBroken), call.parts);
            return;
        }
        let (export, kind, released) = (call.export, call.kind, call.released);
        let parts: Vec<(Lba, model::Bytes, Option<IoBuffer>)> =
            call.parts.iter_mut().map(|part| (part.start, part.size, part.data.take())).collect();
        let parts_left = parts.len();
        let place = self.free_calls.pop().unwrap_or_else(|| {
            self.calls.push(None);
            self.calls.len() - 1
        });
        self.calls[place] = Some(OpenCall { call, parts_left, result: Ok(()) });
        for (index, (start, size, data)) in parts.into_iter().enumerate() {
            let id = RequestId(self.next_id);
            self.next_id += 1;
            let tenant = &mut self.tenants[export];
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
            let is_flush = kind == CallKind::Flush;
            let admission = Admission { class: Class::BestEffort, eligible: released, due: None };
            let part =
                Part { request, call: place, index, admission, is_flush, data, result: Ok(()) };
            self.parts.insert(id, part);
            // A flush covers what was answered before it: it waits for nothing.
            if is_flush || self.tenants[export].ordering.admit(id, op, start, size) {
                self.release(now, released, id, export);
            }
        }
    }

    /// A request that nothing overlaps any more, since that instant: only now the contract
    /// counts, for a tenant's own order delays nobody but itself.
    fn release(&mut self, now: Time, since: Time, id: RequestId, export: usize) {
        let admission = self.tenants[export].admit(since);
        let part = self.parts.get_mut(&id).expect("it is outstanding");
        part.admission = admission;
        let request = &mut part.request;
        (request.class, request.due) = (admission.class, admission.due);
        (request.released, request.eligible) = (since, since);
        let request = *request;
        if request.class == Class::BestEffort {
            self.shares.push(export, id, request.size);
        } else {
            self.offer(now, request);
        }
    }

    fn offer(&mut self, now: Time, request: Request) {
        let is_behind = !self.held.is_empty();
        if is_behind || self.policy.observe(now, Event::Release(request)).is_err() {
            self.held.push_back(request.id);
        }
    }

    /// Fills the window with best effort, and offers again what there was no room for.
    fn show(&mut self, now: Time) {
        while let Some(&id) = self.held.front() {
            if self.policy.observe(now, Event::Release(self.parts[&id].request)).is_err() {
                return;
            }
            self.held.pop_front();
        }
        while self.shown < self.window
            && let Some(id) = self.shares.pop(now)
        {
            self.shown += 1;
            self.offer(now, self.parts[&id].request);
        }
    }

    /// One round: asks until the policy has no more to dispatch, then submits it all; whether
    /// it dispatched anything.
    fn decide(&mut self, now: Time) -> bool {
        self.not_before = loop {
            match self.policy.decide(now) {
                Decision::Dispatch { id, tag } => {
                    let part = self.parts.get_mut(&id).expect("the policy names what it was given");
                    part.request.tag = tag;
                    self.dispatched.push(part.request);
                }
                Decision::Drop(id) => panic!("{id:?} was dropped, and no export allows it"),
                Decision::NotBefore(at) => {
                    assert!(at > now, "the policy asks to be asked in the past");
                    break Some(at);
                }
                Decision::AwaitEvent => break None,
            }
        };
        if self.dispatched.is_empty() {
            return false;
        }
        self.submit();
        true
    }

    fn submit(&mut self) {
        self.watch.dispatched(self.backing.now(), &self.dispatched);
        for request in self.dispatched.drain(..) {
            let part = self.parts.get_mut(&request.id).expect("just dispatched");
            if request.fua {
                self.rounds.add(request.id, part.is_flush);
            }
            if let Some(data) = part.data.take() {
                self.batch.push(Move { request, data });
            }
        }
        self.backing.submit(&mut self.batch);
        if let Some(flush) = self.rounds.close() {
            self.backing.flush(flush);
        }
    }

    /// A request is done with, `also` being what came of the flush behind it.
    fn complete(&mut self, now: Time, id: RequestId, also: Result<(), CallError>) {
        let part = self.parts.remove(&id).expect("completed once");
        let result = part.result.map_err(CallError::from).and(also);
        let outcome = if result.is_ok() { Outcome::Done } else { Outcome::Failed };
        self.watch.completed(now, &part.request, outcome);
        self.shown -= usize::from(part.request.class == Class::BestEffort);
        self.tell(now, Event::Complete { id, outcome });
        let export = self.calls[part.call].as_ref().expect("a call outlives its parts").call.export;
        let tenant = &mut self.tenants[export];
        tenant.statistics.outstanding -= 1;
        tenant.statistics.failed += u64::from(result.is_err());
        if result.is_ok() {
            tenant.answered(now, part.request.released, part.admission);
            let bytes = if part.is_flush { 0 } else { part.request.size.get() };
            tenant.statistics.bytes += bytes;
        }
        tenant.ordering.complete(id, |id| self.freed.push((id, export)));
        self.answer_part(part, result);
    }

    /// Gives the memory back to the call, and with the last part its answer.
    fn answer_part(&mut self, part: Part, result: Result<(), CallError>) {
        let place = part.call;
        let open = self.calls[place].as_mut().expect("a call outlives its parts");
        open.call.parts[part.index].data = part.data;
        open.result = open.result.and(result);
        open.parts_left -= 1;
        if open.parts_left == 0 {
            let OpenCall { call, result, .. } = self.calls[place].take().expect("just seen");
            self.free_calls.push(place);
            call.answer.give(result, call.parts);
        }
    }

    fn tell(&mut self, now: Time, event: Event) {
        assert_eq!(self.policy.observe(now, event), Ok(()), "a policy is full to releases only");
    }
}

/// For tests in virtual time.
#[cfg(any(test, feature = "harness"))]
impl<B: Backing> Core<B> {
    pub(crate) fn statistics(&self) -> ServiceStatistics {
        self.statistics_of(0..self.tenants.len())
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }

    pub(crate) fn backing_mut(&mut self) -> &mut B {
        &mut self.backing
    }

    /// [`Self::wait`], no longer than until `sooner`.
    pub(crate) fn wait_until(&mut self, sooner: Option<Time>) {
        let opens = self.shares.opens().filter(|_| self.shown < self.window);
        let until = [self.not_before, opens, sooner, self.watch.stalls_at()];
        self.backing.wait(until.into_iter().flatten().min()).expect("waiting cannot fail here");
    }

    /// Overlapping requests are no longer kept in order.
    pub(crate) fn disorder(&mut self) {
        self.tenants.iter_mut().for_each(|tenant| tenant.ordering.is_off = true);
    }
}

/// Exports with contracts are the tasks of the plan, in order; all others come after them.
fn tenants(exports: &[ExportSpec]) -> Vec<Tenant> {
    let with_contract = exports.iter().filter(|export| export.contract.is_some()).count();
    let (mut tasks, mut others) = (0.., with_contract..);
    let index = |number: Option<usize>| {
        let number = number.expect("an endless count");
        model::TaskIndex(u32::try_from(number).expect("fewer exports than 2^32"))
    };
    exports
        .iter()
        .map(|export| match &export.contract {
            Some(contract) => Tenant::new(index(tasks.next()), Some(contract.clone())),
            None => Tenant::new(index(others.next()), None),
        })
        .collect()
}

/// Memory of a call's parts, without the parts.
pub(crate) fn memory(parts: Vec<CallPart>) -> impl Iterator<Item = IoBuffer> {
    parts.into_iter().filter_map(|part| part.data)
}

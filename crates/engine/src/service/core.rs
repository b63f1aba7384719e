// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The service without its thread: a host of the policy whose requests come from clients' calls.
//!
//! ```text
//!   call -> parts -> ordering -> contract --real time----------------> policy --batch--> backend
//!    |   ^                          |                                    ^
//!  unread: no contract              +--best effort--> shares --window----+
//!   batch: durable writes, flushes  -- its writes complete --> one flush --> replies
//! ```
//!
//! The durable writes and flushes of one batch share one flush after it, so that a batch costs at
//! most b(n) plus one flush, as the proof assumes.

mod arrivals;
mod departures;
mod switch;
mod trims;

use std::collections::{BTreeMap, HashMap, VecDeque};

#[cfg(any(test, feature = "harness"))]
use std::convert::Infallible;

use tidegate_device::{IoBuffer, IoError};
#[cfg(any(test, feature = "harness"))]
use tidegate_host::Backend;
use tidegate_host::{Requests, Round};
use tidegate_model::{HostTime, Request, RequestId, Tag, TaskIndex, Time};
use tidegate_policy::{Event, NoticeKind, Policy};

use super::call::{Answered, Call, CallError, CallPart, OperationReply};
use super::data_backend::{DataBackend, Returned};
use super::flush_groups::FlushGroups;
use super::offer::{ExportId, Member};
use super::shares::Shares;
use super::statistics::{ServiceStatistics, Watch};
use super::tenant::{Admission, Sent, Tenant};

pub(crate) use self::switch::{GivenUp, Successor, Switch};

/// The number of parts of exports without real-time requests after which an iteration accepts no
/// more of their calls.
pub(crate) const ITERATION_PARTS: usize = 64;

/// The one queue in which all requests wait for room; they are offered in the order of their
/// numbers.
const LINE: TaskIndex = TaskIndex(0);

/// One request of a call.
#[derive(Debug)]
struct Part {
    request: Request,
    /// The index of the part's call, and the part's index in the call.
    call: usize,
    index: usize,
    admission: Admission,
    /// The sequence number of its offer to the policy; `None` until it is offered.
    offered: Option<u64>,
    is_flush: bool,
    is_trim: bool,
    data: Option<IoBuffer>,
    result: Result<(), IoError>,
}

/// A call that has not been answered yet.
#[derive(Debug)]
struct OpenCall {
    call: Call,
    parts_left: usize,
    result: Result<Answered, CallError>,
}

/// The state of a service, without its thread.
pub(crate) struct Core<B> {
    backend: B,
    round: Round<Box<dyn Policy>, IoBuffer>,
    tenants: BTreeMap<ExportId, Tenant>,
    /// Calls of exports without real-time requests that no iteration has handled yet.
    unread: VecDeque<Call>,
    calls: Vec<Option<OpenCall>>,
    free_calls: Vec<usize>,
    parts: HashMap<RequestId, Part>,
    shares: Shares,
    /// The number of best-effort requests that the policy can hold (`window`), and the number that
    /// it holds now (`admitted`).
    window: usize,
    admitted: usize,
    /// The number of requests of one contract that the policy can hold: the policy's room, shared
    /// evenly, so that no export's queue takes the others' room.
    room: usize,
    flushes: FlushGroups,
    /// Trims that overlap no earlier request; the first one is in flight.
    trims: VecDeque<RequestId>,
    next_id: u64,
    /// The number of requests that were offered to the policy.
    offers: u64,
    /// A switch to another set of exports, which waits for a quiet instant.
    switch: Option<Switch>,
    is_winding_down: bool,
    is_flush_broken: bool,
    watch: Watch,
    /// The host's time, if the serve file states it.
    host: Option<HostTime>,
    /// Replies to clients that the service's thread itself serves.
    replies: Vec<OperationReply>,
    /// A scratch list, empty between iterations.
    returned: Vec<Returned>,
    /// Requests that no longer overlap an earlier one, with their exports.
    freed: Vec<(RequestId, ExportId)>,
    /// Whether a switch can happen between two batches, for tests that must detect this fault.
    #[cfg(test)]
    is_hasty: bool,
}

impl<B: DataBackend> Core<B> {
    /// Sets the host's time: the policy then gets each contract with the period and deadline that
    /// remain behind the host.
    pub(crate) fn behind_host(self, host: Option<HostTime>) -> Self {
        Self { host, ..self }
    }

    pub(crate) fn new(
        backend: B,
        policy: Box<dyn Policy>,
        members: &[Member],
        window: usize,
        watch: Watch,
    ) -> Self {
        let mut core = Self {
            backend,
            round: Round::new(policy, 0),
            tenants: BTreeMap::new(),
            unread: VecDeque::new(),
            calls: Vec::new(),
            free_calls: Vec::new(),
            parts: HashMap::new(),
            shares: Shares::default(),
            window,
            admitted: 0,
            room: 0,
            flushes: FlushGroups::default(),
            trims: VecDeque::new(),
            next_id: 0,
            offers: 0,
            switch: None,
            is_winding_down: false,
            is_flush_broken: false,
            watch,
            host: None,
            replies: Vec::new(),
            returned: Vec::new(),
            freed: Vec::new(),
            #[cfg(test)]
            is_hasty: false,
        };
        core.enrol(members);
        core
    }

    /// Runs one iteration: handles the completions, then `calls`, and lets the policy decide.
    /// Returns the iteration's instant.
    ///
    /// Calls of exports without real-time requests come last, and no more of them are opened once
    /// [`ITERATION_PARTS`] of their requests were, so that in-contract requests are dispatched
    /// first. Contracts are charged in the order of arrival: a call that arrived before this
    /// instant and is not among `calls` counts as if it had arrived at this instant.
    ///
    /// # Errors
    /// If a submission to the store fails.
    pub(crate) fn iterate(&mut self, calls: impl Iterator<Item = Call>) -> Result<Time, B::Error> {
        // A policy observes completions before new requests.
        let now = self.take_back()?;
        self.watch.turned(now, self.round.not_before());
        self.read(now, calls);
        // Requests that no longer overlap are released only now, after the new calls.
        while !self.freed.is_empty() {
            let mut freed = std::mem::take(&mut self.freed);
            for (id, export) in freed.drain(..) {
                self.release(now, now, id, export);
            }
            // If requests were freed meanwhile, they are handled next; otherwise the list is
            // reused.
            if self.freed.is_empty() {
                self.freed = freed;
            }
        }
        self.stand_again_if_settled(now);
        self.switch_if_quiet(now);
        loop {
            self.admit_more(now);
            if !self.decide(now)? {
                return Ok(now);
            }
        }
    }

    /// Blocks until the next iteration, at most until `sooner`.
    ///
    /// # Errors
    /// If the wait on the store fails.
    pub(crate) fn wait(&mut self, sooner: Option<Time>) -> Result<(), B::Error> {
        let until = [self.next_iteration(), sooner].into_iter().flatten().min();
        self.backend.wait(until)
    }

    /// Moves the replies for clients that the service's thread itself serves to the end of
    /// `replies`.
    pub(crate) fn take_replies(&mut self, replies: &mut Vec<OperationReply>) {
        replies.append(&mut self.replies);
    }

    /// Returns the time since the service started.
    pub(crate) fn now(&self) -> Time {
        self.backend.now()
    }

    /// Returns the store.
    pub(crate) fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Records that a reply was sent to its client.
    pub(crate) fn sent(&mut self, export: ExportId, sent: &Sent) {
        // The export may have been removed meanwhile.
        if let Some(tenant) = self.tenants.get_mut(&export) {
            tenant.sent(sent);
        }
    }

    /// Returns the instant of the next iteration if no event comes before.
    fn next_iteration(&self) -> Option<Time> {
        if !self.unread.is_empty() {
            return Some(Time::ZERO);
        }
        // While the round holds back a request without room, nothing is offered before a
        // completion.
        let may_admit =
            self.admitted < self.window && !self.round.is_holding() && !self.is_holding_back();
        let opens = self.shares.opens().filter(|_| may_admit);
        [self.round.not_before(), opens, self.switch_until(), self.watch.stalls_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns whether all calls have been answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.unread.is_empty() && self.parts.is_empty() && self.flushes.is_empty()
    }

    /// Passes a client's notice to the policy.
    pub(crate) fn notice(&mut self, export: ExportId, kind: NoticeKind) {
        let now = self.backend.now();
        // The export may have been removed meanwhile.
        let Some(tenant) = self.tenants.get(&export) else { return };
        if !tenant.is_soft() {
            return;
        }
        let task = tenant.task;
        self.round.tell(now, Event::Notice { task, kind });
    }

    /// Closes an export to new calls.
    pub(crate) fn close(&mut self, export: ExportId) {
        if let Some(tenant) = self.tenants.get_mut(&export) {
            tenant.is_closed = true;
        }
    }

    /// Returns the statistics of these exports; those of removed exports are empty.
    pub(crate) fn statistics_of(&self, exports: &[ExportId]) -> ServiceStatistics {
        let now = self.backend.now();
        let seen = |id: &ExportId| self.tenants.get(id).map(|tenant| tenant.seen(now));
        let exports = exports.iter().map(|id| seen(id).unwrap_or_default()).collect();
        self.watch.statistics(now, exports)
    }

    /// Fills the window with best-effort requests, and offers held requests again.
    fn admit_more(&mut self, now: Time) {
        let Self { round, parts, flushes, watch, .. } = self;
        round.offer_held(now, &mut Outgoing { parts, flushes, watch });
        if self.round.is_holding() {
            return;
        }
        while self.admitted < self.window
            && !self.is_holding_back()
            && let Some(id) = self.shares.pop(now)
        {
            self.admitted += 1;
            self.offer(now, id);
        }
    }

    /// Runs one round, then the flush of its batch; returns whether the policy dispatched anything.
    fn decide(&mut self, now: Time) -> Result<bool, B::Error> {
        let Self { backend, round, parts, flushes, watch, .. } = self;
        let is_any = round.decide(now, backend, &mut Outgoing { parts, flushes, watch })?;
        if let Some(flush) = self.flushes.close() {
            self.backend.flush(flush);
        }
        Ok(is_any)
    }
}

/// The outstanding requests of a service, as one of its rounds uses them.
struct Outgoing<'a> {
    parts: &'a mut HashMap<RequestId, Part>,
    flushes: &'a mut FlushGroups,
    watch: &'a mut Watch,
}

impl Outgoing<'_> {
    fn part(&mut self, id: RequestId) -> &mut Part {
        self.parts.get_mut(&id).expect("the policy uses requests that it was given")
    }
}

impl Requests for Outgoing<'_> {
    type Payload = IoBuffer;

    fn released(&mut self, id: RequestId) -> Request {
        self.part(id).request
    }

    fn dispatch(&mut self, id: RequestId, tag: Tag) -> Request {
        let part = self.part(id);
        part.request.tag = tag;
        part.request
    }

    fn drop_queued(&mut self, _now: Time, id: RequestId) {
        panic!("{id:?} was dropped, but no export has a policy that drops requests");
    }

    /// A flush moves no data: the drive gets one flush for the whole batch, after the batch's
    /// writes are complete.
    fn submitted(&mut self, now: Time, batch: &mut Vec<Request>, payloads: &mut Vec<IoBuffer>) {
        self.watch.dispatched(now, batch);
        batch.retain(|request| {
            let part = self.part(request.id);
            let (is_flush, data) = (part.is_flush, part.data.take());
            if request.fua {
                self.flushes.add(request.id, is_flush);
            }
            let moves_data = data.is_some();
            payloads.extend(data);
            moves_data
        });
    }
}

/// Helpers for tests in virtual time.
#[cfg(any(test, feature = "harness"))]
impl<B: DataBackend> Core<B> {
    pub(crate) fn statistics(&self) -> ServiceStatistics {
        self.statistics_of(&self.tenants.keys().copied().collect::<Vec<_>>())
    }

    /// Does the same as [`Self::iterate`] on a store that cannot fail.
    pub(crate) fn run_iteration(&mut self, calls: impl Iterator<Item = Call>) -> Time
    where
        B: Backend<Error = Infallible>,
    {
        let Ok(now) = self.iterate(calls);
        now
    }

    pub(crate) fn backend(&self) -> &B {
        &self.backend
    }

    /// Does the same as [`Self::wait`] on a store that cannot fail.
    pub(crate) fn wait_until(&mut self, sooner: Option<Time>) {
        assert!(self.wait(sooner).is_ok(), "waiting cannot fail here");
    }

    /// Returns the number of parts opened so far.
    #[cfg(test)]
    pub(crate) fn opened(&self) -> u64 {
        self.next_id
    }

    /// Returns the number of an export's parts with which a new part is compared.
    #[cfg(test)]
    pub(crate) fn in_order(&self, export: ExportId) -> usize {
        self.tenants[&export].ordering.len()
    }

    /// Makes overlapping requests lose their order, as a fault for tests.
    pub(crate) fn disorder(&mut self) {
        self.tenants.values_mut().for_each(|tenant| tenant.ordering.is_off = true);
    }

    /// Limits the policy's room to `room` requests of all contracts together.
    #[cfg(test)]
    pub(crate) fn narrow(&mut self, room: usize) {
        self.room = room / self.real_time_count();
    }

    /// Makes switches happen without waiting for requests that contracts allowed before them, as a
    /// fault for tests.
    #[cfg(test)]
    pub(crate) fn hasten(&mut self) {
        self.is_hasty = true;
    }
}

/// Returns the memory of a call's parts.
pub(crate) fn memory(parts: Vec<CallPart>) -> impl Iterator<Item = IoBuffer> {
    parts.into_iter().filter_map(|part| part.data)
}

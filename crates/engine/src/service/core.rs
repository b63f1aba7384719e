// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The service without its thread: a host of the policy whose requests come from clients' calls.
//!
//! ```text
//!   call -> parts -> ordering -> contract --real time----------------> policy --batch--> back end
//!    |   ^                          |                                    ^
//!  unread: no contract              +--best effort--> shares --window----+
//!   batch: writes that must be durable, flushes  -- its writes done --> one flush --> answers
//! ```
//!
//! Requests of one batch that ask for durability share one flush behind it, so that a batch costs at
//! most b(n) and one flush: that is what the proof charges.

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
use tidegate_model::{Request, RequestId, Tag, TaskIndex, Time};
use tidegate_policy::{Event, NoticeKind, Policy};

use super::call::{Answered, Call, CallError, CallPart};
use super::data_backend::{DataBackend, Returned};
use super::flush_groups::FlushGroups;
use super::offer::{ExportId, Member};
use super::shares::Shares;
use super::statistics::{ServiceStatistics, Watch};
use super::tenant::{Admission, Tenant};

pub(crate) use self::switch::{GivenUp, Successor, Switch};

/// Parts of exports without a contract after which an iteration takes no more calls of such
/// exports.
pub(crate) const ITERATION_PARTS: usize = 64;

/// All requests wait for room in one line: they are offered in the order in which they were
/// numbered.
const LINE: TaskIndex = TaskIndex(0);

/// One request of a call.
#[derive(Debug)]
struct Part {
    request: Request,
    /// Place of its call, and its place in it.
    call: usize,
    index: usize,
    admission: Admission,
    /// The how manieth it was that the policy was offered; none while it is kept from it.
    offered: Option<u64>,
    is_flush: bool,
    is_trim: bool,
    data: Option<IoBuffer>,
    result: Result<(), IoError>,
}

/// A call that is not answered.
#[derive(Debug)]
struct OpenCall {
    call: Call,
    parts_left: usize,
    result: Result<Answered, CallError>,
}

/// The service; see the module's text.
pub(crate) struct Core<B> {
    backend: B,
    round: Round<Box<dyn Policy>, IoBuffer>,
    tenants: BTreeMap<ExportId, Tenant>,
    /// Calls of exports without a contract that no iteration has come to.
    unread: VecDeque<Call>,
    calls: Vec<Option<OpenCall>>,
    free_calls: Vec<usize>,
    parts: HashMap<RequestId, Part>,
    shares: Shares,
    /// Best-effort requests that the policy may know of at once, and does.
    window: usize,
    admitted: usize,
    /// Requests of a contract that the policy may know of at once: its room, shared evenly, so
    /// that no tenant's line keeps another's requests from it.
    room: usize,
    flushes: FlushGroups,
    /// Trims that nothing overlaps; the first of them is on its way.
    trims: VecDeque<RequestId>,
    next_id: u64,
    /// Requests that the policy was offered.
    offers: u64,
    /// Another set of exports that waits for its instant.
    switch: Option<Switch>,
    is_winding_down: bool,
    is_flush_broken: bool,
    watch: Watch,
    /// Scratch, empty between iterations.
    returned: Vec<Returned>,
    /// Requests that nothing overlaps any more, with their exports.
    freed: Vec<(RequestId, ExportId)>,
    /// Switches between two batches, for tests that must notice it.
    #[cfg(test)]
    is_hasty: bool,
}

impl<B: DataBackend> Core<B> {
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
            returned: Vec::new(),
            freed: Vec::new(),
            #[cfg(test)]
            is_hasty: false,
        };
        core.enrol(members);
        core
    }

    /// Runs one iteration: takes what came back, then `calls`, and lets the policy decide. Returns
    /// the iteration's instant.
    ///
    /// Calls of exports without a contract come last, and only [`ITERATION_PARTS`] of them, so that
    /// requests of contracts are dispatched first. Contracts count in the order of arrival: a call
    /// that came before this instant and is not among `calls` counts as if it had come at it.
    ///
    /// # Errors
    /// When the means of submission fail.
    pub(crate) fn iterate(&mut self, calls: impl Iterator<Item = Call>) -> Result<Time, B::Error> {
        // A policy observes what came back before what is new.
        let now = self.take_back()?;
        self.watch.turned(now, self.round.not_before());
        self.read(now, calls);
        // What nothing overlaps any more counts from now, and so after those calls.
        while !self.freed.is_empty() {
            let mut freed = std::mem::take(&mut self.freed);
            for (id, export) in freed.drain(..) {
                self.release(now, now, id, export);
            }
            // What was freed meanwhile comes next; else the memory is used again.
            if self.freed.is_empty() {
                self.freed = freed;
            }
        }
        self.switch_if_quiet(now);
        loop {
            self.admit_more(now);
            if !self.decide(now)? {
                return Ok(now);
            }
        }
    }

    /// Blocks until the next iteration.
    ///
    /// # Errors
    /// When the means of waiting fail.
    pub(crate) fn wait(&mut self) -> Result<(), B::Error> {
        self.backend.wait(self.next_iteration())
    }

    /// When there is something to do though nothing happens.
    fn next_iteration(&self) -> Option<Time> {
        if !self.unread.is_empty() {
            return Some(Time::ZERO);
        }
        // Behind what had no room nothing is offered before something is complete.
        let may_admit =
            self.admitted < self.window && !self.round.is_holding() && !self.is_holding_back();
        let opens = self.shares.opens().filter(|_| may_admit);
        [self.round.not_before(), opens, self.switch_until(), self.watch.stalls_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether everything is answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.unread.is_empty() && self.parts.is_empty() && self.flushes.is_empty()
    }

    /// What a client says about its own service.
    pub(crate) fn notice(&mut self, export: ExportId, kind: NoticeKind) {
        let now = self.backend.now();
        // It may be gone since.
        let Some(task) = self.tenants.get(&export).map(|tenant| tenant.task) else { return };
        self.round.tell(now, Event::Notice { task, kind });
    }

    /// An export takes no more calls.
    pub(crate) fn close(&mut self, export: ExportId) {
        if let Some(tenant) = self.tenants.get_mut(&export) {
            tenant.is_closed = true;
        }
    }

    /// What was seen so far, of these exports; nothing of those that are gone.
    pub(crate) fn statistics_of(&self, exports: &[ExportId]) -> ServiceStatistics {
        let now = self.backend.now();
        let seen = |id: &ExportId| self.tenants.get(id).map(|tenant| tenant.seen(now));
        let exports = exports.iter().map(|id| seen(id).unwrap_or_default()).collect();
        self.watch.statistics(now, exports)
    }

    /// Fills the window with best effort, and offers again what there was no room for.
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

    /// One round, with the flush of its batch; whether the policy dispatched anything.
    fn decide(&mut self, now: Time) -> Result<bool, B::Error> {
        let Self { backend, round, parts, flushes, watch, .. } = self;
        let is_any = round.decide(now, backend, &mut Outgoing { parts, flushes, watch })?;
        if let Some(flush) = self.flushes.close() {
            self.backend.flush(flush);
        }
        Ok(is_any)
    }
}

/// The requests of a service, as its rounds ask for them.
struct Outgoing<'a> {
    parts: &'a mut HashMap<RequestId, Part>,
    flushes: &'a mut FlushGroups,
    watch: &'a mut Watch,
}

impl Outgoing<'_> {
    fn part(&mut self, id: RequestId) -> &mut Part {
        self.parts.get_mut(&id).expect("the policy names what it was given")
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
        panic!("{id:?} was dropped, and no export allows it");
    }

    /// A flush moves no data: the drive gets one for the whole batch, when the batch's writes are
    /// done.
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

/// For tests in virtual time.
#[cfg(any(test, feature = "harness"))]
impl<B: DataBackend> Core<B> {
    pub(crate) fn statistics(&self) -> ServiceStatistics {
        self.statistics_of(&self.tenants.keys().copied().collect::<Vec<_>>())
    }

    /// [`Self::iterate`] on a store that cannot fail.
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

    pub(crate) fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// [`Self::wait`], no longer than until `sooner`.
    pub(crate) fn wait_until(&mut self, sooner: Option<Time>) {
        let until = [self.next_iteration(), sooner].into_iter().flatten().min();
        assert!(self.backend.wait(until).is_ok(), "waiting cannot fail here");
    }

    /// Parts opened so far.
    #[cfg(test)]
    pub(crate) fn opened(&self) -> u64 {
        self.next_id
    }

    /// Parts of an export that a new one is compared with.
    #[cfg(test)]
    pub(crate) fn in_order(&self, export: ExportId) -> usize {
        self.tenants[&export].ordering.len()
    }

    /// Overlapping requests are no longer kept in order.
    pub(crate) fn disorder(&mut self) {
        self.tenants.values_mut().for_each(|tenant| tenant.ordering.is_off = true);
    }

    /// The policy has room for so many requests of contracts.
    #[cfg(test)]
    pub(crate) fn narrow(&mut self, room: usize) {
        self.room = room / self.contract_count();
    }

    /// A switch no longer waits for what contracts allowed before it.
    #[cfg(test)]
    pub(crate) fn hasten(&mut self) {
        self.is_hasty = true;
    }
}

/// Memory of a call's parts, without the parts.
pub(crate) fn memory(parts: Vec<CallPart>) -> impl Iterator<Item = IoBuffer> {
    parts.into_iter().filter_map(|part| part.data)
}

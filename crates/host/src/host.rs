// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The loop: carries out what a policy decides, by the protocol of `tidegate_policy::Policy`.
//!
//! ```text
//!           +--> completions --> held requests --> releases --> decide ... decide --+
//!   next    |                                                     | batch           |
//!   instant +                                                     v                 |
//!           |                                                  back end             |
//!           +-------------------------------------------------- settled <-----------+
//! ```
//!
//! A host that comes late, as every host on a real clock does, observes all that happened
//! meanwhile at the instant at which it came, but a request keeps its nominal `released`:
//! lateness of the host is part of every response time.

use tidegate_model::{Class, Outcome, Request, RequestId, TaskIndex, Time};
use tidegate_policy::{Decision, Event, Full, NoticeKind, Policy};

use crate::backend::{Backend, Completion};
use crate::held::Held;
use crate::ledger::Ledger;
use crate::metrics::RunMetrics;
use crate::observer::Observer;
use crate::params::HostParams;
use crate::run::{Run, RunEnd};
use crate::sources::{Due, Sources};
use tidegate_stats::Memory;

/// A run under way.
///
/// # Panics
/// In all its methods when policy and back end break their protocol with the host, or a run
/// exceeds what can be counted (584 years, 2^38 requests).
///
/// # Complexity
/// O(log n) for each release of one of n sources, O(1) for everything else.
pub struct Host<'a, B: Backend, P, O> {
    policy: P,
    backend: &'a mut B,
    observer: &'a mut O,
    /// K of the drive.
    depth: u32,
    sources: Sources,
    ledger: Ledger,
    held: Held,
    metrics: RunMetrics,
    /// Scratch, empty between instants.
    completions: Vec<Completion<(), B::Fault>>,
    /// Scratch, empty between rounds.
    batch: Vec<Request>,
    /// Scratch, as `batch`.
    payloads: Vec<()>,
    /// Streams whose last job was dropped in this round: a policy is told of nothing while it
    /// decides.
    ended_by_drop: Vec<TaskIndex>,
    /// Tasks that report a miss after every job.
    cheats: &'a [TaskIndex],
    /// When the policy wants to be asked again though nothing happens.
    not_before: Option<Time>,
    events: u64,
    /// Requests of tasks that are released and not complete.
    real_time_left: u64,
    /// Those of best-effort loads.
    best_effort_left: u64,
    /// Requests that were submitted and did not come back.
    in_flight_count: u32,
    end: Option<RunEnd>,
}

impl<'a, B: Backend<Payload = ()>, P: Policy, O: Observer> Host<'a, B, P, O> {
    /// Makes the host of a run of `policy` on `backend`, watched by `observer`, before it begins.
    pub fn new(
        params: &HostParams<'a>,
        policy: P,
        backend: &'a mut B,
        observer: &'a mut O,
    ) -> Self {
        let (expected, depth) = match params.memory {
            Memory::AsNeeded => (0, 0),
            Memory::Beforehand => (params.expected_outstanding(), params.workload.depth as usize),
        };
        Self {
            policy,
            backend,
            observer,
            depth: params.workload.depth,
            sources: Sources::new(params),
            ledger: Ledger::new(params.outstanding_max, expected),
            held: Held::default(),
            metrics: RunMetrics::new(params.workload, params.memory),
            completions: Vec::with_capacity(depth),
            batch: Vec::with_capacity(depth),
            payloads: Vec::new(),
            ended_by_drop: Vec::new(),
            cheats: params.cheats,
            not_before: None,
            events: 0,
            real_time_left: 0,
            best_effort_left: 0,
            in_flight_count: 0,
            end: None,
        }
    }

    /// From the first instant to the last: until everything is released and no real-time
    /// work remains; without tasks, until the drive is idle and the policy sends nothing
    /// more; or until `is_cancelled`, which is asked before every instant.
    ///
    /// After the last release of a run that is measured in jobs no best effort is released.
    /// Best effort may be in flight at the end: see [`Self::drain`].
    ///
    /// # Errors
    /// When execution itself fails.
    pub fn run(&mut self, is_cancelled: impl Fn() -> bool) -> Result<(), B::Error> {
        self.backend.begin();
        loop {
            if is_cancelled() {
                self.end = Some(RunEnd::Interrupted);
                return Ok(());
            }
            self.settle()?;
            if self.end.is_some() {
                return Ok(());
            }
            self.backend.wait(self.next_instant())?;
        }
    }

    /// Waits for what is in flight: I/O on a device is never abandoned. Nothing is released
    /// or dispatched any more.
    ///
    /// # Errors
    /// When execution itself fails.
    pub fn drain(&mut self) -> Result<(), B::Error> {
        loop {
            self.observe_completions()?;
            if self.in_flight_count == 0 {
                return Ok(());
            }
            self.backend.wait(None)?;
        }
    }

    /// What came of the run.
    ///
    /// # Panics
    /// When [`Self::run`] did not come to its end: there is nothing to tell.
    pub fn finish(mut self) -> Run {
        let ended = self.backend.now();
        self.observer.ended(ended);
        for job in self.ledger.unfinished_jobs() {
            self.metrics.abandon_job(ended, &job);
        }
        Run {
            metrics: self.metrics,
            events: self.events,
            end: self.end.expect("a run comes to its end before it is finished"),
            ended,
            real_time_left: self.real_time_left,
            best_effort_left: self.best_effort_left,
        }
    }

    /// When the host has to act though nothing comes back.
    fn next_instant(&self) -> Option<Time> {
        let instants = [self.sources.next_release(), self.not_before];
        instants.into_iter().flatten().min()
    }

    /// Everything that happens at one instant.
    fn settle(&mut self) -> Result<(), B::Error> {
        let now = self.observe_completions()?;
        if self.not_before.is_some_and(|at| at <= now) {
            self.events += 1;
        }
        self.offer_held(now);
        self.release_due(now);
        if self.end.is_none() {
            self.dispatch(now)?;
        }
        self.observer.settled(now);
        if self.end.is_none() && self.is_over(now) {
            self.end = Some(RunEnd::Complete);
        }
        Ok(())
    }

    fn is_over(&self, now: Time) -> bool {
        let is_served = self.real_time_left == 0 && self.sources.is_real_time_over(now);
        is_served || self.in_flight_count == 0 && self.next_instant().is_none()
    }

    /// Takes note of what came back; the instant at which that was.
    fn observe_completions(&mut self) -> Result<Time, B::Error> {
        let mut completions = std::mem::take(&mut self.completions);
        self.backend.reap(&mut completions)?;
        // Read after reaping: what came back did so before this instant.
        let now = self.backend.now();
        for completion in completions.drain(..) {
            let outcome = completion.result.map_or(Outcome::Failed, |()| Outcome::Done);
            self.complete(now, completion.id, outcome);
        }
        self.completions = completions;
        Ok(now)
    }

    fn complete(&mut self, now: Time, id: RequestId, outcome: Outcome) {
        self.events += 1;
        let (request, job) = self.ledger.complete(id, outcome);
        *self.left(request.class) -= 1;
        self.in_flight_count -= 1;
        self.metrics.complete_request(request.task, now, request.size, outcome);
        let is_last = job.is_some_and(|job| {
            self.metrics.complete_job(now, &job);
            self.sources.end_job(now, request.task)
        });
        self.observer.completed(now, &request, outcome);
        self.tell(now, Event::Complete { id, outcome });
        if request.class == Class::Soft && job.is_some() {
            let is_late = request.due.is_some_and(|due| now > due);
            self.report(now, request.task, is_late, is_last);
        }
    }

    /// Tells the policy what is no release.
    fn tell(&mut self, now: Time, event: Event) {
        assert_eq!(self.policy.observe(now, event), Ok(()), "a policy is full to releases only");
    }

    /// What a soft real-time task reports at the end of a job: that it came after its due, and
    /// that it was the last. A job that never ends is never reported. A cheat reports every job.
    fn report(&mut self, now: Time, task: TaskIndex, is_late: bool, is_last: bool) {
        if is_late || self.cheats.contains(&task) {
            self.tell(now, Event::Notice { task, kind: NoticeKind::DeadlineMissed });
        }
        if is_last {
            self.tell(now, Event::Notice { task, kind: NoticeKind::StreamEnded });
        }
    }

    /// The count in which a request of that class stands while it is not complete.
    fn left(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Hard | Class::Soft | Class::Interactive => &mut self.real_time_left,
            Class::BestEffort => &mut self.best_effort_left,
        }
    }

    /// The policy gave up a request that it may give up.
    fn drop_request(&mut self, now: Time, id: RequestId) {
        self.events += 1;
        let (request, job) = self.ledger.drop_queued(id);
        assert!(request.optional, "{id:?} was dropped, and its contract does not allow it");
        *self.left(request.class) -= 1;
        self.metrics.drop_request(request.task);
        if let Some(job) = job {
            self.metrics.complete_job(now, &job);
            if self.sources.end_job(now, request.task) && request.class == Class::Soft {
                self.ended_by_drop.push(request.task);
            }
        }
        self.observer.dropped(now, &request);
    }

    fn release_due(&mut self, now: Time) {
        while self.end.is_none()
            && let Some(due) = self.sources.pop_due(now)
        {
            self.release_job(now, due);
        }
    }

    fn release_job(&mut self, now: Time, Due { source, at }: Due) {
        self.metrics.release(now);
        let requests = self.sources.source(source).requests();
        let job = self.ledger.open_job(requests);
        for _ in 0..requests {
            if !self.ledger.has_room() {
                self.end = Some(RunEnd::Overloaded);
                return;
            }
            let source = self.sources.source(source);
            let request = self.ledger.open_request(job, |id| source.request(id, at));
            self.release(now, &request);
        }
    }

    fn release(&mut self, now: Time, request: &Request) {
        self.events += 1;
        *self.left(request.class) += 1;
        self.observer.released(now, request);
        // Behind what is held already, if only to keep the order.
        if self.held.is_waiting(request.task) || self.offer(now, request) == Err(Full) {
            self.held.push(request.task, request.id);
        }
    }

    fn offer(&mut self, now: Time, request: &Request) -> Result<(), Full> {
        self.policy.observe(now, Event::Release(*request))
    }

    /// Offers what is held, oldest first; whether the policy took any of it.
    fn offer_held(&mut self, now: Time) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let Self { held, ledger, policy, .. } = self;
        held.offer(|id| policy.observe(now, Event::Release(ledger.queued(id))).is_ok())
    }

    fn dispatch(&mut self, now: Time) -> Result<(), B::Error> {
        self.decide(now)?;
        // What the policy just sent made room for what it had none for.
        while self.offer_held(now) {
            self.decide(now)?;
        }
        Ok(())
    }

    /// One round: asks until the policy has no more to dispatch, then submits it all.
    fn decide(&mut self, now: Time) -> Result<(), B::Error> {
        self.not_before = loop {
            match self.policy.decide(now) {
                Decision::Dispatch { id, tag } => {
                    self.batch.push(self.ledger.dispatch(id, tag));
                }
                Decision::Drop(id) => self.drop_request(now, id),
                Decision::NotBefore(at) => {
                    assert!(at > now, "the policy asks to be asked in the past");
                    break Some(at);
                }
                Decision::AwaitEvent => break None,
            }
        };
        if !self.batch.is_empty() {
            self.submit()?;
        }
        while let Some(task) = self.ended_by_drop.pop() {
            self.report(now, task, false, true);
        }
        Ok(())
    }

    fn submit(&mut self) -> Result<(), B::Error> {
        let count = u32::try_from(self.batch.len()).expect("fewer requests than 2^32");
        self.in_flight_count += count;
        assert!(self.in_flight_count <= self.depth, "more in flight than the drive accepts");
        self.observer.dispatched(self.backend.now(), &self.batch);
        self.payloads.resize(self.batch.len(), ());
        self.backend.submit(&self.batch, &mut self.payloads)?;
        self.batch.clear();
        Ok(())
    }
}

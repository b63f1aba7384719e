// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of a run: its sources, the requests that are not complete, and the counts.

use tidegate_model::{Class, Duration, Outcome, Random, Request, RequestId, Tag, TaskIndex, Time};
use tidegate_stats::Memory;

use crate::delay::delay_up_to;
use crate::ledger::{Job, Ledger};
use crate::metrics::RunMetrics;
use crate::observer::Observer;
use crate::params::HostParams;
use crate::round::Requests;
use crate::sources::{Due, Sources};

/// A job that ended. A soft task reports it to the policy.
pub(crate) struct EndedJob {
    pub(crate) task: TaskIndex,
    pub(crate) is_late: bool,
    /// Whether the job was its task's last.
    pub(crate) is_last: bool,
}

/// The delays of replies on their way to clients, which count as part of the responses.
#[derive(Debug)]
struct Replies {
    delay_max: Duration,
    random: Random,
}

impl Replies {
    /// A stream of random numbers that no source uses.
    const STREAM: u64 = 1 << 42;

    fn new(params: &HostParams) -> Self {
        let delay_max = params.delays.map_or(Duration::ZERO, |host| host.reply);
        Self { delay_max, random: Random::new(params.seed, Self::STREAM) }
    }

    fn next(&mut self) -> Duration {
        if self.delay_max.is_zero() {
            return Duration::ZERO;
        }
        delay_up_to(self.delay_max, &mut self.random)
    }
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct RunState<'a, O> {
    pub(crate) observer: &'a mut O,
    pub(crate) sources: Sources,
    ledger: Ledger,
    pub(crate) metrics: RunMetrics,
    /// K, the drive's depth.
    depth: u32,
    /// The number of events: releases, completions, and instants that a policy requested.
    pub(crate) events: u64,
    /// The number of tasks' requests that are released and not complete.
    pub(crate) real_time_left: u64,
    /// The number of best-effort requests that are released and not complete.
    pub(crate) best_effort_left: u64,
    /// The number of requests in flight.
    pub(crate) in_flight_count: u32,
    /// The delays of replies.
    reply: Replies,
    /// Streams whose last job was dropped in this round; the policy is told after it has decided.
    pub(crate) ended_by_drop: Vec<TaskIndex>,
}

impl<'a, O: Observer> RunState<'a, O> {
    pub(crate) fn new(params: &HostParams<'a>, observer: &'a mut O) -> Self {
        let expected = match params.memory {
            Memory::AsNeeded => 0,
            Memory::Beforehand => params.expected_outstanding(),
        };
        Self {
            observer,
            sources: Sources::new(params),
            ledger: Ledger::new(params.outstanding_max, expected),
            metrics: RunMetrics::new(params.workload, params.memory),
            depth: params.workload.depth,
            events: 0,
            real_time_left: 0,
            best_effort_left: 0,
            in_flight_count: 0,
            reply: Replies::new(params),
            ended_by_drop: Vec::new(),
        }
    }

    /// Counts a completed request; returns the job that ended with it if its task reports it.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        now: Time,
        id: RequestId,
        outcome: Outcome,
    ) -> Option<EndedJob> {
        self.events += 1;
        let (request, job) = self.ledger.complete(id, outcome);
        *self.left(request.class) -= 1;
        self.in_flight_count -= 1;
        self.metrics.complete_request(request.task, now, request.size, outcome);
        let ended = job.map(|job| self.end_job(now, request.task, &job));
        self.observer.completed(now, &request, outcome);
        ended.filter(|_| request.class == Class::Soft)
    }

    /// Counts a job that ended. The job is late if its client has the last reply later than the
    /// deadline after the job's release. For a job that the policy saw early, the policy's due time
    /// is earlier.
    fn end_job(&mut self, now: Time, task: TaskIndex, job: &Job) -> EndedJob {
        let is_late = self.metrics.complete_job(now + self.reply.next(), job);
        if is_late {
            self.metrics.over_time_mut().miss(now, task);
        }
        EndedJob { task, is_late, is_last: self.sources.end_job(now, task) }
    }

    /// Releases a job: passes each of its requests to `release`; returns whether there was room for
    /// all.
    #[inline]
    pub(crate) fn release_job(
        &mut self,
        now: Time,
        Due { source, at }: Due,
        mut release: impl FnMut(&Request),
    ) -> bool {
        self.metrics.release(now);
        let requests = self.sources.source(source).requests();
        let job = self.ledger.open_job(requests);
        for _ in 0..requests {
            if !self.ledger.has_room() {
                return false;
            }
            let source = self.sources.source(source);
            let request = self.ledger.open_request(job, |id| source.request(id, at, now));
            self.events += 1;
            *self.left(request.class) += 1;
            self.observer.released(now, &request);
            release(&request);
        }
        true
    }

    /// Counts the jobs that are unfinished at the end of the run.
    pub(crate) fn abandon_jobs(&mut self, now: Time) {
        for job in self.ledger.unfinished_jobs() {
            self.metrics.abandon_job(now, &job);
        }
    }

    /// Returns the count of outstanding requests for that class.
    fn left(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Hard | Class::Soft | Class::Interactive => &mut self.real_time_left,
            Class::BestEffort => &mut self.best_effort_left,
        }
    }
}

impl<O: Observer> Requests for RunState<'_, O> {
    type Payload = ();

    fn released(&mut self, id: RequestId) -> Request {
        self.ledger.queued(id)
    }

    fn dispatch(&mut self, id: RequestId, tag: Tag) -> Request {
        self.ledger.dispatch(id, tag)
    }

    fn drop_queued(&mut self, now: Time, id: RequestId) {
        self.events += 1;
        let (request, job) = self.ledger.drop_queued(id);
        assert!(request.optional, "{id:?} was dropped, and its contract does not allow it");
        *self.left(request.class) -= 1;
        self.metrics.drop_request(request.task);
        let ended = job.map(|job| self.end_job(now, request.task, &job));
        if request.class == Class::Soft && ended.is_some_and(|ended| ended.is_last) {
            self.ended_by_drop.push(request.task);
        }
        self.observer.dropped(now, &request);
    }

    fn submitted(&mut self, now: Time, batch: &mut Vec<Request>, payloads: &mut Vec<()>) {
        let count = u32::try_from(batch.len()).expect("fewer requests than 2^32");
        self.in_flight_count += count;
        assert!(self.in_flight_count <= self.depth, "more in flight than the drive accepts");
        self.observer.dispatched(now, batch);
        payloads.resize(batch.len(), ());
    }
}

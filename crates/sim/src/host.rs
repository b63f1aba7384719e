// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The event loop: the protocol of `policy::Policy` and of `drive::Drive`, in virtual time.
//!
//! ```text
//!           +--> completions --> held requests --> releases --> decide ... decide --+
//!  next     |                                                     | batch           |
//!  instant -+                                                     v                 |
//!           |                                                   drive               |
//!           +-------------------------------------------------------- settled <-----+
//! ```

use drive::{Completion, Drive};
use model::{Outcome, Request, RequestId, TaskIndex, Time};
use policy::{Decision, Event, Full, Policy};

use crate::held::{ByLine, Held, Line};
use crate::ledger::Ledger;
use crate::metrics::RunMetrics;
use crate::observer::Observer;
use crate::params::SimParams;
use crate::workload::Sources;

/// What came of a run.
#[derive(Debug, Clone)]
pub struct SimRun {
    /// Response times and volumes.
    pub metrics: RunMetrics,
    /// Releases and completions of requests, and instants that a policy asked for.
    pub events: u64,
    /// When the run ended.
    pub ended: Time,
    /// Real-time requests that were released and did not complete: the policy lost them.
    pub real_time_left: u64,
    /// Best-effort requests that were released and did not complete when the run ended.
    pub best_effort_left: u64,
}

/// Runs `policy` on `drive` under the workload of `params`, watched by `observer`.
///
/// The run ends when everything is released and no real-time work remains; without tasks,
/// when the drive is idle and the policy sends nothing more. After the last release of a
/// run that is measured in jobs no best effort is released.
///
/// # Panics
/// When policy, drive and host break their protocol with each other, or a run exceeds
/// what can be counted (584 years, 2^38 requests).
///
/// # Complexity
/// O(log n) for each release of one of n sources, O(1) for everything else.
///
/// # Example
/// One request every 20 ms on a drive that takes up to 5 ms for it.
/// ```
/// use drive::PseudoDisk;
/// use model::{BatchChoice, BatchTable, Bytes, Class, Duration, Op, Place, PolicyName, Task, Workload};
/// use policy::Dqf;
/// use sim::{Length, SimParams, simulate};
///
/// let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
/// let camera = Task {
///     name: "camera".to_owned(), entry: 0, period: Duration::from_ms(20),
///     deadline: Duration::from_ms(20), requests: 1, size: Bytes::from_kib(128), op: Op::Read,
///     place: Place::Random, offset: Duration::ZERO, class: Class::Hard,
/// };
/// let workload = Workload {
///     tasks: vec![camera], best_effort: vec![], policy: PolicyName::Dqf,
///     batch: BatchChoice::Auto, drive_name: "example".to_owned(), depth: 1,
///     table: table.clone(), notes: vec![],
/// };
/// let params = SimParams::new(&workload, Length::Jobs(100));
/// let run = simulate(&params, Dqf::new(1, 0, 64), PseudoDisk::new(1, table, 42), &mut ());
///
/// let camera = &run.metrics.tasks()[0];
/// assert_eq!((camera.jobs(), camera.misses), (100, 0));
/// assert_eq!(camera.responses.max(), Some(Duration::from_ms(5)));
/// ```
pub fn simulate<P: Policy, D: Drive, O: Observer>(
    params: &SimParams,
    policy: P,
    drive: D,
    observer: &mut O,
) -> SimRun {
    let mut host = Host {
        policy,
        drive,
        observer,
        sources: Sources::new(params),
        ledger: Ledger::new(),
        held: Held::default(),
        metrics: RunMetrics::new(params.workload),
        completions: Vec::new(),
        batch: Vec::new(),
        not_before: None,
        events: 0,
        left: ByLine::default(),
    };
    let ended = host.run();
    SimRun {
        metrics: host.metrics,
        events: host.events,
        ended,
        real_time_left: host.left.real_time,
        best_effort_left: host.left.best_effort,
    }
}

struct Host<'o, P, D, O> {
    policy: P,
    drive: D,
    observer: &'o mut O,
    sources: Sources,
    ledger: Ledger,
    held: Held,
    metrics: RunMetrics,
    /// Scratch, empty between instants.
    completions: Vec<Completion>,
    /// Scratch, empty between rounds.
    batch: Vec<Request>,
    /// When the policy wants to be asked again though nothing happens.
    not_before: Option<Time>,
    events: u64,
    /// Requests that are released and not complete.
    left: ByLine<u64>,
}

impl<P: Policy, D: Drive, O: Observer> Host<'_, P, D, O> {
    /// From the first instant to the last, which it returns.
    fn run(&mut self) -> Time {
        let mut now = Time::ZERO;
        self.settle(now);
        while !self.is_over(now)
            && let Some(next) = self.next_instant()
        {
            assert!(next >= now, "an event in the past");
            now = next;
            self.settle(now);
        }
        self.observer.ended(now);
        now
    }

    fn is_over(&self, now: Time) -> bool {
        self.left.real_time == 0 && self.sources.is_real_time_over(now)
    }

    fn next_instant(&self) -> Option<Time> {
        let events = [self.drive.next_event(), self.sources.next_release(), self.not_before];
        events.into_iter().flatten().min()
    }

    /// Everything that happens at one instant.
    fn settle(&mut self, now: Time) {
        if self.not_before.is_some_and(|at| at <= now) {
            self.events += 1;
        }
        self.complete_due(now);
        self.offer_held(now);
        self.release_due(now);
        self.decide(now);
        // What the policy just sent made room for what it had none for.
        while self.offer_held(now) {
            self.decide(now);
        }
        self.observer.settled(now);
    }

    fn complete_due(&mut self, now: Time) {
        let mut completions = std::mem::take(&mut self.completions);
        self.drive.advance(now, &mut completions);
        for completion in completions.drain(..) {
            self.complete(now, completion.id, completion.outcome);
        }
        self.completions = completions;
    }

    fn complete(&mut self, now: Time, id: RequestId, outcome: Outcome) {
        self.events += 1;
        let (request, job) = self.ledger.complete(id, outcome);
        self.left[request.class.into()] -= 1;
        self.metrics.complete_request(request.task, now, request.size, outcome);
        if let Some(job) = job {
            let response = now - job.released;
            self.metrics.complete_job(job.source, response, job.has_failed);
        }
        self.sources.note_completion(request.task);
        self.observer.completed(now, &request, outcome);
        let observed = self.policy.observe(now, Event::Complete { id, outcome });
        assert_eq!(observed, Ok(()), "a policy is full to releases only");
    }

    fn release_due(&mut self, now: Time) {
        while let Some(source) = self.sources.pop_due(now) {
            self.release_job(now, source);
        }
    }

    fn release_job(&mut self, now: Time, source: TaskIndex) {
        self.metrics.release(now);
        let requests = self.sources.source(source).requests();
        let job = self.ledger.open_job(requests);
        for _ in 0..requests {
            let source = self.sources.source(source);
            let request = self.ledger.open_request(job, |id| source.request(id, now));
            self.release(now, &request);
        }
    }

    fn release(&mut self, now: Time, request: &Request) {
        let line = Line::from(request.class);
        self.events += 1;
        self.left[line] += 1;
        self.observer.released(now, request);
        // Behind what is held already, if only to keep the order.
        if !self.held.is_line_empty(line) || self.offer(now, request) == Err(Full) {
            self.held.push(line, request.id);
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
        let mut is_any_taken = false;
        let mut is_full = ByLine::default();
        while let Some((id, line)) = self.held.oldest(is_full) {
            let request = self.ledger.queued(id);
            if self.offer(now, &request) == Ok(()) {
                self.held.pop(line);
                is_any_taken = true;
            } else {
                is_full[line] = true;
            }
        }
        is_any_taken
    }

    /// One round: asks until the policy has no more to dispatch, then submits it all.
    fn decide(&mut self, now: Time) {
        self.not_before = loop {
            match self.policy.decide(now) {
                Decision::Dispatch { id, .. } => self.batch.push(self.ledger.dispatch(id)),
                Decision::NotBefore(at) => {
                    assert!(at > now, "the policy asks to be asked in the past");
                    break Some(at);
                }
                Decision::AwaitEvent => break None,
            }
        };
        if !self.batch.is_empty() {
            self.observer.dispatched(now, &self.batch);
            self.drive.submit(now, &self.batch);
            self.batch.clear();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The loop: executes a policy's decisions, by the protocol of `tidegate_policy::Policy`.
//!
//! ```text
//!           +--> completions --> held requests --> releases --> decide ... decide --+
//!   next    |                                                     | batch           |
//!   instant +                                                     v                 |
//!           |                                                  backend              |
//!           +-------------------------------------------------- settled <-----------+
//! ```
//!
//! On a real clock every host is late: it observes all events since the last instant only at its
//! current instant. A request keeps its nominal `released`, so the host's lateness is part of every
//! response time.

use tidegate_model::{Outcome, RequestId, TaskIndex, Time};
use tidegate_policy::{Event, NoticeKind, Policy};
use tidegate_stats::Memory;

use crate::backend::{Backend, Completion};
use crate::observer::Observer;
use crate::params::HostParams;
use crate::round::Round;
use crate::run::{Run, RunEnd};
use crate::run_state::{EndedJob, RunState};

/// A run in progress.
///
/// # Panics
/// All methods panic if policy or backend break their protocol with the host, or if a run
/// exceeds the counters (584 years, 2^38 requests).
///
/// # Complexity
/// O(log n) for each release of one of n sources, O(1) for everything else.
pub struct Host<'a, B: Backend, P, O> {
    round: Round<P, ()>,
    backend: &'a mut B,
    run_state: RunState<'a, O>,
    /// A scratch list, empty between instants.
    completions: Vec<Completion<(), B::Fault>>,
    /// Tasks that report a miss after every job.
    cheats: &'a [TaskIndex],
    end: Option<RunEnd>,
}

impl<'a, B: Backend<Payload = ()>, P: Policy, O: Observer> Host<'a, B, P, O> {
    /// Makes the host of a run of `policy` on `backend`, watched by `observer`; the run begins
    /// later.
    pub fn new(
        params: &HostParams<'a>,
        policy: P,
        backend: &'a mut B,
        observer: &'a mut O,
    ) -> Self {
        let depth = match params.memory {
            Memory::AsNeeded => 0,
            Memory::Beforehand => params.workload.depth as usize,
        };
        Self {
            round: Round::new(policy, depth),
            backend,
            run_state: RunState::new(params, observer),
            completions: Vec::with_capacity(depth),
            cheats: params.cheats,
            end: None,
        }
    }

    /// Runs until everything is released and no real-time request remains; without tasks, until the
    /// drive is idle and the policy dispatches nothing more. Ends early once `is_cancelled` returns
    /// true, which is checked before every instant.
    ///
    /// In a run that is measured in jobs, no best effort is released after the tasks' last release.
    /// Best effort may be in flight at the end: see [`Self::drain`].
    ///
    /// # Errors
    /// If the backend fails.
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

    /// Waits for the requests in flight, because I/O on a device is never abandoned. Nothing more
    /// is released or dispatched.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn drain(&mut self) -> Result<(), B::Error> {
        loop {
            self.observe_completions()?;
            if self.run_state.in_flight_count == 0 {
                return Ok(());
            }
            self.backend.wait(None)?;
        }
    }

    /// Returns the results of the run.
    ///
    /// # Panics
    /// If [`Self::run`] has not reached its end.
    pub fn finish(mut self) -> Run {
        let ended = self.backend.now();
        self.run_state.observer.ended(ended);
        self.run_state.abandon_jobs(ended);
        let RunState { metrics, events, real_time_left, best_effort_left, .. } = self.run_state;
        let end = self.end.expect("`run` reaches its end before `finish`");
        Run { metrics, events, end, ended, real_time_left, best_effort_left }
    }

    /// Returns the next instant at which the host must act without a completion.
    fn next_instant(&self) -> Option<Time> {
        let instants = [self.run_state.sources.next_release(), self.round.not_before()];
        instants.into_iter().flatten().min()
    }

    /// Handles all events of one instant.
    fn settle(&mut self) -> Result<(), B::Error> {
        let now = self.observe_completions()?;
        if self.round.not_before().is_some_and(|at| at <= now) {
            self.run_state.events += 1;
        }
        self.round.offer_held(now, &mut self.run_state);
        self.release_due(now);
        if self.end.is_none() {
            self.dispatch(now)?;
        }
        let tokens_per_s = self.round.tokens_per_s();
        self.run_state.metrics.over_time_mut().limit(now, tokens_per_s);
        self.run_state.observer.settled(now);
        if self.end.is_none() && self.is_over(now) {
            self.end = Some(RunEnd::Complete);
        }
        Ok(())
    }

    fn is_over(&self, now: Time) -> bool {
        let RunState { real_time_left, in_flight_count, sources, .. } = &self.run_state;
        let is_served = *real_time_left == 0 && sources.is_real_time_over(now);
        is_served || *in_flight_count == 0 && self.next_instant().is_none()
    }

    /// Handles the completions; returns their instant.
    fn observe_completions(&mut self) -> Result<Time, B::Error> {
        let mut completions = std::mem::take(&mut self.completions);
        self.backend.reap(&mut completions)?;
        // The clock is read after reaping, so that all completions are before this instant.
        let now = self.backend.now();
        for Completion { id, result, .. } in completions.drain(..) {
            self.complete(now, id, result.map_or(Outcome::Failed, |()| Outcome::Done));
        }
        self.completions = completions;
        Ok(now)
    }

    fn complete(&mut self, now: Time, id: RequestId, outcome: Outcome) {
        let reported = self.run_state.complete(now, id, outcome);
        self.round.tell(now, Event::Complete { id, outcome });
        if let Some(EndedJob { task, is_late, is_last }) = reported {
            self.report(now, task, is_late, is_last);
        }
    }

    /// Reports the end of a soft real-time task's job to the policy if the job was late or was the
    /// last of its stream. A job that never ends is not reported. A task in `cheats` reports a miss
    /// for every job.
    fn report(&mut self, now: Time, task: TaskIndex, is_late: bool, is_last: bool) {
        if is_late || self.cheats.contains(&task) {
            self.round.tell(now, Event::Notice { task, kind: NoticeKind::DeadlineMissed });
            self.run_state.metrics.over_time_mut().notify(now, task);
        }
        if is_last {
            self.round.tell(now, Event::Notice { task, kind: NoticeKind::StreamEnded });
        }
    }

    fn release_due(&mut self, now: Time) {
        while let Some(due) = self.run_state.sources.pop_due(now) {
            let Self { round, run_state, .. } = self;
            let release = |request: &_| round.release(now, due.source, request);
            if !run_state.release_job(now, due, release) {
                self.end = Some(RunEnd::Overloaded);
                return;
            }
        }
    }

    fn dispatch(&mut self, now: Time) -> Result<(), B::Error> {
        self.decide(now)?;
        // The last dispatch may have made room for held requests.
        while self.round.offer_held(now, &mut self.run_state) {
            self.decide(now)?;
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Result<(), B::Error> {
        self.round.decide(now, self.backend, &mut self.run_state)?;
        while let Some(task) = self.run_state.ended_by_drop.pop() {
            self.report(now, task, false, true);
        }
        Ok(())
    }
}

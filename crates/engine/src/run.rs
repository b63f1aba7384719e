// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run loop: executes a workload under a policy on whatever executes requests.
//!
//! ```text
//!              last release,          no job left,
//!              nothing more due       or cancelled           nothing in flight
//!   Releasing ----------------> Draining -------> Settling ------------------> end
//!       |                                            ^
//!       +----------------- cancelled ----------------+
//! ```
//!
//! One step: observe what came back, then release what is due, then dispatch what the policy
//! decides, then wait for the next of these. While `Draining`, released jobs are finished
//! under the same policy and no new best effort comes; while `Settling`, the policy is not
//! asked any more, so best effort that it never serves holds nothing up, and what the device
//! has is waited for: I/O is never abandoned.
//!
//! # How it waits
//! The thread blocks until a completion or the next release, and does not spin: spinning
//! before each release costs a core, starves others under a real-time priority, and hides
//! from the results what an application would see. Without a real-time priority the kernel may
//! wake the thread up to 50 us late to save wake-ups (timer slack), and later if the
//! processors are busy. Either way the lateness is part of the response times and is
//! reported apart.

use std::sync::atomic::{AtomicBool, Ordering};

use model::{Class, Outcome, Plan, PolicyName, Request, Time};
use policy::{Decision, Policy};

use crate::batch_watch::BatchWatch;
use crate::calendar::{Calendar, Due};
use crate::executor::{Completion, Executor, ExecutorError, Limits};
use crate::host::PolicyHost;
use crate::live::{LiveJob, LiveRequests};
use crate::outcome::{RunEnd, RunOutcome};
use crate::params::{RunError, RunParams};
use crate::recorder::Recorder;
use crate::slab::Slab;
use crate::source::{Source, sources};
use crate::span::Span;

/// Executes a workload under a policy and tells what was found.
///
/// One thread does everything. Setting `cancel` stops all releases at the next step; a
/// signal that interrupts the thread makes that step come at once.
///
/// # Errors
/// [`RunError`]: before anything starts when the target cannot carry the workload; later
/// only when execution itself fails. Requests that fail are counted and stop nothing.
///
/// # Panics
/// When the policy breaks its protocol, for example by leaving a job waiting on an idle
/// device without saying until when.
pub fn run<E: Executor + ?Sized>(
    params: &RunParams<'_>,
    executor: &mut E,
    cancel: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let policy = policy::build(params.policy, params.plan);
    run_policy(params, policy, executor, cancel)
}

/// [`run()`] with a policy that is already built.
fn run_policy<E: Executor + ?Sized>(
    params: &RunParams<'_>,
    policy: Box<dyn Policy>,
    executor: &mut E,
    cancel: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let mut run = Run::prepare(params, policy, &executor.limits())?;
    executor.begin();
    run.start();
    while run.step(executor, cancel)? {}
    Ok(run.outcome(executor.now()))
}

/// Where a run stands; see the module's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Releasing,
    Draining,
    Settling,
}

/// A run under way.
///
/// # Invariants
/// - `in_flight_count` requests were submitted and did not come back.
/// - `completions`, `refills` and `batch` are empty between steps; they keep their memory.
struct Run<'a> {
    plan: &'a Plan,
    policy_name: PolicyName,
    seed: u64,
    span: Span,
    phase: Phase,
    end: RunEnd,
    sources: Vec<Source>,
    calendar: Calendar,
    host: PolicyHost,
    requests: LiveRequests,
    jobs: Slab<LiveJob>,
    in_flight_count: u32,
    recorder: Recorder,
    watch: BatchWatch,
    completions: Vec<Completion>,
    /// Closed loops that are to release one request more, by position.
    refills: Vec<u32>,
    batch: Vec<Request>,
}

impl<'a> Run<'a> {
    /// Checks everything and takes all memory.
    fn prepare(
        params: &RunParams<'a>,
        policy: Box<dyn Policy>,
        limits: &Limits,
    ) -> Result<Self, RunError> {
        let &RunParams { workload, plan, policy: policy_name, length, seed } = params;
        let &Limits { in_flight_max, .. } = limits;
        if plan.depth > in_flight_max {
            return Err(RunError::DepthAboveExecutor { depth: plan.depth, in_flight_max });
        }
        let span = Span::new(workload, length)?;
        let sources = sources(workload, limits, span.load_releases_max, seed)?;
        let depth = plan.depth as usize;
        Ok(Self {
            plan,
            policy_name,
            seed,
            span,
            phase: Phase::Releasing,
            end: RunEnd::Complete,
            calendar: span.calendar(workload),
            host: PolicyHost::new(policy),
            requests: LiveRequests::new(expected_count(&sources) + depth),
            jobs: Slab::new(2 * sources.len(), u32::MAX),
            in_flight_count: 0,
            recorder: Recorder::new(workload),
            watch: BatchWatch::default(),
            completions: Vec::with_capacity(depth),
            refills: Vec::with_capacity(depth),
            batch: Vec::with_capacity(depth),
            sources,
        })
    }

    /// Closed loops release all that they keep under way.
    fn start(&mut self) {
        for (source, index) in self.sources.iter().zip(0..) {
            let outstanding = source.outstanding.unwrap_or(0) as usize;
            self.refills.extend(std::iter::repeat_n(index, outstanding));
        }
    }

    /// One round of the loop; whether there is another one.
    fn step<E: Executor + ?Sized>(
        &mut self,
        executor: &mut E,
        cancel: &AtomicBool,
    ) -> Result<bool, ExecutorError> {
        executor.reap(&mut self.completions)?;
        // Read after reaping: what came back did so before this instant.
        let now = executor.now();
        self.observe_completions(now);
        if cancel.load(Ordering::Relaxed) {
            self.stop(RunEnd::Interrupted);
        }
        self.release(now);
        self.change_phase(now);
        let ask_again = match self.phase {
            Phase::Releasing | Phase::Draining => self.dispatch(now, executor)?,
            Phase::Settling => None,
        };
        self.settle_idle(ask_again);
        if self.phase == Phase::Settling && self.in_flight_count == 0 {
            return Ok(false);
        }
        let until = self.wake_at(ask_again);
        assert!(
            until.is_some() || self.in_flight_count > 0,
            "`{}` leaves a job waiting on an idle device and does not say until when",
            self.policy_name
        );
        executor.wait(until)?;
        Ok(true)
    }

    fn observe_completions(&mut self, now: Time) {
        let mut completions = std::mem::take(&mut self.completions);
        let is_any = !completions.is_empty();
        for completion in completions.drain(..) {
            self.complete(now, completion);
        }
        self.completions = completions;
        if is_any && self.in_flight_count == 0 {
            self.watch.drained(now);
        }
    }

    fn complete(&mut self, now: Time, Completion { id, outcome }: Completion) {
        let live = self.requests.remove(id);
        self.in_flight_count -= 1;
        self.host.complete(now, id, outcome);
        self.recorder.request(now, &live, outcome);
        match live.job {
            Some(job) => self.complete_part(now, job, outcome),
            None => self.refill(live.request.task.0),
        }
    }

    /// A request of this job came back.
    fn complete_part(&mut self, now: Time, key: u32, outcome: Outcome) {
        let job = self.jobs.get_mut(key);
        job.is_failed |= outcome == Outcome::Failed;
        job.left_count -= 1;
        if job.left_count == 0 {
            let job = self.jobs.remove(key);
            self.recorder.job(now, &job);
        }
    }

    /// A request of this load came back: a closed loop wants another one.
    fn refill(&mut self, source: u32) {
        if self.sources[source as usize].outstanding.is_some() {
            self.refills.push(source);
        }
    }

    /// Releases all that is due; nothing once the last release has been.
    fn release(&mut self, now: Time) {
        let released_before = self.host.events;
        while self.phase == Phase::Releasing {
            let Some(due) = self.calendar.pop_due(now) else { break };
            self.release_due(now, due);
        }
        let mut refills = std::mem::take(&mut self.refills);
        for source in refills.drain(..) {
            self.release_refill(now, source);
        }
        self.refills = refills;
        if self.host.events > released_before {
            self.recorder.release(now);
        }
    }

    /// A closed loop releases a request, if it is not over.
    fn release_refill(&mut self, now: Time, source: u32) {
        let is_past = self.span.last.is_some_and(|last| now > last);
        let releases_left = &mut self.sources[source as usize].releases_left;
        if self.phase != Phase::Releasing || is_past || *releases_left == 0 {
            return;
        }
        *releases_left -= 1;
        self.release_request(now, source, now, None);
    }

    /// A task releases a job, or a load one request.
    fn release_due(&mut self, now: Time, Due { at, source }: Due) {
        let Source { requests, task, class, .. } = self.sources[source as usize];
        if class == Class::BestEffort {
            return self.release_request(now, source, at, None);
        }
        self.recorder.host_lateness.record(now.since(at));
        let job = LiveJob { task, released: at, left_count: requests, is_failed: false };
        let job = self.jobs.insert(job);
        for _ in 0..requests {
            self.release_request(now, source, at, job);
        }
    }

    fn release_request(&mut self, now: Time, source: u32, released: Time, job: Option<u32>) {
        let request = self.sources[source as usize].next_request(released);
        match self.requests.insert(request, job) {
            Some(request) => self.host.release(now, request),
            None => self.stop(RunEnd::Overloaded),
        }
    }

    /// The run ends early: nothing is released or dispatched any more. One that has all its
    /// results is complete and stays so.
    fn stop(&mut self, end: RunEnd) {
        if self.phase != Phase::Settling {
            self.end = end;
            self.phase = Phase::Settling;
        }
    }

    fn change_phase(&mut self, now: Time) {
        let is_past = self.span.last.is_some_and(|last| now >= last);
        if self.phase == Phase::Releasing && is_past && self.calendar.next_at().is_none() {
            self.phase = Phase::Draining;
        }
        if self.phase == Phase::Draining && self.jobs.is_empty() {
            self.phase = Phase::Settling;
        }
    }

    /// A run without a last instant is over when nothing is left that could happen.
    fn settle_idle(&mut self, ask_again: Option<Time>) {
        let is_idle = self.in_flight_count == 0 && ask_again.or(self.calendar.next_at()).is_none();
        if self.span.last.is_none() && is_idle {
            self.phase = Phase::Settling;
        }
    }

    /// Gives the device all that the policy decides to send now; until when the policy wants
    /// not to be asked, if it said so.
    fn dispatch<E: Executor + ?Sized>(
        &mut self,
        now: Time,
        executor: &mut E,
    ) -> Result<Option<Time>, ExecutorError> {
        loop {
            self.host.offer_held(now, &self.requests);
            let ask_again = self.form_batch(now);
            if self.batch.is_empty() {
                return Ok(ask_again);
            }
            self.submit(executor)?;
            // What was dispatched made room for what is held.
            if !self.host.has_held() {
                return Ok(ask_again);
            }
        }
    }

    /// One round of `decide`.
    fn form_batch(&mut self, now: Time) -> Option<Time> {
        loop {
            match self.host.decide(now) {
                Decision::Dispatch { id, .. } => self.batch.push(self.requests.get(id).request),
                Decision::AwaitEvent => return None,
                Decision::NotBefore(at) => {
                    assert!(at > now, "`{}` waits for what has been", self.policy_name);
                    return Some(at);
                }
            }
        }
    }

    fn submit<E: Executor + ?Sized>(&mut self, executor: &mut E) -> Result<(), ExecutorError> {
        let submitted = executor.now();
        executor.submit(&self.batch)?;
        let count = u32::try_from(self.batch.len()).expect("at most the depth");
        self.watch.submitted(submitted, count, self.in_flight_count, &self.plan.table);
        for request in self.batch.drain(..) {
            self.requests.submit(request.id, submitted);
        }
        self.in_flight_count += count;
        assert!(self.in_flight_count <= self.plan.depth, "more in flight than the drive accepts");
        Ok(())
    }

    /// Until when there is nothing to do but to look at completions.
    fn wake_at(&self, ask_again: Option<Time>) -> Option<Time> {
        let release = match self.phase {
            Phase::Releasing => self.calendar.next_at().or(self.span.last),
            Phase::Draining | Phase::Settling => None,
        };
        release.into_iter().chain(ask_again).min()
    }

    fn outcome(mut self, now: Time) -> RunOutcome {
        for job in self.jobs.iter() {
            self.recorder.unfinished(now, job);
        }
        let (real_time, best_effort) = self.recorder.class_outcomes();
        RunOutcome {
            policy: self.policy_name,
            seed: self.seed,
            end: self.end,
            tasks: self.recorder.task_outcomes(),
            real_time,
            best_effort,
            requests: self.recorder.requests,
            requests_failed: self.recorder.requests_failed,
            events: self.host.events,
            host_lateness: self.recorder.host_lateness.summary(),
            device_time: self.recorder.device_time.summary(),
            batches: self.watch.batches,
            overruns: self.watch.overruns,
            overrun_max: self.watch.overrun_highest,
            wall: now.since(Time::ZERO),
        }
    }
}

/// Requests under way that a workload which the device can serve rarely exceeds: two jobs of
/// each task, and what closed loops keep under way.
fn expected_count(sources: &[Source]) -> usize {
    let count_of = |source: &Source| source.outstanding.unwrap_or(2 * source.requests);
    sources.iter().map(|source| count_of(source) as usize).sum()
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a policy that decides by drain times against an adversary that controls the drive and the
//! releases, and counts the results. [`crate::drain_system`] defines the systems.
//!
//! The loop is a small version of every host's loop: completions, releases of tasks, releases of
//! best effort, one round. It is separate from `host` because there releases do not depend on the
//! drive; the `drains` tests run the host itself on the same drive.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::Drive;
use tidegate_model::{Class, Duration, Outcome, Request, RequestId, Time};
use tidegate_policy::{Decision, Event, Policy};

use crate::black_box::{BlackBox, CompletionStrategy};
use crate::drain_system::{DrainSystem, DrainTask, request};

/// The results of a duel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Jobs released.
    pub jobs: u64,
    /// Real-time requests that were incomplete at their deadline, whether or not they completed
    /// later.
    pub misses: u64,
    /// The largest excess of a response over its task's deadline.
    pub lateness_max: u64,
    /// Best-effort requests that completed.
    pub best_effort: u64,
    /// The most best-effort requests in flight at the same time.
    pub best_effort_highest: u32,
}

/// When a task releases next, never before its period is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReleasePattern {
    /// As soon as allowed.
    Eager,
    /// Just after a dispatch.
    AfterDispatch,
    /// Just before the latest instant at which the drive is empty.
    BeforeEmpty,
    /// At the latest instant at which the drive is empty.
    AtEmpty,
    /// Together with all other tasks.
    Together,
    /// Some time later.
    Late,
}

const PATTERNS: [ReleasePattern; 6] = [
    ReleasePattern::Eager,
    ReleasePattern::AfterDispatch,
    ReleasePattern::BeforeEmpty,
    ReleasePattern::AtEmpty,
    ReleasePattern::Together,
    ReleasePattern::Late,
];

struct Duel<'a, P> {
    system: &'a DrainSystem,
    policy: P,
    drive: BlackBox,
    random: Pcg64,
    /// The pattern of all tasks; `None` chooses one at random for each job.
    pattern: Option<ReleasePattern>,
    now: Time,
    /// The earliest next release of each task.
    earliest: Vec<Time>,
    /// The planned release of each task.
    planned: Vec<Time>,
    jobs_left: Vec<u32>,
    /// Requests that are not complete, by id.
    open: BTreeMap<RequestId, Request>,
    /// The deadlines of these requests, if they have one.
    dues: BTreeSet<(Time, RequestId)>,
    best_effort_owed: u32,
    best_effort_in_flight: u32,
    next_id: u64,
    tally: Tally,
}

/// Lets the adversary release `jobs` jobs of each task against the policy, until a job misses its
/// deadline.
///
/// # Panics
/// If the policy breaks its protocol, or sends more requests than the drive accepts.
pub fn duel(
    system: &DrainSystem,
    policy: impl Policy,
    strategy: CompletionStrategy,
    jobs: u32,
    mut random: Pcg64,
) -> Tally {
    let kinds = PATTERNS.len();
    let pattern = (!random.random_bool(0.4)).then(|| PATTERNS[random.random_range(0..kinds)]);
    let count = system.tasks.len();
    let drive = system.black_box(strategy, random.clone());
    let mut duel = Duel {
        system,
        policy,
        drive,
        random,
        pattern,
        now: Time::ZERO,
        earliest: vec![Time::ZERO; count],
        planned: vec![Time::ZERO; count],
        jobs_left: vec![jobs; count],
        open: BTreeMap::new(),
        dues: BTreeSet::new(),
        best_effort_owed: system.best_effort,
        best_effort_in_flight: 0,
        next_id: 0,
        tally: Tally::default(),
    };
    for task in 0..count {
        duel.plan(task);
    }
    duel.run()
}

impl<P: Policy> Duel<'_, P> {
    fn run(mut self) -> Tally {
        loop {
            self.complete();
            self.release();
            self.dispatch();
            // A starved request never completes: it is late as soon as its deadline has passed.
            let is_late = self.dues.first().is_some_and(|&(due, _)| due < self.now);
            self.tally.misses += u64::from(is_late && self.tally.misses == 0);
            let is_over = self.jobs_left.iter().all(|&left| left == 0) && self.dues.is_empty();
            if is_over || self.tally.misses > 0 {
                return self.tally;
            }
            let releases = self.planned.iter().zip(&self.jobs_left);
            let releases = releases.filter(|&(_, &left)| left > 0).map(|(&at, _)| at);
            let next = releases.chain(self.drive.next_event()).min();
            self.now = next.expect("real time is neither complete nor on its way");
        }
    }

    fn complete(&mut self) {
        let mut done = Vec::new();
        self.drive.advance(self.now, &mut done);
        for completion in done {
            let request = self.open.remove(&completion.id).expect("a request on the drive");
            if let Some(due) = request.due {
                let lateness = self.now.since(due).ns();
                self.tally.misses += u64::from(lateness > 0);
                self.tally.lateness_max = self.tally.lateness_max.max(lateness);
                self.dues.remove(&(due, request.id));
            } else {
                self.tally.best_effort += 1;
                self.best_effort_in_flight -= 1;
                self.best_effort_owed += 1;
            }
            let event = Event::Complete { id: request.id, outcome: Outcome::Done };
            self.policy.observe(self.now, event).expect("only a release can be refused");
        }
    }

    fn release(&mut self) {
        for task in 0..self.system.tasks.len() {
            if self.jobs_left[task] > 0 && self.planned[task] <= self.now {
                let DrainTask { period, deadline, requests } = self.system.tasks[task];
                self.jobs_left[task] -= 1;
                self.tally.jobs += 1;
                self.earliest[task] = self.now + Duration::from_ns(period);
                let due = self.now + Duration::from_ns(deadline);
                for _ in 0..requests {
                    self.release_one(task, Class::Hard, Some(due));
                }
                self.plan(task);
            }
        }
        for _ in 0..std::mem::take(&mut self.best_effort_owed) {
            self.release_one(self.system.tasks.len(), Class::BestEffort, None);
        }
    }

    fn release_one(&mut self, source: usize, class: Class, due: Option<Time>) {
        let request = request(self.next_id, source, class, self.now, due);
        self.next_id += 1;
        self.open.insert(request.id, request);
        self.dues.extend(due.map(|due| (due, request.id)));
        self.policy
            .observe(self.now, Event::Release(request))
            .expect("the policy has room for all");
    }

    fn dispatch(&mut self) {
        let mut batch = Vec::new();
        while let Decision::Dispatch { id, .. } = self.policy.decide(self.now) {
            let request = self.open[&id];
            self.best_effort_in_flight += u32::from(request.due.is_none());
            batch.push(request);
        }
        let count = self.drive.held_count() + batch.len();
        assert!(count <= self.system.depth as usize, "more than the drive accepts");
        let highest = self.tally.best_effort_highest.max(self.best_effort_in_flight);
        self.tally.best_effort_highest = highest;
        if !batch.is_empty() {
            self.drive.submit(self.now, &batch);
            for task in 0..self.planned.len() {
                self.plan(task);
            }
        }
    }

    /// Plans a task's release again, because the adversary has seen the last dispatch.
    fn plan(&mut self, task: usize) {
        let kinds = PATTERNS.len();
        let pattern = self.pattern.unwrap_or_else(|| PATTERNS[self.random.random_range(0..kinds)]);
        let tick = Duration::from_ns(1);
        let empty_by = self.drive.empty_by();
        let wanted = match pattern {
            ReleasePattern::Eager => Time::ZERO,
            ReleasePattern::AfterDispatch => self.now + tick,
            ReleasePattern::BeforeEmpty => Time::from_ns(empty_by.ns().saturating_sub(1)),
            ReleasePattern::AtEmpty => empty_by,
            ReleasePattern::Together => self.earliest.iter().copied().max().unwrap_or_default(),
            ReleasePattern::Late => {
                let period = self.system.tasks[task].period;
                self.now + Duration::from_ns(self.random.random_range(1..=2 * period))
            }
        };
        let is_begun = self.now > Time::ZERO || self.next_id > 0;
        let soonest = if is_begun { self.now + tick } else { self.now };
        // A drive that completes requests one by one may never be empty, so no task waits for
        // longer than this.
        let latest = self.earliest[task] + Duration::from_ns(2 * self.system.tasks[task].period);
        self.planned[task] = wanted.min(latest).max(self.earliest[task]).max(soonest);
    }
}

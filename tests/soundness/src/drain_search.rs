// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Searches all possible behaviour of a drive that keeps drain(q) and of sporadic tasks of one
//! request each in a tiny system: each set of completions and releases at each tick.
//!
//! The search clones the policies' own code at every step. States that differ only by a shift in
//! time or by ids are one state, because the policies cannot distinguish them, so a visited state
//! is not searched again. Best effort either always has more requests than the drive accepts, or
//! has exactly as many as the drive accepts, once.

use std::collections::{BTreeSet, HashSet};

use tidegate_model::{Class, Duration, Outcome, RequestId, Time};
use tidegate_policy::{Decision, Event, Policy};

use crate::drain_system::{DrainSystem, request};

/// The result of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Whether a job missed its deadline.
    pub is_missed: bool,
    /// The number of states, or of the states visited until the miss.
    pub states: usize,
}

#[derive(Debug, Clone)]
struct State<P> {
    policy: P,
    now: u64,
    empty_by: u64,
    supply: Supply,
    best_effort: BTreeSet<RequestId>,
    best_effort_queued: u64,
    /// The job in progress of each task: its request, its deadline, and whether it is on the drive.
    jobs: Vec<Option<(RequestId, u64, bool)>>,
    earliest: Vec<u64>,
    next_id: u64,
}

/// The supply of best effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// One request more than the drive accepts, and another for each that completes.
    Endless,
    /// As many requests as the drive accepts, from the start.
    Once,
}

/// Searches everything that can happen to `policy`, until a job misses its deadline.
///
/// # Panics
/// If there are more than `states_max` states.
pub fn search<P: Policy + Clone>(
    system: &DrainSystem,
    policy: P,
    supply: Supply,
    states_max: usize,
) -> Found {
    let count = system.tasks.len();
    let mut start = State {
        policy,
        now: 0,
        empty_by: 0,
        supply,
        best_effort: BTreeSet::new(),
        best_effort_queued: 0,
        jobs: vec![None; count],
        earliest: vec![0; count],
        next_id: 0,
    };
    for _ in 0..system.depth + u32::from(supply == Supply::Endless) {
        start.release_best_effort(system);
    }
    let mut seen = HashSet::from([start.key()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        assert!(seen.len() <= states_max, "more states than expected: {system:?}");
        for (completions, best_effort) in state.completions() {
            for releases in 0..1_u32 << count {
                let Some(mut next) = state.stepped(system, completions, best_effort, releases)
                else {
                    continue;
                };
                next.now += 1;
                if next.jobs.iter().flatten().any(|&(_, due, _)| due < next.now) {
                    return Found { is_missed: true, states: seen.len() };
                }
                if seen.insert(next.key()) {
                    open.push(next);
                }
            }
        }
    }
    Found { is_missed: false, states: seen.len() }
}

impl<P: Policy + Clone> State<P> {
    /// Returns the part of the state that determines the future, with times relative to the
    /// present.
    fn key(&self) -> Vec<u64> {
        let jobs = self.jobs.iter().zip(&self.earliest).flat_map(|(job, earliest)| {
            let job = job.map_or([0, 0], |(_, due, is_on_drive)| {
                [due - self.now + 1, 1 + u64::from(is_on_drive)]
            });
            [job[0], job[1], earliest.saturating_sub(self.now)]
        });
        let left = self.empty_by.saturating_sub(self.now);
        [left, self.best_effort.len() as u64, self.best_effort_queued]
            .into_iter()
            .chain(jobs)
            .collect()
    }

    /// Returns the sets of jobs and the numbers of best-effort requests that may complete now.
    fn completions(&self) -> Vec<(u32, usize)> {
        let on_drive = (0_u32..).zip(&self.jobs).filter(|(_, job)| job.is_some_and(|job| job.2));
        let all: u32 = on_drive.map(|(task, _)| 1 << task).sum();
        if self.now >= self.empty_by {
            return vec![(all, self.best_effort.len())];
        }
        let sets = (0..=all).filter(|set| set & !all == 0);
        sets.flat_map(|set| (0..=self.best_effort.len()).map(move |count| (set, count))).collect()
    }

    /// Returns the next state if these requests complete and these tasks release; `None` if a task
    /// may not release.
    fn stepped(
        &self,
        system: &DrainSystem,
        completions: u32,
        best_effort: usize,
        releases: u32,
    ) -> Option<Self> {
        let mut next = self.clone();
        let now = Time::from_ns(self.now);
        let done: Vec<RequestId> = next.best_effort.iter().copied().take(best_effort).collect();
        for id in done {
            next.best_effort.remove(&id);
            next.complete(id);
        }
        for task in (0..self.jobs.len()).filter(|task| completions >> task & 1 == 1) {
            let (id, ..) = next.jobs[task].take().expect("a job on the drive");
            next.complete(id);
        }
        for task in (0..self.jobs.len()).filter(|task| releases >> task & 1 == 1) {
            let parameters = system.tasks[task];
            if next.earliest[task] > self.now {
                return None;
            }
            assert!(next.jobs[task].is_none(), "the deadline is within the period, and was met");
            let due = self.now + parameters.deadline;
            let request = request(next.next_id, task, Class::Hard, now, Some(Time::from_ns(due)));
            next.next_id += 1;
            next.earliest[task] = self.now + parameters.period;
            next.jobs[task] = Some((request.id, due, false));
            next.policy.observe(now, Event::Release(request)).expect("the policy has room for all");
        }
        for _ in 0..if self.supply == Supply::Endless { best_effort } else { 0 } {
            next.release_best_effort(system);
        }
        next.dispatch(system);
        Some(next)
    }

    fn complete(&mut self, id: RequestId) {
        let event = Event::Complete { id, outcome: Outcome::Done };
        self.policy.observe(Time::from_ns(self.now), event).expect("only a release can be refused");
    }

    fn release_best_effort(&mut self, system: &DrainSystem) {
        let now = Time::from_ns(self.now);
        let request = request(self.next_id, system.tasks.len(), Class::BestEffort, now, None);
        self.next_id += 1;
        self.best_effort_queued += 1;
        self.policy.observe(now, Event::Release(request)).expect("the policy has room for all");
    }

    fn dispatch(&mut self, system: &DrainSystem) {
        let mut is_any = false;
        while let Decision::Dispatch { id, .. } = self.policy.decide(Time::from_ns(self.now)) {
            is_any = true;
            if let Some(job) = self.jobs.iter_mut().flatten().find(|job| job.0 == id) {
                job.2 = true;
            } else {
                assert!(self.best_effort.insert(id), "dispatched twice");
                self.best_effort_queued -= 1;
            }
        }
        if is_any {
            let jobs = self.jobs.iter().flatten().filter(|job| job.2).count();
            let drain = system.drain[self.best_effort.len() + jobs - 1];
            self.empty_by = self.now + Duration::from_ns(drain).ns();
        }
    }
}

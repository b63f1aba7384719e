// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for dual-queue EDF: finds the true worst case of every task.
//!
//! The possible events are those of `adversary`, with another order: an idle device gets the min(z,
//! queued) requests with the earliest absolute deadlines; among equal deadlines the adversary
//! chooses. With z = 1 and beta = 1 this is one-at-a-time EDF beside endless best effort.
//!
//! Requests differ by their deadlines, so a state holds every job that has requests queued, with
//! the time left until its deadline, from which its age follows. Two observations keep the search
//! small.
//!
//! 1. A job's response time is determined when its last request is sent, because the batch can take
//!    its longest time. Requests in flight need no identity.
//! 2. Among states with the same jobs queued, dominated states are left out as in `adversary`.

use std::collections::HashMap;

use crate::adversary::{Extent, STATES_MAX, TASKS_MAX, WorstCase, guards, pack};
use crate::frontier::Frontier;
use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, SmallTask, Ticks};

/// Returns the true worst-case response times of a system under dual-queue EDF.
///
/// # Panics
/// If the system exceeds the limits of `adversary`, or a deadline exceeds 10,000 ticks.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    Search::new(system, rules).run()
}

/// A job with requests queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Job {
    /// Ticks until its deadline; negative after it.
    until_due: i32,
    /// The group of equal tasks to which its task belongs.
    group: usize,
    /// Requests not yet sent.
    queued: u32,
}

/// The part of the history that determines the future.
#[derive(Debug, Clone)]
struct State {
    /// Jobs in order of deadline.
    jobs: Vec<Job>,
    /// Time until each task may release again; equal tasks in ascending order.
    cooldown: [Ticks; TASKS_MAX],
    /// Longest remaining time of the batch in flight; 0 = the device is idle.
    left: Ticks,
    /// The batch was sent at this tick and may not end yet.
    is_fresh: bool,
}

impl State {
    fn packed(&self) -> u64 {
        pack(self.cooldown, self.left, self.is_fresh)
    }

    fn queued(&self) -> u32 {
        self.jobs.iter().map(|job| job.queued).sum()
    }
}

/// Tasks with equal parameters.
struct Group {
    task: SmallTask,
    /// The positions of their cooldowns.
    places: std::ops::Range<usize>,
}

struct Search<'a> {
    system: &'a SmallSystem,
    rules: Rules,
    groups: Vec<Group>,
    queued_max: u32,
    frontiers: HashMap<Vec<Job>, Frontier>,
    open: Vec<State>,
    /// The longest response of each group.
    responses: Vec<Ticks>,
    states: usize,
}

impl<'a> Search<'a> {
    fn new(system: &'a SmallSystem, rules: Rules) -> Self {
        assert!(system.tasks.len() <= TASKS_MAX, "too many tasks to search");
        assert!(system.tasks.iter().all(|task| task.deadline <= 10_000), "deadline too long");
        let mut tasks = system.tasks.clone();
        tasks.sort_unstable();
        let mut groups: Vec<Group> = Vec::new();
        for (place, &task) in tasks.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.task == task => group.places.end += 1,
                _ => groups.push(Group { task, places: place..place + 1 }),
            }
        }
        Self {
            system,
            rules,
            responses: vec![0; groups.len()],
            groups,
            // As under FIFO, the number of waiting requests does not depend on their order.
            queued_max: system.requests_sum() + 2 * system.batch_max,
            frontiers: HashMap::new(),
            open: Vec::new(),
            states: 0,
        }
    }

    fn run(mut self) -> WorstCase {
        let cooldown = [0; TASKS_MAX];
        let start = State { jobs: Vec::new(), cooldown, left: 0, is_fresh: false };
        let mut extent = self.visit(start);
        while let (Ok(()), Some(state)) = (extent, self.open.pop()) {
            if self.frontiers[&state.jobs].contains(state.packed()) {
                extent = self.expand(&state);
            }
        }
        let response_of = |task: &SmallTask| {
            let group = self.groups.iter().position(|group| group.task == *task);
            self.responses[group.expect("every task is of a group")]
        };
        let responses = self.system.tasks.iter().map(response_of).collect();
        WorstCase { responses, extent: extent.err().unwrap_or(Extent::Whole), states: self.states }
    }

    /// Visits all next states that the adversary can choose.
    fn expand(&mut self, state: &State) -> Result<(), Extent> {
        if !state.is_fresh {
            self.send_batch(state)?;
        }
        // An idle device does not wait while requests are queued (work-conserving).
        if state.left > 0 || state.jobs.is_empty() {
            self.visit(later(state))?;
        }
        // The last state is searched first: releases lead to the states that dominate others.
        for group in 0..self.groups.len() {
            // The first of equal tasks has the least cooldown; one stands for all.
            if state.cooldown[self.groups[group].places.start] == 0 {
                self.release(state, group)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, state: &State, group: usize) -> Result<(), Extent> {
        let Group { task, ref places } = self.groups[group];
        let place = places.start;
        let smallest = match self.rules.jobs {
            JobSize::Whole => task.requests,
            JobSize::UpToWhole => 1,
        };
        let until_due = i32::try_from(task.deadline).expect("checked on entry");
        for queued in smallest..=task.requests {
            let mut next = state.clone();
            next.cooldown[place] = task.period;
            next.jobs.push(Job { until_due, group, queued });
            self.visit(next)?;
        }
        Ok(())
    }

    /// Sends the next batch to a device that is idle or whose batch ends now, with every order of
    /// equal deadlines.
    fn send_batch(&mut self, state: &State) -> Result<(), Extent> {
        let count = state.queued().min(self.system.batch_max);
        let cost = self.system.batch_cost(count);
        if cost == 0 {
            return Ok(());
        }
        let is_fresh = self.rules.shortest_batch == ShortestBatch::OneTick;
        for kept in choices(&state.jobs, count) {
            for (job, kept) in state.jobs.iter().zip(&kept) {
                if *kept == 0 {
                    let deadline = i64::from(self.groups[job.group].task.deadline);
                    let age = deadline - i64::from(job.until_due);
                    let age = Ticks::try_from(age).expect("released before");
                    let response = &mut self.responses[job.group];
                    *response = (*response).max(age + cost);
                }
            }
            let jobs = state.jobs.iter().zip(kept).filter(|&(_, kept)| kept > 0);
            let jobs = jobs.map(|(job, queued)| Job { queued, ..*job }).collect();
            self.visit(State { jobs, left: cost, is_fresh, ..*state })?;
        }
        Ok(())
    }

    fn visit(&mut self, mut state: State) -> Result<(), Extent> {
        state.jobs.sort_unstable();
        for group in &self.groups {
            state.cooldown[group.places.clone()].sort_unstable();
        }
        if state.queued() > self.queued_max {
            return Err(Extent::BacklogUnbounded);
        }
        let frontier =
            self.frontiers.entry(state.jobs.clone()).or_insert_with(|| Frontier::new(guards()));
        if !frontier.insert(state.packed()) {
            return Ok(());
        }
        self.states += 1;
        self.open.push(state);
        if self.states > STATES_MAX { Err(Extent::TooManyStates) } else { Ok(()) }
    }
}

fn later(state: &State) -> State {
    // Saturation is intended: a task that may release stays ready, an idle device stays idle.
    let mut next = state.clone();
    next.cooldown = state.cooldown.map(|cooldown| cooldown.saturating_sub(1));
    next.left = state.left.saturating_sub(1);
    next.is_fresh = false;
    for job in &mut next.jobs {
        job.until_due -= 1;
    }
    next
}

/// Returns every way to send the `count` earliest requests of jobs in order of deadline, as the
/// number of requests that each job keeps queued.
fn choices(jobs: &[Job], count: u32) -> Vec<Vec<u32>> {
    let mut ways = vec![(Vec::new(), count)];
    for run in jobs.chunk_by(|a, b| a.until_due == b.until_due) {
        for (index, job) in run.iter().enumerate() {
            // Requests not taken from this job must be taken from the other jobs with the same
            // deadline.
            let behind: u32 = run[index + 1..].iter().map(|job| job.queued).sum();
            ways = ways.into_iter().flat_map(|way| taken_from(way, job.queued, behind)).collect();
        }
    }
    ways.into_iter().map(|(kept, _)| kept).collect()
}

fn taken_from(
    (kept, left): (Vec<u32>, u32),
    queued: u32,
    behind: u32,
) -> impl Iterator<Item = (Vec<u32>, u32)> {
    let least = left.saturating_sub(behind).min(queued);
    (least..=queued.min(left)).map(move |taken| {
        let kept = kept.iter().copied().chain([queued - taken]).collect();
        (kept, left - taken)
    })
}

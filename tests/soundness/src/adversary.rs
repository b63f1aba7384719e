// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for dual-queue FIFO: finds the true worst case of every task.
//!
//! The possible events come only from the model (9.2.1 to 9.2.3) and the policy's rule. A task
//! releases a job at any tick at least p after its last job. An idle device gets a batch of the
//! min(z, queued) oldest requests. A batch takes any time up to its limit. Events of one tick come
//! in any order. With best effort in it, a batch with j real-time requests takes up to b(max(j,
//! beta)), and an idle device without real-time requests may get a batch of best effort at any
//! tick.
//!
//! Whole ticks lose nothing: for a given order of events all constraints bound differences of
//! instants by whole numbers, so the longest response has whole instants. Batches of zero time are
//! included.
//!
//! Three observations keep the search small; `tagged` and `schedules` do not use them and must
//! agree.
//!
//! 1. FIFO: only the number of waiting requests matters, not which requests wait. A state is (time
//!    until each task may release again, requests queued, longest remaining time of the batch in
//!    flight).
//! 2. A job's response time is determined at its release. Let N be the number of requests up to and
//!    including its own, and T = (remaining time) + (ceil(N/z) - 1) b(z) the time until its last
//!    batch is sent. All batches before that are full in any case, so neither shorter batches nor
//!    other releases can delay the job further, and releases within T can only enlarge its last
//!    batch.
//! 3. A state dominates another with as many requests queued, if no task has to wait longer, the
//!    batch in flight has at least as much time remaining, and it may end as soon (see `frontier`).
//!    A batch may end early, so "ending" is not a separate step but the first half of sending the
//!    next batch: the dominating state must be able to follow.

use crate::frontier::Frontier;
use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, Ticks};

/// The most tasks of a searched system.
pub const TASKS_MAX: usize = 5;
/// The longest period, in ticks.
pub const PERIOD_MAX: Ticks = 31;
/// The longest batch, in ticks.
pub const BATCH_TIME_MAX: Ticks = 127;
/// The most states of a search.
pub const STATES_MAX: usize = 100_000;

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstCase {
    /// The longest response of each task, in order of the tasks.
    pub responses: Vec<Ticks>,
    /// Whether longer responses are excluded.
    pub extent: Extent,
    /// Number of states searched.
    pub states: usize,
}

/// How much of a system was searched. The responses found are possible in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole system: the responses are the true worst case.
    Whole,
    /// More requests queue up than in any system without overload.
    BacklogUnbounded,
    /// The search reached its limit of states.
    TooManyStates,
}

/// Returns the true worst-case response times of a system under dual-queue FIFO.
///
/// # Panics
/// If the system exceeds [`TASKS_MAX`], [`PERIOD_MAX`] or [`BATCH_TIME_MAX`].
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    Search::new(system, rules).run()
}

/// The part of the history that determines the future.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Time until each task may release again; equal tasks in ascending order.
    cooldown: [Ticks; TASKS_MAX],
    /// Requests in the host's queue.
    queued: u32,
    /// Longest remaining time of the batch in flight; 0 = the device is idle.
    left: Ticks,
    /// The batch was sent at this tick and may not end yet.
    is_fresh: bool,
}

impl State {
    fn packed(&self) -> u64 {
        pack(self.cooldown, self.left, self.is_fresh)
    }
}

struct Search<'a> {
    system: &'a SmallSystem,
    rules: Rules,
    /// Positions in the system's `tasks`; equal tasks are neighbours.
    order: Vec<usize>,
    /// Ranges of `order` with tasks of equal period and requests.
    alike: Vec<std::ops::Range<usize>>,
    frontiers: Vec<Frontier>,
    open: Vec<State>,
    responses: Vec<Ticks>,
    states: usize,
}

const COOLDOWN_BITS: u32 = 6;
const LEFT_BITS: u32 = 8;

impl<'a> Search<'a> {
    fn new(system: &'a SmallSystem, rules: Rules) -> Self {
        let key = |task: &usize| {
            let task = system.tasks[*task];
            (task.requests, task.period)
        };
        assert!(system.tasks.len() <= TASKS_MAX, "too many tasks to search");
        assert!(system.tasks.iter().all(|task| task.period <= PERIOD_MAX), "period too long");
        assert!(system.table.iter().all(|&time| time <= BATCH_TIME_MAX), "batches take too long");
        let mut order: Vec<usize> = (0..system.tasks.len()).collect();
        order.sort_by_key(key);
        let mut alike: Vec<std::ops::Range<usize>> = Vec::new();
        for position in 0..order.len() {
            match alike.last_mut() {
                Some(range) if key(&order[range.start]) == key(&order[position]) => range.end += 1,
                _ => alike.push(position..position + 1),
            }
        }
        let responses = vec![0; alike.len()];
        // Without overload at most E + z requests wait. More requests show that the backlog has no
        // bound.
        let queued_max = system.requests_sum() + 2 * system.batch_max;
        let frontiers = (0..=queued_max).map(|_| Frontier::new(guards())).collect();
        let open = Vec::new();
        Self { system, rules, order, alike, frontiers, open, responses, states: 0 }
    }

    fn run(mut self) -> WorstCase {
        let start = State { cooldown: [0; TASKS_MAX], queued: 0, left: 0, is_fresh: false };
        let mut extent = self.visit(start);
        while let (Ok(()), Some(state)) = (extent, self.open.pop()) {
            if self.frontiers[state.queued as usize].contains(state.packed()) {
                extent = self.expand(&state);
            }
        }
        let mut responses = vec![0; self.order.len()];
        for (range, &response) in self.alike.iter().zip(&self.responses) {
            for &task in &self.order[range.clone()] {
                responses[task] = response;
            }
        }
        let extent = extent.err().unwrap_or(Extent::Whole);
        WorstCase { responses, extent, states: self.states }
    }

    /// Visits all next states that the adversary can choose.
    fn expand(&mut self, state: &State) -> Result<(), Extent> {
        if !state.is_fresh {
            self.send_batch(state)?;
        }
        // An idle device does not wait while requests are queued (work-conserving).
        if state.left > 0 || state.queued == 0 {
            self.tick(state)?;
        }
        // The last state is searched first: releases lead to the states that dominate others.
        for group in 0..self.alike.len() {
            // The first of equal tasks has the least cooldown; one stands for all.
            if state.cooldown[self.alike[group].start] == 0 {
                self.release(state, group)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, state: &State, group: usize) -> Result<(), Extent> {
        let position = self.alike[group].start;
        let task = self.system.tasks[self.order[position]];
        let smallest = match self.rules.jobs {
            JobSize::Whole => task.requests,
            JobSize::UpToWhole => 1,
        };
        for requests in smallest..=task.requests {
            let mut next = *state;
            next.cooldown[position] = task.period;
            next.queued += requests;
            self.responses[group] = self.responses[group].max(self.response(&next));
            self.visit(next)?;
        }
        Ok(())
    }

    /// Sends the next batch to a device that is idle or whose batch ends now.
    fn send_batch(&mut self, state: &State) -> Result<(), Extent> {
        let real_time = state.queued.min(self.system.batch_max);
        let cost = self.system.batch_cost(real_time);
        if cost == 0 {
            return Ok(());
        }
        let is_fresh = self.rules.shortest_batch == ShortestBatch::OneTick;
        self.visit(State { queued: state.queued - real_time, left: cost, is_fresh, ..*state })
    }

    fn tick(&mut self, state: &State) -> Result<(), Extent> {
        // Saturation is intended: a task that may release stays ready, an idle device stays idle.
        let mut next = *state;
        next.cooldown = state.cooldown.map(|cooldown| cooldown.saturating_sub(1));
        next.left = state.left.saturating_sub(1);
        next.is_fresh = false;
        self.visit(next)
    }

    /// Returns the longest response of the job that was just released into `state`, at the end of
    /// the queue (observation 2).
    fn response(&self, state: &State) -> Ticks {
        let batch_max = self.system.batch_max;
        let full_count = (state.queued - 1) / batch_max;
        let sent = state.left + full_count * self.system.batch_cost(batch_max);
        let freeloaders: u32 = self
            .order
            .iter()
            .zip(state.cooldown)
            .map(|(&task, cooldown)| {
                let task = self.system.tasks[task];
                sent.checked_sub(cooldown)
                    .map_or(0, |rest| task.requests * (rest / task.period + 1))
            })
            .sum();
        let last = (state.queued - full_count * batch_max + freeloaders).min(batch_max);
        sent + self.system.batch_cost(last)
    }

    fn visit(&mut self, mut state: State) -> Result<(), Extent> {
        for range in &self.alike {
            state.cooldown[range.clone()].sort_unstable();
        }
        let Some(frontier) = self.frontiers.get_mut(state.queued as usize) else {
            return Err(Extent::BacklogUnbounded);
        };
        if !frontier.insert(state.packed()) {
            return Ok(());
        }
        self.states += 1;
        self.open.push(state);
        if self.states > STATES_MAX { Err(Extent::TooManyStates) } else { Ok(()) }
    }
}

/// Packs a state without the queue; in each field a smaller value is better for the adversary.
pub(crate) fn pack(cooldown: [Ticks; TASKS_MAX], left: Ticks, is_fresh: bool) -> u64 {
    let done = u64::from(BATCH_TIME_MAX - left) << 2 | u64::from(is_fresh);
    cooldown.iter().fold(done, |word, &cooldown| word << COOLDOWN_BITS | u64::from(cooldown))
}

pub(crate) fn guards() -> u64 {
    let done = 1_u64 << (LEFT_BITS - 1) << 2 | 0b10;
    (0..TASKS_MAX).fold(done, |word, _| word << COOLDOWN_BITS | 1 << (COOLDOWN_BITS - 1))
}

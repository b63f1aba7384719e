// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for dual-queue FIFO: the true worst case of every task.
//!
//! What may happen, taken from the model (9.2.1 to 9.2.3) and the policy's rule alone: a
//! task releases a job at any tick at least p after its last one; an idle device gets a
//! batch of the min(z, queued) oldest requests; a batch takes any time up to its limit;
//! events of one tick come in any order. With best effort aboard a batch with j real-time
//! requests takes up to b(max(j, beta)), and an idle device without real-time requests may
//! be given a batch of best effort at any tick.
//!
//! Whole ticks lose nothing: for a given order of events all constraints bound differences
//! of instants by whole numbers, so the longest response has whole instants, batches of no
//! time included.
//!
//! Three observations keep the search small; `tagged` and `schedules` do without them and
//! must agree.
//!
//! 1. FIFO: who waits does not matter, only how many. A state is (time until each task may
//!    release again, requests queued, longest time left of the batch in flight).
//! 2. A job's response is settled when it is released. With N requests up to and including
//!    its own and T = (time left) + (ceil(N/z) - 1) b(z) until its last batch is sent, all
//!    batches before that are full whatever comes, so neither shorter batches nor other
//!    releases can delay it further, and releases within T can only enlarge its last batch.
//! 3. A state can do all that another with as many requests queued can, if no task has
//!    longer to wait, the batch in flight has at least as long to go, and it may end as
//!    soon (see `frontier`). A batch may end early, so "ending" is no step of its own but
//!    the first half of sending the next one: the dominating state must be able to follow.

use crate::frontier::Frontier;
use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, Ticks};

/// The most tasks of a system that is searched.
pub const TASKS_MAX: usize = 5;
/// The longest period, in ticks.
pub const PERIOD_MAX: Ticks = 31;
/// The longest batch, in ticks.
pub const BATCH_TIME_MAX: Ticks = 127;
/// Where a search stops.
pub const STATES_MAX: usize = 100_000;

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstCase {
    /// The longest response of each task, in order of the tasks.
    pub responses: Vec<Ticks>,
    /// Whether there is nothing beyond them.
    pub extent: Extent,
    /// How many states were searched.
    pub states: usize,
}

/// How much of a system was searched. What was found happens in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Everything: the responses are the true worst case.
    Whole,
    /// More requests queue up than in any system that is not overloaded.
    BacklogUnbounded,
    /// The limit of states was met.
    TooManyStates,
}

/// The true worst-case response times of a system under dual-queue FIFO.
///
/// # Panics
/// When the system exceeds [`TASKS_MAX`], [`PERIOD_MAX`] or [`BATCH_TIME_MAX`].
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    Search::new(system, rules).run()
}

/// What the future depends on.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Time until each task may release again; alike tasks in ascending order.
    cooldown: [Ticks; TASKS_MAX],
    /// Requests in the host's queue.
    queued: u32,
    /// Longest time left of the batch in flight; 0 = the device is idle.
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
    /// Alike tasks are neighbours here: position in `tasks` of the system.
    order: Vec<usize>,
    /// Ranges of `order` with tasks that differ in nothing that matters.
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
        // Not overloaded: at most E + z wait. More shows that the backlog has no bound.
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

    /// Everything that the adversary may do next.
    fn expand(&mut self, state: &State) -> Result<(), Extent> {
        if !state.is_fresh {
            self.send_batch(state)?;
        }
        // Time stands still while an idle device has requests waiting (work-conserving).
        if state.left > 0 || state.queued == 0 {
            self.tick(state)?;
        }
        // Last in, first searched: releases lead to the states that make others superfluous.
        for group in 0..self.alike.len() {
            // The first of alike tasks has the least cooldown; one may stand for all.
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
        // Saturation is meant: a task that may release does not become readier, an idle
        // device stays idle.
        let mut next = *state;
        next.cooldown = state.cooldown.map(|cooldown| cooldown.saturating_sub(1));
        next.left = state.left.saturating_sub(1);
        next.is_fresh = false;
        self.visit(next)
    }

    /// The longest response of the job that was just released into `state`, at the end of
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

/// All of a state but the queue, each field the better for the adversary the smaller.
pub(crate) fn pack(cooldown: [Ticks; TASKS_MAX], left: Ticks, is_fresh: bool) -> u64 {
    let done = u64::from(BATCH_TIME_MAX - left) << 2 | u64::from(is_fresh);
    cooldown.iter().fold(done, |word, &cooldown| word << COOLDOWN_BITS | u64::from(cooldown))
}

pub(crate) fn guards() -> u64 {
    let done = 1_u64 << (LEFT_BITS - 1) << 2 | 0b10;
    (0..TASKS_MAX).fold(done, |word, _| word << COOLDOWN_BITS | 1 << (COOLDOWN_BITS - 1))
}

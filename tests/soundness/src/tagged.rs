// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plain search: finds the true worst case of any rule that can be stated as a [`Game`],
//! without shortcuts.
//!
//! It visits every state of a system. From every release it follows the job to its completion
//! through all possible behaviour: one tagged job, its place in the queue, and all choices. Its
//! code is independent of `adversary`, so that the two can disagree about dual-queue FIFO.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, Ticks};

/// The maximum number of states in a search under dual-queue FIFO.
pub const STATES_MAX: usize = 300_000;

/// A rule by which a device serves tasks in the order of their releases, in batches.
pub trait Game {
    /// The part of the history that determines the future.
    type State: Clone + Eq + Hash;

    /// Returns the state in which nothing was released.
    fn idle(&self) -> Self::State;

    /// Returns the number of requests in the host's queue.
    fn queued(&self, state: &Self::State) -> usize;

    /// Returns the events that can happen next, with the next states.
    fn moves(&self, state: &Self::State) -> Vec<(Move, Self::State)>;
}

/// An event of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// This task releases a job.
    Release(usize),
    /// The device gets a batch: this many of the oldest requests, filled up with best effort if the
    /// system has any.
    Send(usize),
    /// The batch in flight is complete.
    End,
    /// A tick passes.
    Tick,
}

/// The result of the plain search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged {
    /// The longest response of each task.
    pub responses: Vec<Ticks>,
    /// The earliest tick by which a job of each task can have this response.
    pub seen_by: Vec<Ticks>,
}

/// Returns the true worst case of every task under dual-queue FIFO, or `None` beyond
/// [`STATES_MAX`] states.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> Option<Tagged> {
    longest(&DualQueueFifo { system, rules }, system.tasks.len(), STATES_MAX, STATES_MAX)
}

/// Returns the true worst case of each of `task_count` tasks, or `None` if the game has more than
/// `states_max` states, or more than `total_max` if states that differ only by the tagged job are
/// counted separately.
pub fn longest<G: Game>(
    game: &G,
    task_count: usize,
    states_max: usize,
    total_max: usize,
) -> Option<Tagged> {
    let mut released = Vec::new();
    // A move takes no time or one tick. Moves without time go to the front, so that states are
    // visited in order of time.
    let mut open = VecDeque::from([(0, game.idle())]);
    let mut seen = HashSet::new();
    while let Some((now, state)) = open.pop_front() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > states_max {
            return None;
        }
        for (step, next) in game.moves(&state) {
            if let Move::Release(task) = step {
                released.push((now, task, next.clone()));
            }
            match step {
                Move::Tick => open.push_back((now + 1, next)),
                _ => open.push_front((now, next)),
            }
        }
    }
    let (responses, seen_by) = (vec![0; task_count], vec![Ticks::MAX; task_count]);
    let mut found = Tagged { responses, seen_by };
    let rest_max = total_max.checked_sub(seen.len())?;
    let mut search = Search { game, rest_max, rest: HashMap::new() };
    for (now, task, state) in released {
        // The job that was just released is the last of the queue.
        let ahead = game.queued(&state);
        let response = search.rest(&(state, ahead))?;
        if response > found.responses[task] {
            found.responses[task] = response;
            found.seen_by[task] = now + response;
        }
    }
    Some(found)
}

/// A state, and the number of requests in its queue up to the last request of the tagged job; 0
/// while that request is in flight.
type Followed<S> = (S, usize);

struct Search<'a, G: Game> {
    game: &'a G,
    rest_max: usize,
    /// The longest time until the tagged job completes.
    rest: HashMap<Followed<G::State>, Ticks>,
}

impl<G: Game> Search<'_, G> {
    /// Returns the longest time until the tagged job completes; `None` beyond the limit of states.
    fn rest(&mut self, at: &Followed<G::State>) -> Option<Ticks> {
        if let Some(&rest) = self.rest.get(at) {
            return Some(rest);
        }
        if self.rest.len() > self.rest_max {
            return None;
        }
        let (state, ahead) = at;
        let mut longest = 0;
        for (step, next) in self.game.moves(state) {
            let ahead = match step {
                Move::End if *ahead == 0 => continue,
                Move::Send(count) => ahead.saturating_sub(count),
                Move::Release(_) | Move::End | Move::Tick => *ahead,
            };
            let time = Ticks::from(step == Move::Tick) + self.rest(&(next, ahead))?;
            longest = longest.max(time);
        }
        self.rest.insert(at.clone(), longest);
        Some(longest)
    }
}

/// Dual-queue FIFO with batches by count.
struct DualQueueFifo<'a> {
    system: &'a SmallSystem,
    rules: Rules,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooldown: Vec<Ticks>,
    queued: u32,
    device: Device,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Device {
    Idle,
    Busy { left: Ticks, may_end: bool },
}

impl Game for DualQueueFifo<'_> {
    type State = State;

    fn idle(&self) -> State {
        let cooldown = vec![0; self.system.tasks.len()];
        State { cooldown, queued: 0, device: Device::Idle }
    }

    fn queued(&self, state: &State) -> usize {
        state.queued as usize
    }

    fn moves(&self, state: &State) -> Vec<(Move, State)> {
        let mut moves = self.releases(state);
        match state.device {
            Device::Idle => {
                if state.queued > 0 || self.system.best_effort_fill > 0 {
                    moves.push(self.sent(state));
                }
                if state.queued == 0 {
                    moves.push((Move::Tick, later(state, Device::Idle)));
                }
            }
            Device::Busy { left, may_end } => {
                if may_end {
                    moves.push((Move::End, State { device: Device::Idle, ..state.clone() }));
                }
                if left > 0 {
                    let device = Device::Busy { left: left - 1, may_end: true };
                    moves.push((Move::Tick, later(state, device)));
                }
            }
        }
        moves
    }
}

impl DualQueueFifo<'_> {
    fn releases(&self, state: &State) -> Vec<(Move, State)> {
        let mut next = Vec::new();
        for (index, task) in self.system.tasks.iter().enumerate() {
            let smallest = match self.rules.jobs {
                JobSize::Whole => task.requests,
                JobSize::UpToWhole => 1,
            };
            for requests in (smallest..=task.requests).filter(|_| state.cooldown[index] == 0) {
                let mut released = state.clone();
                released.cooldown[index] = task.period;
                released.queued += requests;
                next.push((Move::Release(index), released));
            }
        }
        next
    }

    /// Returns the state with the next batch on the device.
    fn sent(&self, state: &State) -> (Move, State) {
        let count = state.queued.min(self.system.batch_max);
        let left = self.system.batch_cost(count);
        let device =
            Device::Busy { left, may_end: self.rules.shortest_batch == ShortestBatch::Instant };
        let queued = state.queued - count;
        (Move::Send(count as usize), State { queued, device, ..state.clone() })
    }
}

fn later(state: &State, device: Device) -> State {
    // Saturation is intended: a task that may release stays ready.
    let cooldown = state.cooldown.iter().map(|cooldown| cooldown.saturating_sub(1)).collect();
    State { cooldown, device, ..state.clone() }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plain search: finds the same true worst case as `adversary`, without its short cuts.
//!
//! It visits every state of a system. From every release it follows the job to its completion
//! through all possible behaviour: one tagged job, its place in the queue, and all choices. Its
//! code is independent of `adversary`, so that the two can disagree.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, Ticks};

/// The most states of a search.
pub const STATES_MAX: usize = 300_000;

/// The result of the plain search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged {
    /// The longest response of each task.
    pub responses: Vec<Ticks>,
    /// The earliest tick by which a job of each task can have this response.
    pub seen_by: Vec<Ticks>,
}

/// Returns the true worst case of every task, or `None` beyond [`STATES_MAX`] states.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> Option<Tagged> {
    let mut search = Search { system, rules, rest: HashMap::new() };
    let mut found = Tagged {
        responses: vec![0; system.tasks.len()],
        seen_by: vec![Ticks::MAX; system.tasks.len()],
    };
    let idle = State {
        cooldown: vec![0; system.tasks.len()],
        queued: 0,
        device: Device::Idle,
        tagged: Place::Nowhere,
    };
    // A step takes no time or one tick; with the former in front, states come in order of time.
    let mut open = VecDeque::from([(0, idle)]);
    let mut seen = HashSet::new();
    while let Some((now, state)) = open.pop_front() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() + search.rest.len() > STATES_MAX {
            return None;
        }
        for (task, released) in search.releases(&state) {
            let mut tagged = released.clone();
            tagged.tagged = Place::Queued(released.queued);
            let response = search.rest(&tagged)?;
            let (longest, seen_by) = (&mut found.responses[task], &mut found.seen_by[task]);
            if response > *longest {
                (*longest, *seen_by) = (response, now + response);
            }
            open.push_front((now, released));
        }
        for step in search.steps(&state) {
            match step {
                Step::AtOnce(next) => open.push_front((now, next)),
                Step::Tick(next) => open.push_back((now + 1, next)),
                Step::Done => unreachable!("no job is tagged"),
            }
        }
    }
    Some(found)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooldown: Vec<Ticks>,
    queued: u32,
    device: Device,
    tagged: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Device {
    Idle,
    Busy { left: Ticks, may_end: bool },
}

/// The position of the tagged job's last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// No job is tagged.
    Nowhere,
    /// At this position in the queue, from 1.
    Queued(u32),
    /// In the batch in flight.
    InFlight,
}

enum Step {
    AtOnce(State),
    Tick(State),
    /// The tagged job is complete.
    Done,
}

struct Search<'a> {
    system: &'a SmallSystem,
    rules: Rules,
    /// The longest time until the tagged job completes.
    rest: HashMap<State, Ticks>,
}

impl Search<'_> {
    /// Returns the longest time until the tagged job completes; `None` beyond the limit of states.
    fn rest(&mut self, state: &State) -> Option<Ticks> {
        if let Some(&rest) = self.rest.get(state) {
            return Some(rest);
        }
        if self.rest.len() > STATES_MAX {
            return None;
        }
        let mut longest = 0;
        for (_, next) in self.releases(state) {
            longest = longest.max(self.rest(&next)?);
        }
        for step in self.steps(state) {
            longest = longest.max(match step {
                Step::AtOnce(next) => self.rest(&next)?,
                Step::Tick(next) => 1 + self.rest(&next)?,
                Step::Done => 0,
            });
        }
        self.rest.insert(state.clone(), longest);
        Some(longest)
    }

    fn releases(&self, state: &State) -> Vec<(usize, State)> {
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
                next.push((index, released));
            }
        }
        next
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        match state.device {
            Device::Idle if state.queued > 0 => steps.push(Step::AtOnce(self.sent(state))),
            Device::Idle => {
                if self.system.best_effort_fill > 0 {
                    steps.push(Step::AtOnce(self.sent(state)));
                }
                steps.push(Step::Tick(later(state, Device::Idle)));
            }
            Device::Busy { left, may_end } => {
                if may_end && state.tagged == Place::InFlight {
                    steps.push(Step::Done);
                } else if may_end {
                    steps.push(Step::AtOnce(State { device: Device::Idle, ..state.clone() }));
                }
                if left > 0 {
                    let device = Device::Busy { left: left - 1, may_end: true };
                    steps.push(Step::Tick(later(state, device)));
                }
            }
        }
        steps
    }

    /// Returns the state with the next batch on the device.
    fn sent(&self, state: &State) -> State {
        let count = state.queued.min(self.system.batch_max);
        let left = self.system.batch_cost(count);
        let may_end = self.rules.shortest_batch == ShortestBatch::Instant;
        let tagged = match state.tagged {
            Place::Queued(position) if position <= count => Place::InFlight,
            Place::Queued(position) => Place::Queued(position - count),
            place => place,
        };
        State {
            cooldown: state.cooldown.clone(),
            queued: state.queued - count,
            device: Device::Busy { left, may_end },
            tagged,
        }
    }
}

fn later(state: &State, device: Device) -> State {
    // Saturation is intended: a task that may release stays ready.
    let cooldown = state.cooldown.iter().map(|cooldown| cooldown.saturating_sub(1)).collect();
    State { cooldown, device, ..state.clone() }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for FIFO one at a time, shared with closed-loop best effort.
//!
//! N best-effort requests circulate: after its completion, each may be released again at any tick.
//! They wait in the same FIFO as the tasks' requests, so the order of the two kinds in the queue
//! matters: it determines whether the next completion allows a new release. The response time of a
//! job is determined at its release: all requests ahead of it, at b(1) each.

use std::collections::HashSet;

use crate::adversary::{Extent, WorstCase};
use crate::small::{Rules, ShortestBatch, SmallSystem, Ticks};

/// The maximum number of states in a search.
pub const STATES_MAX: usize = 60_000;

/// Returns the true worst-case response times with `circulating` best-effort requests; ignores beta
/// of the system.
///
/// # Panics
/// If z is not 1.
#[must_use]
pub fn worst_case(system: &SmallSystem, circulating: u32, rules: Rules) -> WorstCase {
    assert_eq!(system.batch_max, 1, "one at a time");
    let queued_max = 4 * (system.requests_sum() + circulating) as usize;
    // Best effort gets the remaining time; if none remains, the queue grows without limit.
    let beyond =
        if system.load().is_lt() { Extent::TooManyStates } else { Extent::BacklogUnbounded };
    let mut responses = vec![0; system.tasks.len()];
    let mut seen = HashSet::new();
    let mut open = vec![State {
        cooldown: vec![0; system.tasks.len()],
        queue: Vec::new(),
        best_effort_ready: circulating,
        serving: None,
    }];
    while let Some(state) = open.pop() {
        if state.queue.len() > queued_max {
            return WorstCase { responses, extent: beyond, states: seen.len() };
        }
        if seen.len() > STATES_MAX {
            return WorstCase { responses, extent: Extent::TooManyStates, states: seen.len() };
        }
        if !seen.insert(state.clone()) {
            continue;
        }
        for (index, task) in system.tasks.iter().enumerate() {
            if state.cooldown[index] == 0 {
                let mut next = state.clone();
                next.cooldown[index] = task.period;
                next.queue.extend((0..task.requests).map(|_| Kind::RealTime));
                responses[index] = responses[index].max(next.rest(system.table[1]));
                open.push(next);
            }
        }
        if state.best_effort_ready > 0 {
            let mut next = state.clone();
            next.best_effort_ready -= 1;
            next.queue.push(Kind::BestEffort);
            open.push(next);
        }
        match state.serving {
            None if state.queue.is_empty() => open.push(state.later()),
            None => {
                let mut next = state;
                let kind = next.queue.remove(0);
                let may_end = rules.shortest_batch == ShortestBatch::Instant;
                next.serving = Some(Service { kind, left: system.table[1], may_end });
                open.push(next);
            }
            Some(service) => {
                if service.may_end {
                    let mut next = state.clone();
                    next.serving = None;
                    next.best_effort_ready += u32::from(service.kind == Kind::BestEffort);
                    open.push(next);
                }
                if service.left > 0 {
                    open.push(state.later());
                }
            }
        }
    }
    WorstCase { responses, extent: Extent::Whole, states: seen.len() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    RealTime,
    BestEffort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Service {
    kind: Kind,
    left: Ticks,
    may_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooldown: Vec<Ticks>,
    /// The kinds of the queued requests, oldest first.
    queue: Vec<Kind>,
    /// Number of best-effort requests that may be released.
    best_effort_ready: u32,
    serving: Option<Service>,
}

impl State {
    /// Returns the longest time until the youngest request in the queue completes.
    fn rest(&self, request_time: Ticks) -> Ticks {
        let queued = u32::try_from(self.queue.len()).expect("few");
        self.serving.map_or(0, |service| service.left) + queued * request_time
    }

    fn later(mut self) -> Self {
        for cooldown in &mut self.cooldown {
            *cooldown = cooldown.saturating_sub(1);
        }
        if let Some(service) = &mut self.serving {
            service.left -= 1;
            service.may_end = true;
        }
        self
    }
}

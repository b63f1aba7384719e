// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The true L: the most batches sent in the busy interval of a job (9.2.3), by search.
//!
//! The busy interval of a job begins at the last instant, up to its release, at which the
//! host's queue stops being empty, and ends with the batch that serves its last request.
//! The lemmas of chapter 9 speak of L; some are wrong as printed, and this shows it.

use std::collections::HashSet;

use crate::small::{SmallSystem, Ticks};

/// Busy intervals are searched up to this many batches.
pub const BATCHES_MAX: u32 = 12;
/// Where the search gives up.
pub const STATES_MAX: usize = 300_000;

/// The most batches in any busy interval, at most [`BATCHES_MAX`] and a few; without best
/// effort, with batches of at least one tick. `None` beyond [`STATES_MAX`] states or with an
/// unbounded backlog.
///
/// # Panics
/// When the system has best effort.
#[must_use]
pub fn batches_max(system: &SmallSystem) -> Option<u32> {
    assert_eq!(system.best_effort_fill, 0, "chapter 9 knows no best effort");
    let queued_max = system.requests_sum() + 2 * system.batch_max;
    let mut most = 0;
    let mut seen = HashSet::new();
    let mut open = vec![State {
        cooldown: vec![0; system.tasks.len()],
        queued: 0,
        sent: 0,
        left: 0,
        is_fresh: false,
    }];
    while let Some(state) = open.pop() {
        if state.queued > queued_max || seen.len() > STATES_MAX {
            return None;
        }
        if state.sent > BATCHES_MAX || !seen.insert(state.clone()) {
            continue;
        }
        for (index, task) in system.tasks.iter().enumerate() {
            if state.cooldown[index] == 0 {
                let mut next = state.clone();
                next.cooldown[index] = task.period;
                next.queued += task.requests;
                most = most.max(next.sent + next.queued.div_ceil(system.batch_max));
                open.push(next);
            }
        }
        if state.queued > 0 && !state.is_fresh {
            let size = state.queued.min(system.batch_max);
            let queued = state.queued - size;
            // An empty queue ends the stretch: whatever is released next begins another.
            let sent = if queued == 0 { 0 } else { state.sent + 1 };
            let left = system.table[size as usize];
            open.push(State { queued, sent, left, is_fresh: true, ..state.clone() });
        }
        if state.left > 0 || state.queued == 0 {
            let cooldown = state.cooldown.iter().map(|rest| rest.saturating_sub(1)).collect();
            let left = state.left.saturating_sub(1);
            open.push(State { cooldown, left, is_fresh: false, ..state });
        }
    }
    Some(most)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooldown: Vec<Ticks>,
    queued: u32,
    /// Batches sent since the queue was last empty.
    sent: u32,
    left: Ticks,
    is_fresh: bool,
}

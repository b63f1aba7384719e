// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Searches for the true L: the most batches sent in the busy interval of a job (9.2.3).
//!
//! The busy interval of a job begins at the last instant, up to its release, at which the host's
//! queue stops being empty. It ends with the batch that serves the job's last request. The lemmas
//! of chapter 9 bound L; some are wrong as printed, and this search shows it.

use std::collections::HashSet;

use crate::small::{SmallSystem, Ticks};

/// The maximum number of batches in a searched busy interval.
pub const BATCHES_MAX: u32 = 12;
/// The maximum number of states in a search.
pub const STATES_MAX: usize = 300_000;

/// Returns the most batches in any busy interval, without best effort and with batches of at least
/// one tick. The result is at most slightly more than [`BATCHES_MAX`]. `None` beyond [`STATES_MAX`]
/// states or with an unbounded backlog.
///
/// # Panics
/// If the system has best effort.
#[must_use]
pub fn batches_max(system: &SmallSystem) -> Option<u32> {
    assert_eq!(system.best_effort_fill, 0, "chapter 9 has no best effort");
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
            // An empty queue ends the busy interval; the next release begins another.
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
    /// Number of batches sent since the queue was last empty.
    sent: u32,
    left: Ticks,
    is_fresh: bool,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Assigns priorities by period or by deadline.

use std::cmp::Reverse;

use tidegate_model::names;
use tidegate_model::units::Duration;

use super::{Background, CpuWorkload, Priority};

names! {
    /// Where the priorities of a processor come from.
    ///
    /// # Source
    /// Rate monotonic: Liu and Layland, "Scheduling Algorithms for Multiprogramming in a
    /// Hard-Real-Time Environment", 1973. Deadline monotonic: Leung and Whitehead, "On the
    /// Complexity of Fixed-Priority Scheduling of Periodic, Real-Time Tasks", 1982. Each is the
    /// best order for its tasks without jitter and blocking: with deadlines equal to the periods,
    /// and with deadlines up to the periods.
    #[derive(Default)]
    pub enum Assignment {
        /// The file states each.
        #[default]
        Written => "written",
        /// A shorter period is more urgent.
        RateMonotonic => "rate-monotonic",
        /// A shorter deadline is more urgent.
        DeadlineMonotonic => "deadline-monotonic",
    }
}

impl Assignment {
    /// Gives each task and server a level of its own, above all background levels. A server counts
    /// as a task whose deadline is its period. Of equals, tasks are more urgent than servers, and
    /// the first in the file is the most urgent. Written priorities stay.
    ///
    /// Returns whether there were enough levels; if not, nothing changes.
    pub(crate) fn apply(self, workload: &mut CpuWorkload) -> bool {
        let deadline_of: fn(Duration, Duration) -> Duration = match self {
            Self::Written => return true,
            Self::RateMonotonic => |period, _| period,
            Self::DeadlineMonotonic => |_, deadline| deadline,
        };
        let background = workload.servers.iter().filter_map(|server| match server.background {
            Background::Never => None,
            Background::At(Priority(level)) => Some(level),
        });
        let lowest = background.max().unwrap_or(0);
        let tasks = workload.tasks.iter_mut();
        let tasks = tasks.map(|it| (deadline_of(it.period, it.deadline), &mut it.priority));
        let servers = workload.servers.iter_mut();
        let servers = servers.map(|it| (it.params.period, &mut it.priority));
        let mut threads: Vec<_> = tasks.chain(servers).rev().collect();
        // The sort is stable, and the threads are in reverse: of equals the first in the file comes
        // last, at the higher level.
        threads.sort_by_key(|&(key, _)| Reverse(key));
        let count = u32::try_from(threads.len()).unwrap_or(u32::MAX);
        let Some(highest) = lowest.checked_add(count) else { return false };
        for (level, (_, priority)) in (lowest + 1..=highest).zip(threads) {
            *priority = Priority(level);
        }
        true
    }
}

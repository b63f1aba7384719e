// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Assigns priorities by period or by deadline.

use std::cmp::Reverse;

use tidegate_model::names;
use tidegate_model::units::Duration;

use super::{Background, CpuWorkload, Priority};

names! {
    /// How the threads of a processor get their priorities.
    ///
    /// # Source
    /// Rate monotonic: Liu and Layland, "Scheduling Algorithms for Multiprogramming in a
    /// Hard-Real-Time Environment", 1973. Deadline monotonic: Leung and Whitehead, "On the
    /// Complexity of Fixed-Priority Scheduling of Periodic, Real-Time Tasks", 1982. Without jitter
    /// and blocking, rate monotonic is optimal if deadlines equal the periods, and deadline
    /// monotonic if no deadline exceeds its period.
    #[derive(Default)]
    pub enum Assignment {
        /// The workload file states every priority.
        #[default]
        Written => "written",
        /// The shorter a thread's period, the higher its priority.
        RateMonotonic => "rate-monotonic",
        /// The shorter a thread's deadline, the higher its priority.
        DeadlineMonotonic => "deadline-monotonic",
    }
}

impl Assignment {
    /// Gives each task and server its own priority level, above all background levels. A server
    /// counts as a task whose deadline is its period. Among equals, tasks rank above servers, and a
    /// thread earlier in the file ranks higher. [`Assignment::Written`] changes nothing.
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
        // The sort is stable and the threads are in reverse order, so among equals the first in the
        // file comes last and gets the highest level.
        threads.sort_by_key(|&(key, _)| Reverse(key));
        let count = u32::try_from(threads.len()).unwrap_or(u32::MAX);
        let Some(highest) = lowest.checked_add(count) else { return false };
        for (level, (_, priority)) in (lowest + 1..=highest).zip(threads) {
            *priority = Priority(level);
        }
        true
    }
}

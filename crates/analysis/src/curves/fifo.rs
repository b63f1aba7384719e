// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The curves of the bounds of FIFO with one request on the device at a time.

use tidegate_model::{Duration, Workload};

use super::dual_queue::releases;
use super::{Argument, Curves, STEPS_MAX};
use crate::select::best_effort_ahead;
use crate::shaping::sporadic;
use crate::{Tasks, fifo};

/// The tasks and the open loops in one queue, and the requests of closed loops ahead of them.
pub(super) struct Fifo {
    all: Tasks,
    request_ns: u64,
    outstanding: u64,
}

impl Fifo {
    pub(super) fn of(planned: &Workload) -> Self {
        let ahead = best_effort_ahead(planned);
        let tasks = sporadic(&planned.tasks);
        let all = tasks.iter().chain(&ahead.open_loops).copied().collect();
        let request_ns = planned.table.time_max(1).ns();
        Self { all, request_ns, outstanding: ahead.outstanding }
    }

    /// Without closed loops, the largest distance in a busy interval; with them, the instant by
    /// which everything that can be ahead of a job is served.
    pub(super) fn curves(&self, bound: Duration) -> Option<Curves> {
        if self.outstanding > 0 {
            return self.behind_loops(bound);
        }
        let demand = self.all.demand();
        let busy_ns = fifo::busy_ns(demand, self.request_ns)?;
        // A release at the end of the interval begins another one.
        let requested = releases(demand, busy_ns.checked_sub(1)?)?;
        let &(_, all) = requested.last()?;
        let served = self.served(all)?;
        Curves::showing(bound, Argument::Fifo, requested, served, Duration::ZERO)
    }

    fn behind_loops(&self, bound: Duration) -> Option<Curves> {
        let mut requested = releases(self.all.demand(), bound.ns())?;
        for (_, count) in &mut requested {
            *count = count.checked_add(self.outstanding)?;
        }
        let &(_, all) = requested.last()?;
        Curves::showing(
            bound,
            Argument::FifoBehindLoops,
            requested,
            self.served(all)?,
            Duration::ZERO,
        )
    }

    fn end_of(&self, count: u64) -> Option<u64> {
        self.request_ns.checked_mul(count)
    }

    /// Returns the end of each of `count` successive requests, with the number served by then;
    /// `None` if there are too many to draw.
    fn served(&self, count: u64) -> Option<Vec<(u64, u64)>> {
        let is_short = usize::try_from(count).is_ok_and(|count| count <= STEPS_MAX);
        is_short.then(|| (1..=count).map(|nth| Some((self.end_of(nth)?, nth))).collect())?
    }
}

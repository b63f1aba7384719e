// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The response bound of work that a server executes.
//!
//! ```text
//!  backlog begins: no budget      all of it is back     again
//!  |------------- T --------------|-------- T ----------|--- R(rest) ---|
//! ```

use tidegate_cpu_model::{Arrivals, CpuServer, CpuWork, CpuWorkload, Execution, ServerKind};
use tidegate_model::Duration;

use super::objection::Objection;
use super::ratio::Ratio;
use super::server::chunks_max;

/// The number of rounds after which the search for the longest backlog stops, and also the search
/// through its arrivals.
const ROUNDS_MAX: usize = 1 << 14;

/// Work with bounded arrivals: at most `burst` jobs together, and bursts at least `gap` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedWork {
    /// The longest execution time of one job.
    pub execution: Duration,
    /// The least time from one burst to the next.
    pub gap: Duration,
    /// The largest number of jobs that arrive together.
    pub burst: u64,
}

impl ServedWork {
    /// Derives the bounds from a workload's description.
    ///
    /// # Errors
    /// If arrivals or execution times are random.
    pub fn of(work: &CpuWork) -> Result<Self, Objection> {
        let Execution::Fixed(execution) = work.execution else {
            return Err(Objection::ExecutionUnbounded { work: work.name.clone() });
        };
        let (gap, burst) = match &work.arrivals {
            Arrivals::Periodic { period: gap } | Arrivals::Sporadic { gap_min: gap } => (*gap, 1),
            Arrivals::At(instants) => of_instants(instants),
            Arrivals::Poisson { .. } | Arrivals::Bursty { .. } => {
                return Err(Objection::ArrivalsUnbounded { work: work.name.clone() });
            }
        };
        Ok(Self { execution, gap, burst })
    }

    /// Returns the number of jobs in a closed window of this length; `None` on overflow.
    fn jobs(&self, window_ns: u64) -> Option<u64> {
        (window_ns / self.gap.ns()).checked_add(1)?.checked_mul(self.burst)
    }

    fn demand_ns(&self, window_ns: u64) -> Option<u64> {
        self.jobs(window_ns)?.checked_mul(self.execution.ns())
    }
}

/// Returns the least gap between ascending instants, and the largest burst.
fn of_instants(instants: &[Duration]) -> (Duration, u64) {
    let mut gap = Duration::MAX;
    let mut burst = 1;
    let mut together = 1;
    for pair in instants.windows(2) {
        if pair[0] == pair[1] {
            together += 1;
            burst = burst.max(together);
        } else {
            together = 1;
            gap = gap.min(pair[1] - pair[0]);
        }
    }
    (gap, burst)
}

/// The execution that a server with a backlog is certain to get: `budget` in each `period`, where
/// the first budget comes one period after the backlog began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supply {
    budget_ns: u64,
    period_ns: u64,
    /// The most execution that was done early and is charged to later budgets.
    debt_ns: u64,
    /// The additional periods that coalescing can cost, once in a backlog.
    periods_more: u64,
    /// The server's own switches in the last period.
    switching_ns: u64,
}

impl Supply {
    /// Returns the supply of a server that gets its budget within each period.
    ///
    /// # Bound
    /// With m chunks, preemption charge c and overrun o: budget C - m c, period T + m (c + o), debt
    /// c + o. A polling or deferrable server owes its overrun and keeps its period. Coalescing
    /// delays replenishments by less than a period, once in a backlog.
    ///
    /// # Source
    /// Own derivation from figures 6.3 to 6.5, docs/theory/servers-as-tasks.md section 20.
    ///
    /// # Errors
    /// If the server's rules guarantee no minimum, or the charges leave no budget.
    pub fn of(server: &CpuServer, workload: &CpuWorkload) -> Result<Self, Objection> {
        let params = &server.params;
        let (shifts, periods_more) = match params.kind {
            ServerKind::Polling | ServerKind::Deferrable => (0, 0),
            ServerKind::Sporadic => (chunks_max(server), 0),
            ServerKind::HybridImmediate | ServerKind::HybridGradual => (chunks_max(server), 1),
            ServerKind::FixedPriority
            | ServerKind::Spsl
            | ServerKind::PosixSporadic
            | ServerKind::PosixSporadicStrict => {
                return Err(Objection::SupplyUnknown { kind: params.kind });
            }
        };
        let used_up = || Objection::BudgetUsedUp { server: server.name.clone() };
        let of_params = || {
            let activations = chunks_max(server);
            let charge_ns = params.preemption_charge.ns();
            let debt_ns = charge_ns.checked_add(workload.timer_latency.ns())?;
            let shift_ns = debt_ns.checked_mul(shifts)?;
            let budget_ns = params.budget.ns().checked_sub(charge_ns.checked_mul(activations)?)?;
            // A chunk postponed by a whole period could be overtaken by a later one.
            (budget_ns > 0 && shift_ns < params.period.ns()).then_some(())?;
            Some(Self {
                budget_ns,
                period_ns: params.period.ns().checked_add(shift_ns)?,
                debt_ns,
                periods_more,
                switching_ns: workload.switch.ns().checked_mul(activations)?,
            })
        };
        of_params().ok_or_else(used_up)
    }

    /// Returns the longest time from arrival to completion of a job behind the server, which serves
    /// first come, first served. `last` returns the longest time that a given execution within one
    /// budget takes once the budget is available. `None` if there is no bound.
    ///
    /// # Bound
    /// With W(x) the work that arrives in a closed window of length x,
    /// `R = max over x of S(W(x)) - x`, `S(w) = n T + last(w - (n - 1) C)`, `n = ceil(w / C)`; x
    /// ranges over the arrivals of the longest backlog.
    ///
    /// # Source
    /// Own derivation, as for [`Supply::of`]: docs/theory/servers-as-tasks.md section 20.
    pub fn response_ns(
        &self,
        works: &[ServedWork],
        mut last: impl FnMut(u64) -> Option<u64>,
    ) -> Option<u64> {
        if !self.is_enough_for(works)? {
            return None;
        }
        let mut completion =
            |window_ns| self.completion_ns(demand_ns(works, window_ns)?, &mut last);
        let backlog_ns = longest_backlog(&mut completion)?;
        let (mut worst, mut window_ns) = (0, 0);
        for _ in 0..ROUNDS_MAX {
            worst = worst.max(completion(window_ns)?.saturating_sub(window_ns));
            let next = |work: &ServedWork| {
                (window_ns / work.gap.ns()).checked_add(1)?.checked_mul(work.gap.ns())
            };
            match works.iter().filter_map(next).min() {
                Some(next_ns) if next_ns < backlog_ns => window_ns = next_ns,
                _ => return Some(worst),
            }
        }
        None
    }

    /// Returns whether the arrivals need no more than the supply in the long run; `None` on
    /// overflow.
    fn is_enough_for(&self, works: &[ServedWork]) -> Option<bool> {
        let mut sum = Ratio::ZERO;
        for work in works {
            let arriving = u128::from(work.execution.ns()).checked_mul(u128::from(work.burst))?;
            let served = arriving.checked_mul(u128::from(self.period_ns))?;
            sum = sum.add_ceil(Ratio::new(served, u128::from(work.gap.ns())))?;
        }
        Some(sum.is_at_most(u128::from(self.budget_ns)))
    }

    /// Returns S: the time from the start of a backlog until this much of it is executed.
    fn completion_ns(
        &self,
        demand_ns: u64,
        last: &mut impl FnMut(u64) -> Option<u64>,
    ) -> Option<u64> {
        let demand_ns = demand_ns.checked_add(self.debt_ns)?;
        let periods = demand_ns.div_ceil(self.budget_ns);
        let before = periods.checked_sub(1)?.checked_mul(self.budget_ns)?;
        let rest = demand_ns.checked_sub(before)?.checked_add(self.switching_ns)?;
        let waiting = periods.checked_add(self.periods_more)?.checked_mul(self.period_ns)?;
        waiting.checked_add(last(rest)?)
    }
}

fn demand_ns(works: &[ServedWork], window_ns: u64) -> Option<u64> {
    works.iter().try_fold(0_u64, |sum, work| sum.checked_add(work.demand_ns(window_ns)?))
}

/// Returns the least L at which all work that arrived before L is executed.
fn longest_backlog(completion: &mut impl FnMut(u64) -> Option<u64>) -> Option<u64> {
    let mut backlog_ns = 1;
    for _ in 0..ROUNDS_MAX {
        // Count the arrivals strictly before the end: a closed window that ends 1 ns earlier.
        let next = completion(backlog_ns - 1)?;
        if next <= backlog_ns {
            return Some(backlog_ns);
        }
        backlog_ns = next;
    }
    None
}

/// Returns the largest number of jobs that can wait at the same time if no job waits longer than
/// `response_ns`; `None` on overflow.
pub(super) fn queued_max(works: &[ServedWork], response_ns: u64) -> Option<u64> {
    works.iter().try_fold(0_u64, |sum, work| sum.checked_add(work.jobs(response_ns)?))
}

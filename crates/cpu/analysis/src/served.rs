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

/// Rounds after which the search for the longest backlog, or through its arrivals, is given up.
const ROUNDS_MAX: usize = 1 << 14;

/// Work with bounded arrivals: at most `burst` jobs at once, and bursts at least `gap` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedWork {
    /// The longest that one job executes.
    pub execution: Duration,
    /// The least time from one burst to the next.
    pub gap: Duration,
    /// Jobs that may arrive together.
    pub burst: u64,
}

impl ServedWork {
    /// What a workload says of its arrivals.
    ///
    /// # Errors
    /// When they or the execution times are random.
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

    /// Jobs in a closed window of this length; none on overflow.
    fn jobs(&self, window_ns: u64) -> Option<u64> {
        (window_ns / self.gap.ns()).checked_add(1)?.checked_mul(self.burst)
    }

    fn demand_ns(&self, window_ns: u64) -> Option<u64> {
        self.jobs(window_ns)?.checked_mul(self.execution.ns())
    }
}

/// The largest burst and the least gap of instants in ascending order.
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

/// What a server with a backlog is certain to execute: `budget` in each `period`, the first of it
/// a period after the backlog began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supply {
    budget_ns: u64,
    period_ns: u64,
    /// Executed ahead of its time at most, and charged to what comes.
    debt_ns: u64,
    /// Periods more that coalescing may take once.
    periods_more: u64,
    /// Switches of the server itself in the last period.
    switching_ns: u64,
}

impl Supply {
    /// The supply of a server that gets its budget within each period.
    ///
    /// # Bound
    /// With m chunks, preemption charge c and overrun o: budget C - m c, period
    /// T + m (c + o), debt c + o. A polling or deferrable server owes its overrun and keeps its
    /// period. Coalescing postpones what comes back by less than a period, once in a backlog.
    ///
    /// # Source
    /// Own derivation from figures 6.3 to 6.5, docs/theory/servers-as-tasks.md section 20.
    ///
    /// # Errors
    /// When its rules bound nothing from below, or charges leave nothing.
    pub fn of(server: &CpuServer, workload: &CpuWorkload) -> Result<Self, Objection> {
        let params = &server.params;
        let (shifts, periods_more) = match params.kind {
            ServerKind::Polling | ServerKind::Deferrable => (0, 0),
            ServerKind::Sporadic => (chunks_max(server), 0),
            ServerKind::HybridImmediate | ServerKind::HybridGradual => (chunks_max(server), 1),
            ServerKind::PosixSporadic | ServerKind::PosixSporadicStrict => {
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
            // A chunk postponed by a whole period would be overtaken.
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

    /// The longest time from arrival to completion of a job behind the server, first come first
    /// served; `last` is the longest that so much execution within one budget takes from when
    /// the budget is there. None where there is no bound.
    ///
    /// # Bound
    /// With W(x) all that arrives in a closed window of length x,
    /// `R = max over x of S(W(x)) - x`, `S(w) = n T + last(w - (n - 1) C)`,
    /// `n = ceil(w / C)`, x over the arrivals of the longest backlog.
    ///
    /// # Source
    /// As [`Supply::of`].
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

    /// Whether no more comes than is served in the long run; none on overflow.
    fn is_enough_for(&self, works: &[ServedWork]) -> Option<bool> {
        let mut sum = Ratio::ZERO;
        for work in works {
            let arriving = u128::from(work.execution.ns()).checked_mul(u128::from(work.burst))?;
            let served = arriving.checked_mul(u128::from(self.period_ns))?;
            sum = sum.add_ceil(Ratio::new(served, u128::from(work.gap.ns())))?;
        }
        Some(sum.is_at_most(u128::from(self.budget_ns)))
    }

    /// S: from the start of a backlog until so much of it is executed.
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

/// The least L by which all that arrived before it is executed.
fn longest_backlog(completion: &mut impl FnMut(u64) -> Option<u64>) -> Option<u64> {
    let mut backlog_ns = 1;
    for _ in 0..ROUNDS_MAX {
        // Arrivals before the end, half-open: a closed window that ends a moment earlier.
        let next = completion(backlog_ns - 1)?;
        if next <= backlog_ns {
            return Some(backlog_ns);
        }
        backlog_ns = next;
    }
    None
}

/// How many jobs may wait at once if none waits longer than `response_ns`; none on overflow.
pub(super) fn queued_max(works: &[ServedWork], response_ns: u64) -> Option<u64> {
    works.iter().try_fold(0_u64, |sum, work| sum.checked_add(work.jobs(response_ns)?))
}

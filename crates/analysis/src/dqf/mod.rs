// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response-time bounds of dual-queue FIFO: batches of at most z requests, sent only to an idle
//! device.
//!
//! | function | source | valid when |
//! |---|---|---|
//! | [`linear`] | Lemma 9.2.2 | capacity holds (9.2.2.3) |
//! | [`busy_interval`] | Lemma 9.2.4, equation 9.2.6.7 | a window closes |
//! | [`min_period`] | Theorem 9.2.7 | every period exceeds the busy interval, no best effort |
//! | [`tight`] | Theorems 1 to 3 | always; it may find no bound |
//!
//! Theorems 1 to 3 are in `docs/theory/dual-queue-fifo.md`.
//!
//! All of these bounds except [`min_period`] allow best effort: a batch with j real-time requests
//! then costs b(max(j, beta)). That never exceeds b(z), the only cost that the first two bounds
//! use.

pub(crate) mod backlog;
pub(crate) mod busy_interval;
pub(crate) mod carry_in;
mod demand;
mod fixed_point;
mod linear;
mod min_period;
mod steps;
mod totals;
mod two_batches;

pub use backlog::{BacklogStep, backlog_steps};
pub use busy_interval::busy_interval;
pub use linear::linear;
pub use min_period::min_period;
pub use steps::{Steps, steps};

pub(crate) use busy_interval::window_batches;
#[cfg(test)]
pub(crate) use demand::BUILT;
pub(crate) use demand::Demand;
pub(crate) use steps::{Derivation, derivations};

use crate::budget::Budget;
use crate::climb::smaller;
use crate::search::{HORIZON_NS, verdict};
use crate::{Inapplicable, System, Verdict};

/// The bounds that every job of a system shares, in ns.
#[derive(Debug, Clone)]
pub(crate) struct Caps {
    /// The bound of [`linear`].
    pub(crate) linear_ns: Result<Option<u64>, Inapplicable>,
    /// The bound of [`busy_interval`].
    pub(crate) busy_ns: Option<u64>,
}

impl Caps {
    pub(crate) fn of(system: &System) -> Self {
        let demand = system.tasks.demand();
        let linear_ns = linear::response_ns(system, demand);
        // Beyond capacity no window closes.
        let is_within = linear_ns.is_ok();
        let busy = || busy_interval::response_ns(system, demand, HORIZON_NS);
        Self { linear_ns, busy_ns: is_within.then(busy).flatten() }
    }

    fn is_within_capacity(&self) -> bool {
        self.linear_ns.is_ok()
    }

    fn least_ns(&self) -> Option<u64> {
        smaller(self.linear_ns.as_ref().ok().copied().flatten(), self.busy_ns)
    }
}

/// Returns the least response-time bound that the carry-in argument gives.
///
/// # Bound
/// For z >= E, if every bound is below its task's period: Theorem 2 (with best effort, its form in
/// Theorem 3), which is exact. Otherwise the fixed point of Theorem 1.
///
/// # Source
/// Own derivation, `docs/theory/dual-queue-fifo.md` sections 3 to 5.
///
/// # Assumptions
/// All requests of a job are released in one step before any dispatch; b is monotone (the table
/// ensures it).
///
/// # Errors
/// None at present: if no bound exists, the verdict says so.
///
/// # Complexity
/// Theorem 2: O(n log n), and O(E log n) for each different e. Theorem 1: at most 65 rounds, and
/// one more for each kind if responses jump to their cap, of O(z * offsets * n), up to 2^29 terms
/// (2^26 for more than 128 tasks). Searches that would cost more are skipped; the other bounds hold
/// without them.
pub fn tight(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(tight_within(system, &Budget::of_tasks(system.tasks.len())))
}

/// Returns the bounds of [`tight`] within a budget.
pub(crate) fn tight_within(system: &System, budget: &Budget) -> Vec<Verdict> {
    tight_below(system, &Caps::of(system), budget)
}

/// Returns the bounds of [`tight`] within a budget; `caps` must be the caps of this system.
pub(crate) fn tight_below(system: &System, caps: &Caps, budget: &Budget) -> Vec<Verdict> {
    let demand = system.tasks.demand();
    if let Some(response) = two_batches::common_response_ns(system, demand) {
        return vec![verdict(Some(response)); system.tasks.len()];
    }
    let kinds = fixed_point::responses(system, demand, caps, budget);
    demand.per_task(&kinds).map(verdict).collect()
}

/// Returns the bound of [`min_period`] in ns; `None` if it does not apply.
pub(crate) fn min_period_ns(system: &System) -> Option<u64> {
    min_period::response_ns(system, system.tasks.demand()).ok().flatten()
}

/// Returns whether [`tight`] bounds every task within its deadline. Stops climbing as soon as the
/// answer is known.
pub(crate) fn are_deadlines_met(system: &System, budget: &Budget) -> bool {
    let demand = system.tasks.demand();
    let is_met =
        |response_ns: u64| system.tasks.iter().all(|task| response_ns <= task.deadline.ns());
    match two_batches::common_response_ns(system, demand) {
        Some(response) => is_met(response),
        None => fixed_point::is_within(system, demand, &demand.limits_ns(&system.tasks), budget),
    }
}

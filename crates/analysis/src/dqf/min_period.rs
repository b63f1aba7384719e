// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The minimum-period bound: a busy interval in which no task releases twice has E requests.

use tidegate_model::Duration;

use crate::dqf::Demand;
use crate::search::{HORIZON_NS, verdict};
use crate::{Inapplicable, System, Verdict};

/// Returns the minimum-period bound, the same for every task.
///
/// # Bound
/// If `p_min > h` with `h = (floor(E / z) + 1) b(z)`, then `R = h + b(E mod z)`.
///
/// # Source
/// Dissertation Theorem 9.2.7. **Corrections**: Lemma 9.2.5 prints ">=", but the hypothesis must be
/// ">" (counterexample: T = {(1,3), (3,3), (1,3)}, z = 2, b = (1, 1): equality, L = 5 instead of
/// 3). The proof counts the remainder of the backlog twice (9.2.6.25). The conclusion still holds,
/// because f b(z) + b(min(z, E - f z)) is nondecreasing in the number f of full batches.
///
/// # Assumptions
/// No best effort in the batches: the last batch is charged for real-time requests only.
///
/// # Errors
/// [`Inapplicable::PeriodTooShort`] or [`Inapplicable::BestEffortAboard`].
///
/// # Complexity
/// O(n log n).
pub fn min_period(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let response_ns = response_ns(system, system.tasks.demand())?;
    Ok(vec![verdict(response_ns); system.tasks.len()])
}

/// Returns the bound in ns, or `None` beyond the horizon.
pub(super) fn response_ns(system: &System, demand: &Demand) -> Result<Option<u64>, Inapplicable> {
    if system.best_effort_fill > 0 {
        return Err(Inapplicable::BestEffortAboard);
    }
    let (requests, batch_max) = (demand.requests_sum(), u64::from(system.batch_max));
    let full_batch_ns = system.table.time_max(system.batch_max).ns();
    let busy_ns = (requests / batch_max + 1).checked_mul(full_batch_ns);
    let needed_ns = busy_ns.unwrap_or(u64::MAX);
    if let Some(period_min_ns) = demand.period_min_ns()
        && period_min_ns <= needed_ns
    {
        return Err(Inapplicable::PeriodTooShort {
            period_min: Duration::from_ns(period_min_ns),
            needed: Duration::from_ns(needed_ns),
        });
    }
    let last_ns = system.batch_time_of_ns(requests % batch_max);
    let response = busy_ns.and_then(|busy| busy.checked_add(last_ns));
    Ok(response.filter(|&ns| ns <= HORIZON_NS))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The linear bound: full batches keep up with the releases, so a response takes at most the time
//! of E - 1 requests at the rate of full batches, plus two full batches.

use crate::dqf::Demand;
use crate::search::{HORIZON_NS, verdict};
use crate::{Inapplicable, System, Verdict};

/// Returns the linear upper bound on response time, the same for every task.
///
/// # Bound
/// `R = (b(z) / z) (E - 1) + 2 b(z)`, rounded up.
///
/// # Source
/// Dissertation Lemma 9.2.2 and Theorem 9.2.3. **Correction**: the step from 9.2.5.12 to 9.2.5.13
/// replaces the carry-in batch b(S_cin) by b(B_1), but b(S_cin) may exceed b(B_1) (a full batch in
/// flight before a last batch of one request). Both are charged b(z) here, as in the dissertation's
/// later text.
///
/// # Assumptions
/// Capacity (9.2.2.3): `sum e_i / p_i <= z / b(z)`, checked exactly.
///
/// # Errors
/// [`Inapplicable::Overload`] if capacity fails: the lemma then gives no bound.
///
/// # Complexity
/// O(n log n).
pub fn linear(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let response_ns = response_ns(system, system.tasks.demand())?;
    Ok(vec![verdict(response_ns); system.tasks.len()])
}

/// Returns the bound in ns, or `None` beyond the horizon.
pub(super) fn response_ns(system: &System, demand: &Demand) -> Result<Option<u64>, Inapplicable> {
    let batch_max = system.batch_max;
    let full_batch_ns = system.table.time_max(batch_max).ns();
    if !demand.is_within_capacity(batch_max, full_batch_ns) {
        return Err(Inapplicable::Overload { batch_max });
    }
    // Saturation is safe: without tasks no job needs a bound.
    let others = u128::from(demand.requests_sum().saturating_sub(1));
    let full_batch = u128::from(full_batch_ns);
    let response = (full_batch * others).div_ceil(u128::from(batch_max)) + 2 * full_batch;
    Ok(u64::try_from(response).ok().filter(|&ns| ns <= HORIZON_NS))
}

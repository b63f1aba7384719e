// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The busy-interval bound: the number of consecutive full batches that the releases can fill.

use crate::dqf::{Caps, Demand};
use crate::search::{HORIZON_NS, closing_point, verdict};
use crate::{Inapplicable, System, Verdict};

/// Returns the busy-interval bound, the same for every task.
///
/// # Bound
/// `R = (L + 1) b(z)` with L an x >= 1 such that `sum ceil(x b(z) / p_i) e_i <= x z`: the least
/// one, except close to the capacity, where a larger one may be found sooner.
///
/// # Source
/// Dissertation Lemma 9.2.4 and equation 9.2.6.7. **Corrections**: the lemma as a statement about L
/// is false (a closed window needs floor + 1; for T = {(1,2), (1,5)}, z = 4, b(4) = 5 the lemma
/// gives 1 and the true value is 3), and with b(S_cin) = 0 it gives "L <= 1" for every task set.
/// The code uses it only with b(S_cin) = b(z) and only for the response (L + 1) b(z): half-open
/// counts are right for the length of a window, and the response needs nothing else.
///
/// # Errors
/// None: if no window closes, the verdict says so.
///
/// # Complexity
/// O(n) per round, with at most 10,000 rounds and then fewer than 100 more. With more than 400
/// different tasks, the first rounds evaluate at most 2^22 terms together.
pub fn busy_interval(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let response_ns = Caps::of(system).busy_ns;
    Ok(vec![verdict(response_ns); system.tasks.len()])
}

/// Returns the bound in ns, or `None` if no window closes within `horizon_ns`.
pub(super) fn response_ns(system: &System, demand: &Demand, horizon_ns: u64) -> Option<u64> {
    let full_batch_ns = system.table.time_max(system.batch_max).ns();
    let released = |window_ns| (window_ns <= horizon_ns).then(|| demand.half_open(window_ns));
    let batches = batches_while(system, released, 1, full_batch_ns)?;
    let response = batches.checked_add(1)?.checked_mul(full_batch_ns)?;
    Some(response).filter(|&ns| ns <= HORIZON_NS)
}

/// Returns an `x >= first` with `released(lead + (x - 1) b(z)) <= x z`: no window that starts
/// `lead_ns` before a dispatch fills more than x batches. It is the least one if [`closing_point`]
/// finds it.
///
/// `released` counts the requests that can be in the batches, or behind them, in a window of that
/// length. The window is half-open if requests released at its last instant go last, and closed if
/// they may go first.
///
/// Returns `None` if x passes the horizon. From `first` on, the iteration x := ceil(released / z)
/// cannot pass the least solution, because `released` is monotone.
pub(crate) fn window_batches(
    system: &System,
    released: impl Fn(u64) -> u128,
    first: u64,
    lead_ns: u64,
) -> Option<u64> {
    batches_while(system, |ns| Some(released(ns)), first, lead_ns)
}

/// Returns the result of [`window_batches`], or `None` as soon as `released` returns `None`.
fn batches_while(
    system: &System,
    released: impl Fn(u64) -> Option<u128>,
    first: u64,
    lead_ns: u64,
) -> Option<u64> {
    let full_batch_ns = system.table.time_max(system.batch_max).ns();
    closing_point(system.tasks.demand().kinds.len(), first, |batches| {
        let window_ns = lead_ns.checked_add((batches - 1).checked_mul(full_batch_ns)?)?;
        if window_ns > HORIZON_NS {
            return None;
        }
        u64::try_from(released(window_ns)?.div_ceil(u128::from(system.batch_max))).ok()
    })
}

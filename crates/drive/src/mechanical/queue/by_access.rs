// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that know where the platter is: SATF, shortest access time first, and SATF
//! with ageing.
//!
//! Where the platter is when the arm gets there is asked only of requests that the way of
//! the arm alone does not rule out: of most it does.

use model::Duration;

use super::eligible::Eligible;
use super::{Pending, Reach};

/// SATF: the one that is under its head first.
pub(super) fn soonest(eligible: &Eligible<'_>, reach: &impl Reach) -> usize {
    eligible.least_above(|pending| reach.access_min(pending), |pending| reach.access(pending))
}

/// SATF with ageing: the one with the shortest access, less what its waiting is worth.
///
/// # Equation
/// Least `access - aging * (now - arrived)`. `now` is the same for all, and so is when the
/// first of them arrived, so that this is the least `access + aging * (arrived - first)`, here
/// in millionths of a nanosecond: nothing is rounded. Without ageing this is SATF; with much of
/// it, the order of arrival, and SATF among those that arrived at one instant.
///
/// # Assumptions
/// No access takes 18,446 s: what does not fit into 64 bits is then no choice anyway, since
/// the first of them has less.
pub(super) fn soonest_with_aging(
    eligible: &Eligible<'_>,
    aging_ns_per_ms: u64,
    reach: &impl Reach,
) -> usize {
    const NS_PER_MS: u64 = 1_000_000;
    let first = eligible.first_arrived();
    let aged = |pending: &Pending, access: Duration| {
        let later = pending.arrived.since(first).ns().saturating_mul(aging_ns_per_ms);
        later.saturating_add(access.ns().saturating_mul(NS_PER_MS))
    };
    eligible.least_above(
        |pending| aged(pending, reach.access_min(pending)),
        |pending| aged(pending, reach.access(pending)),
    )
}

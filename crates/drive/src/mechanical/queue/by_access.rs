// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that know where the platter is: SATF, shortest access time first, and SATF
//! with ageing.
//!
//! Where the platter is when the arm gets there is asked only of requests that the way of
//! the arm alone does not rule out: of most it does.

use tidegate_model::Duration;

use super::eligible::Eligible;
use super::{Pending, Reach};

/// SATF: the one that is under its head first.
pub(super) fn soonest(eligible: &Eligible<'_>, reach: &impl Reach) -> usize {
    eligible.least_above(|pending| reach.access_min(pending), |pending| reach.access(pending))
}

/// SATF with ageing: the one with the shortest access, less what its waiting is worth.
///
/// # Equation
/// Least `access - aging * (now - arrived)`. `now` is the same for all, so that this is the
/// least `access + aging * arrived`, here in millionths of a nanosecond: nothing is rounded.
/// Without ageing this is SATF; with much of it, the order of arrival, and SATF among those
/// that arrived at one instant.
pub(super) fn soonest_with_aging(
    eligible: &Eligible<'_>,
    aging_ns_per_ms: u64,
    reach: &impl Reach,
) -> usize {
    const NS_PER_MS: u128 = 1_000_000;
    let aged = |pending: &Pending, access: Duration| {
        let access = u128::from(access.ns()) * NS_PER_MS;
        let arrived = u128::from(pending.arrived.ns()) * u128::from(aging_ns_per_ms);
        // Too large only where both factors of `arrived` are near 2^64: there equal keys
        // leave it to the order of arrival, which is what so much ageing asks for.
        arrived.saturating_add(access)
    };
    eligible.least_above(
        |pending| aged(pending, reach.access_min(pending)),
        |pending| aged(pending, reach.access(pending)),
    )
}

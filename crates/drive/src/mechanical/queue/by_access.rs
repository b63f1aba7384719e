// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that use the platter's angle: SATF, shortest access time first, and SATF with
//! ageing.
//!
//! They compute the platter's angle only for the few requests that the arm's seek time alone does
//! not rule out.

use tidegate_model::Duration;

use super::eligible::Eligible;
use super::pending::Pending;
use super::reach::Reach;

/// SATF: chooses the request whose first sector is under its head soonest.
pub(super) fn soonest(eligible: &Eligible<'_>, reach: &impl Reach) -> usize {
    eligible.least_above(|pending| reach.access_min(pending), |pending| reach.access(pending))
}

/// SATF with ageing: chooses the request with the least access time, which is reduced in proportion
/// to the request's waiting time.
///
/// # Equation
/// Least `access - aging * (now - arrived)`. `now` is the same for all, so this is the least
/// `access + aging * arrived`, here in millionths of a nanosecond, without rounding. Without ageing
/// this is SATF; with strong ageing, the order of arrival, with SATF among requests that arrived at
/// one instant.
pub(super) fn soonest_with_aging(
    eligible: &Eligible<'_>,
    aging_ns_per_ms: u64,
    reach: &impl Reach,
) -> usize {
    const NS_PER_MS: u128 = 1_000_000;
    let aged = |pending: &Pending, access: Duration| {
        let access = u128::from(access.ns()) * NS_PER_MS;
        let arrived = u128::from(pending.arrived.ns()) * u128::from(aging_ns_per_ms);
        // Saturates only if both factors of `arrived` are near 2^64. Equal keys then fall back to
        // the order of arrival, which such ageing approximates anyway.
        arrived.saturating_add(access)
    };
    eligible.least_above(
        |pending| aged(pending, reach.access_min(pending)),
        |pending| aged(pending, reach.access(pending)),
    )
}

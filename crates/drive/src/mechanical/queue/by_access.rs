// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that know where the platter is: SATF, shortest access time first, and SATF
//! with ageing.
//!
//! Each asks for the access time of every eligible request once.

use model::Duration;

use super::Pending;
use super::eligible::Eligible;

/// SATF: the one that is under its head first.
pub(super) fn soonest(eligible: &Eligible<'_>, access: impl Fn(&Pending) -> Duration) -> usize {
    eligible.least(access)
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
    access: impl Fn(&Pending) -> Duration,
) -> usize {
    const NS_PER_MS: u128 = 1_000_000;
    eligible.least(|pending| {
        let access = u128::from(access(pending).ns()) * NS_PER_MS;
        let arrived = u128::from(pending.arrived.ns()) * u128::from(aging_ns_per_ms);
        // Too large only where both factors of `arrived` are near 2^64: there equal keys
        // leave it to the order of arrival, which is what so much ageing asks for.
        arrived.saturating_add(access)
    })
}

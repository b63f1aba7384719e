// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The search limits, the least fixed point and the bisection that analyses share.

use std::ops::RangeInclusive;

use tidegate_model::Duration;

use crate::Verdict;

/// Windows and responses beyond this count as "no bound": 146 years, far from overflow.
pub(crate) const HORIZON_NS: u64 = 1 << 62;
/// The largest number of instants that a search tries; more occur only if periods are far shorter
/// than a window.
pub(crate) const OFFSETS_MAX: usize = 1 << 20;
/// Rounds of an iteration after which the result is "no bound"; reached only within one part in
/// 10,000 of the capacity.
const ROUNDS_MAX: u64 = 10_000;
/// Terms after which it is "no bound": of 100,000 different tasks, within one part in 50 of the
/// capacity.
const TERMS_MAX: u64 = 1 << 26;

/// Returns the verdict for a bound in ns; `None` means no bound within the horizon.
pub(crate) fn verdict(response_ns: Option<u64>) -> Verdict {
    match response_ns {
        Some(ns) => Verdict::Bounded(Duration::from_ns(ns)),
        None => Verdict::NoBoundWithin { horizon: Duration::from_ns(HORIZON_NS) },
    }
}

/// Returns the time in ns that the requests need one after the other; `None` beyond the horizon.
pub(crate) fn serial_time_ns(request_ns: u64, requests: u128) -> Option<u64> {
    let ns = u128::from(request_ns).checked_mul(requests)?;
    u64::try_from(ns).ok().filter(|&ns| ns <= HORIZON_NS)
}

/// Returns the least `x >= start` with `f(x) <= x`, for nondecreasing f. Returns `None` if f does,
/// or after 10,000 rounds, or after fewer if one of them takes thousands of `terms`.
pub(crate) fn least_fixed_point(
    terms: usize,
    start: u64,
    f: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    let mut x = start;
    for _ in 0..ROUNDS_MAX.min(TERMS_MAX / (terms as u64).max(1)) {
        let next = f(x)?;
        if next <= x {
            return Some(x);
        }
        x = next;
    }
    None
}

/// Returns the largest number of the range that `holds`, by bisection: none holds above one that does
/// not. The first number counts as holding.
pub(crate) fn largest<N>(range: RangeInclusive<N>, mut holds: impl FnMut(N) -> bool) -> N
where
    N: Into<u64> + TryFrom<u64, Error: std::fmt::Debug>,
{
    let number = |n: u64| N::try_from(n).expect("a number of the range");
    let (first, last) = range.into_inner();
    let (mut enough, mut too_much) = (first.into(), last.into().saturating_add(1));
    while enough + 1 < too_much {
        let middle = enough + (too_much - enough) / 2;
        if holds(number(middle)) {
            enough = middle;
        } else {
            too_much = middle;
        }
    }
    number(enough)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The search limits, the least fixed point and the bisection that analyses share.

use std::ops::RangeInclusive;

use tidegate_model::Duration;

use crate::Verdict;

/// The longest window or response that counts as a bound: 146 years, far from overflow.
pub(crate) const HORIZON_NS: u64 = 1 << 62;
/// The largest number of instants that a search tries; more occur only if periods are far shorter
/// than a window.
pub(crate) const OFFSETS_MAX: usize = 1 << 20;
/// The maximum number of rounds of an iteration; reached only if the load is within one part in
/// 10,000 of the capacity.
const ROUNDS_MAX: u64 = 10_000;
/// Terms after which an iteration ends with no bound; with 100,000 different tasks, reached only
/// within one part in 50 of the capacity.
const TERMS_MAX: u64 = 1 << 26;
/// Terms after which [`closing_point`] stops looking for the least point.
const TERMS_OF_LEAST: u64 = 1 << 22;
/// The exponent of the tolerance that [`closing_point`] then has: it accepts a point x if
/// `f(y) > y` for some y at most one part in 2^10 below x.
const MISSED_BITS: u32 = 10;

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
/// or after 10,000 rounds; if a round takes thousands of `terms`, after fewer.
pub(crate) fn least_fixed_point(
    terms: usize,
    start: u64,
    f: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    match climbed(rounds(TERMS_MAX, terms), start, &f)? {
        Climbed::Closed(x) => Some(x),
        Climbed::Open(_) => None,
    }
}

/// Returns an `x >= start` with `f(x) <= x`, for nondecreasing f: the least one if few rounds find
/// it, as they do except close to the capacity, and otherwise a larger one. `None` if no x that was
/// tried satisfies this.
///
/// # Complexity
/// At most 10,000 rounds of f (fewer if a round takes hundreds of `terms`), then fewer than 100
/// more.
pub(crate) fn closing_point(
    terms: usize,
    start: u64,
    f: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    let mut open = match climbed(rounds(TERMS_OF_LEAST, terms), start, &f)? {
        Climbed::Closed(x) => return Some(x),
        Climbed::Open(x) => x,
    };
    let miss = |x: u64| (x >> MISSED_BITS).max(1);
    let mut step = miss(open);
    let mut closed = loop {
        let x = open.checked_add(step)?;
        match f(x) {
            Some(next) if next <= x => break x,
            Some(_) => (open, step) = (x, step.checked_mul(2)?),
            None if step > miss(open) => step /= 2,
            None => return None,
        }
    };
    while closed - open > miss(open) {
        let x = open + (closed - open) / 2;
        if f(x).is_some_and(|next| next <= x) {
            closed = x;
        } else {
            open = x;
        }
    }
    Some(closed)
}

/// The result of an iteration from below.
enum Climbed {
    /// The iteration reached the least x with `f(x) <= x`.
    Closed(u64),
    /// The last round ended at this value, below the least x with `f(x) <= x`.
    Open(u64),
}

/// Iterates `x := f(x)` from `start`; `None` if f returns `None`.
fn climbed(rounds: u64, start: u64, f: impl Fn(u64) -> Option<u64>) -> Option<Climbed> {
    let mut x = start;
    for _ in 0..rounds {
        let next = f(x)?;
        if next <= x {
            return Some(Climbed::Closed(x));
        }
        x = next;
    }
    Some(Climbed::Open(x))
}

/// Returns the number of rounds of an iteration that may evaluate `terms_max` terms, `terms` in
/// each round.
fn rounds(terms_max: u64, terms: usize) -> u64 {
    ROUNDS_MAX.min(terms_max / (terms as u64).max(1))
}

/// Returns the largest number of the range for which `holds` returns true, by bisection: `holds`
/// must not return true above a number for which it returns false. The first number counts as
/// holding.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Returns the work that `tasks` tasks with periods from 100,000 release within x; its rate is
    /// `load_ppm` parts per million.
    fn released(tasks: u64, load_ppm: u64) -> impl Fn(u64) -> Option<u64> {
        let periods: Vec<u64> = (0..tasks).map(|task| 100 + 7 * task).collect();
        let jobs_in_1e9: u64 = periods.iter().map(|&period| 1_000_000_000 / period).sum();
        let unit = 1_000_000 * load_ppm / jobs_in_1e9;
        move |x| {
            let jobs = |period: u64| x.div_ceil(period * 1_000);
            Some(unit * periods.iter().copied().map(jobs).sum::<u64>())
        }
    }

    /// Goal: a closing point closes, and a number at most a thousandth smaller does not. Method:
    /// loads up to one part in 1,000 below the capacity, with enough rounds to find the least
    /// point, and without.
    #[test]
    fn a_closing_point_is_near_the_least() {
        let mut is_least = [false; 2];
        for tasks in [1, 5, 40] {
            for load in [100_000, 500_000, 900_000, 990_000, 999_000] {
                let f = released(tasks, load);
                let least = least_fixed_point(1, 1, &f).expect("closes");
                for terms in [1, 1 << 20] {
                    let found = closing_point(terms, 1, &f).expect("closes");
                    assert!(found >= least && f(found) <= Some(found), "{tasks} tasks, {load}");
                    let near = found - (found >> MISSED_BITS).max(1)..found;
                    assert!(near.into_iter().any(|x| f(x) > Some(x)), "{tasks} tasks, {load}");
                    is_least[usize::from(found == least)] = true;
                }
            }
        }
        assert_eq!(is_least, [true; 2], "one-sided");
    }

    #[test]
    fn a_closing_point_lies_below_the_horizon_of_f() {
        let f = released(40, 999_000);
        let least = closing_point(1, 1, &f).expect("closes");
        let within = |limit: u64| closing_point(1 << 20, 1, |x| f(x).filter(|_| x <= limit));
        assert_eq!(within(least / 2), None);
        assert!(within(least * 2).is_some_and(|x| x >= least && x <= least * 2));
    }

    /// Goal: a point that only just closes is found in few rounds. Method: f(x) is x + 1 below the
    /// least point and x from there on, up to 1/512 above it, which doubled steps overshoot.
    #[test]
    fn a_point_that_only_just_closes_is_found_in_few_rounds() {
        for least in [1_u64 << 20, 3 << 40, (1 << 50) + 12_345] {
            let rounds = Cell::new(0);
            let f = |x: u64| {
                rounds.set(rounds.get() + 1);
                assert!(rounds.get() < 100, "{least}: too many rounds");
                (x <= least + (least >> 9)).then_some(if x < least { x + 1 } else { x })
            };
            let found = closing_point(1 << 20, 1, f).expect("closes");
            assert!((least..=least + (least >> MISSED_BITS)).contains(&found), "{least}: {found}");
        }
    }

    #[test]
    fn nothing_closes_beyond_capacity() {
        assert_eq!(closing_point(1 << 20, 1, |x| x.checked_add(1 + x / 1_000)), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: two profiles of one drive are hardly ever reported as different, however few samples they
//! have, and a drive that became slower is reported. Method: many pairs are drawn from
//! distributions with thin and heavy tails; each pair has a table of sixteen entries.

use tidegate_model::Duration;
use tidegate_stats::order_statistics::Summary;

use super::{ErrorLimit, Figure, LEVELS, Sampling};

const ENTRIES: usize = 16;
const TOLERANCE: f64 = 0.05;

/// A generator of numbers between 0 and 1 by a counter (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap();
        (f64::from(high) + 0.5) / (f64::from(u32::MAX) + 1.0)
    }
}

/// A distribution of times, as its quantile function: the argument is a level between 0 and 1.
type Times = fn(f64) -> f64;

const EVEN: Times = |u| 5.0 + 5.0 * u;
const EXPONENTIAL: Times = |u| 1.0 - u.ln();
const HEAVY: Times = |u| u.powf(-1.0 / 3.0);
/// Times of a drive that retries one request in a hundred.
const RETRIED: Times = |u| if u < 0.01 { 11.0 + 100.0 * u } else { 1.0 + u };
/// Every distribution of these tests.
const ALL: [Times; 4] = [EVEN, EXPONENTIAL, HEAVY, RETRIED];

fn seconds(value: f64) -> Duration {
    let ns = std::time::Duration::from_secs_f64(value).as_nanos();
    Duration::from_ns(u64::try_from(ns).unwrap())
}

fn drawn(times: Times, slower: f64, samples: u64, numbers: &mut Numbers) -> Sampling {
    let mut time = || seconds(times(numbers.next()) * slower);
    let mut all: Vec<Duration> = (0..samples).map(|_| time()).collect();
    let summary = Summary::of(&mut all).unwrap();
    let mut ns = [summary.highest.ns(); LEVELS];
    for (known, quantile) in ns.iter_mut().zip(summary.quantiles) {
        *known = quantile.ns();
    }
    Sampling::Times(ns, samples)
}

fn changed(one: u64, other: u64) -> bool {
    (super::float(other) / super::float(one) - 1.0).abs() > TOLERANCE
}

fn is_told_apart(chance: ErrorLimit, first: Sampling, second: Sampling) -> bool {
    let figures = [(Figure::Median, 2, 0), (Figure::Tail, 4, 1)];
    figures.into_iter().any(|(figure, of_times, of_rates)| {
        let has_changed = match (first, second) {
            (Sampling::Times(a, _), Sampling::Times(b, _)) => changed(a[of_times], b[of_times]),
            (Sampling::Rates(a, _), Sampling::Rates(b, _)) => changed(a[of_rates], b[of_rates]),
            _ => unreachable!("both are of one kind"),
        };
        has_changed && !chance.explains(figure, first, second)
    })
}

/// Returns the number of pairs of tables, of `pairs` in total, that are reported as different.
fn told_apart(pairs: usize, mut both: impl FnMut() -> [Sampling; 2]) -> usize {
    let chance = ErrorLimit::among(2 * ENTRIES);
    let mut is_apart = || {
        let [first, second] = both();
        is_told_apart(chance, first, second)
    };
    let apart = (0..pairs).filter(|_| (0..ENTRIES).filter(|_| is_apart()).count() > 0);
    apart.count()
}

#[test]
fn one_drive_is_not_told_from_itself() {
    let mut numbers = Numbers(1);
    let mut apart = 0;
    for (samples, pairs) in [(20, 200), (100, 100), (1000, 25)] {
        for times in ALL {
            apart += told_apart(pairs, || [1, 2].map(|_| drawn(times, 1.0, samples, &mut numbers)));
        }
    }
    assert!(apart <= 13, "{apart} of 1,300 pairs of tables: more than 1 %");
}

#[test]
fn a_drive_that_is_slower_by_8_percent_is_found_with_a_thousand_samples() {
    let mut numbers = Numbers(2);
    for times in [EVEN, RETRIED] {
        let found = told_apart(20, || [1.0, 1.08].map(|it| drawn(times, it, 1000, &mut numbers)));
        assert_eq!(found, 20);
    }
}

/// Canary: if the sampling error is ignored, tables of one drive are reported as different.
#[test]
fn tolerance_alone_cries_wolf() {
    let mut numbers = Numbers(3);
    let apart = (0..20).filter(|_| {
        let times = [1, 2].map(|_| drawn(EXPONENTIAL, 1.0, 100, &mut numbers));
        let [Sampling::Times(a, _), Sampling::Times(b, _)] = times else { unreachable!() };
        changed(a[2], b[2]) || changed(a[4], b[4])
    });
    assert!(apart.count() > 10);
}

fn rates(slower: f64, stretches: u64, numbers: &mut Numbers) -> Sampling {
    let mut deviation = || (0..12).map(|_| numbers.next()).sum::<f64>() - 6.0;
    let mut rate = || seconds((100.0 + 4.0 * deviation()) / slower);
    let mut all: Vec<Duration> = (0..stretches).map(|_| rate()).collect();
    all.sort_unstable();
    Sampling::Rates([all[all.len() / 2].ns(), all[0].ns()], stretches)
}

#[test]
fn flows_of_one_drive_are_alike_and_slow_ones_are_found() {
    let mut numbers = Numbers(4);
    let mut apart = 0;
    for stretches in [1, 4, 10, 20] {
        apart += told_apart(100, || [1, 2].map(|_| rates(1.0, stretches, &mut numbers)));
    }
    assert!(apart <= 6, "{apart} of 400");
    let found = told_apart(50, || [1.0, 1.2].map(|it| rates(it, 20, &mut numbers)));
    assert_eq!(found, 50);
}

/// Goal: with more samples, chance explains less. Method: times between 5 and 10 ms become longer
/// by 10 %.
#[test]
fn what_is_chance_ends_with_more_samples() {
    let even = |slower: u64, samples| {
        let ns: [u64; LEVELS] = [5000, 5500, 7500, 9500, 9950, 9995, 10_000];
        Sampling::Times(ns.map(|ns| ns * slower / 100), samples)
    };
    let is_chance =
        |n, m| ErrorLimit::among(1).explains(Figure::Median, even(100, n), even(110, m));
    assert!(is_chance(20, 20) && is_chance(20, 1_000_000) && !is_chance(1000, 1000));
}

#[test]
fn a_bare_median_moves_far_or_with_many_samples() {
    let is_chance = |ns, samples| {
        let medians = [100, ns].map(|ns| Sampling::Median(ns, samples));
        ErrorLimit::among(8).explains(Figure::Median, medians[0], medians[1])
    };
    assert!(is_chance(106, 50) && !is_chance(106, 5000) && !is_chance(200, 50));
}

#[test]
fn limit_of_the_normal_distribution_is_on_the_safe_side() {
    // From tables: 2.3263 and 4.2649 are exceeded with these probabilities.
    for (beyond, exact) in [(0.01, 2.3263), (0.000_01, 4.2649)] {
        let limit = super::normal_limit(beyond);
        assert!(limit > exact && limit < exact * 1.025, "{limit}");
    }
}

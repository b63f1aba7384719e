// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks the moments against all permutations of a few samples, how often independent samples are
//! flagged, and whether deliberate dependence is found.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use super::*;
use crate::drift::FALSE_ALARM;

fn times(ns: impl IntoIterator<Item = u64>) -> Vec<Duration> {
    ns.into_iter().map(Duration::from_ns).collect()
}

/// Returns independent samples of a skewed distribution with many ties.
fn independent(random: &mut Pcg64, count: usize) -> Vec<Duration> {
    let mut sample = || 5_000 + random.random_range(0..12) * random.random_range(0..12);
    times((0..count).map(|_| sample()).collect::<Vec<u64>>())
}

/// Returns times from an autoregressive process of order 1: `x = r x' + uniform`.
fn following(random: &mut Pcg64, count: usize, r: f64) -> Vec<Duration> {
    let mut x = 0.5 / (1.0 - r);
    let mut sample = || {
        x = r * x + random.random_range(0.0..1.0);
        float::ceil(1e6 * (10.0 + x))
    };
    times((0..count).map(|_| sample()).collect::<Vec<u64>>())
}

/// Visits all orders of `values` by exchanging each value with those after it.
fn orders(values: &mut Vec<f64>, from: usize, visit: &mut impl FnMut(&[f64])) {
    if from == values.len() {
        visit(values);
    }
    for other in from..values.len() {
        values.swap(from, other);
        orders(values, from + 1, visit);
        values.swap(from, other);
    }
}

/// For 1 2 2 4 5 5 5, the mean and the variance of r over all 5,040 orders equal those of the
/// equation, ties included.
#[test]
fn moments_are_those_of_all_orders() {
    let mut ranks = distances(&times([1, 2, 2, 4, 5, 5, 5]));
    let sum = |power: i32| ranks.iter().map(|distance| distance.powi(power)).sum::<f64>();
    let expected = variance(7.0, sum(4) / (sum(2) * sum(2)));
    let (mut count, mut first, mut second) = (0.0, 0.0, 0.0);
    orders(&mut ranks, 0, &mut |order| {
        let (r, _) = correlation(order);
        (count, first, second) = (count + 1.0, first + r, second + r * r);
    });
    let mean = first / count;
    assert!((mean + 1.0 / 7.0).abs() < 1e-12, "{mean}");
    let found = second / count - mean * mean;
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// Computed by hand: 3 1 2 has the rank distances 1 -1 0, so r = (-1 + 0) / 2.
#[test]
fn the_correlation_is_as_by_hand() {
    let (r, _) = correlation(&distances(&times([3, 1, 2])));
    assert!((r + 0.5).abs() < 1e-12, "{r}");
    assert_eq!(correlation(&distances(&times([7; 90]))), (0.0, 1.0));
}

/// Goal: independent samples are flagged in at most 1 % of runs, with any number of entries.
/// Method: 2,000 runs of 5 entries with ties; 20 alarms are expected, with a standard deviation of
/// 4.5. Canary: without Holm's procedure, the same level gives several times as many alarms.
#[test]
fn independent_samples_are_seldom_accused() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut alarms, mut alarms_canary) = (0, 0);
    for _ in 0..2_000 {
        let run: Vec<_> = (0..5).map(|_| independent(&mut random, 80)).collect();
        alarms += u32::from(!compare(&run, 1).dependent.is_empty());
        let is_low = |times: &Vec<_>| dependence(Cell::of(0, 1), times).p <= FALSE_ALARM;
        alarms_canary += u32::from(run.iter().any(is_low));
    }
    assert!((3..=34).contains(&alarms), "{alarms} of 2,000 runs");
    assert!(alarms_canary > 60, "without Holm there are more: {alarms_canary}");
}

/// With r = 0.6 in the second way of the third entry, 1,000 samples carry the information of 250.
#[test]
fn samples_that_follow_each_other_are_found() {
    let mut random = Pcg64::seed_from_u64(2);
    let mut run: Vec<_> = (0..8).map(|_| independent(&mut random, 1_000)).collect();
    run[5] = following(&mut random, 1_000, 0.6);
    let found = compare(&run, 2);
    let [it] = found.dependent[..] else { panic!("one: {found}") };
    assert_eq!(it.cell, Cell { entry: 2, way: 1, ways: 2 });
    assert!((0.5..0.7).contains(&it.correlation), "{it:?}");
    assert!((180..330).contains(&it.effective()), "{}", it.effective());
    assert!(found.is_grave(), "{found}");
    let text = found.to_string();
    assert!(text.contains("entry 3 (way 2 of 2) resemble the ones before"), "{text}");
    assert!(text.contains(", its 1000 samples carry the information of about "), "{text}");
}

/// Goal: a device that alternates between slow and fast is reported as not independent, but not as
/// having fewer effective samples.
#[test]
fn samples_by_turns_are_found_and_keep_their_number() {
    let found = compare(&[times((0..200).map(|at| 100 + 50 * (at % 2)))], 1);
    let [it] = found.dependent[..] else { panic!("one: {found}") };
    assert!(it.correlation < -0.9 && it.effective() == 200, "{it:?}");
    assert!(!found.is_grave(), "{found}");
    assert!(found.to_string().contains("are unlike the ones before"), "{found}");
}

/// Computed by hand: 100 (1 - 0.5) / (1 + 0.5) = 33.3; a correlation that is rounded to 1 leaves
/// one sample.
#[test]
fn effective_numbers_are_rounded_down() {
    let of = |correlation| {
        Dependence { cell: Cell::of(0, 1), correlation, samples: 100, p: 0.0 }.effective()
    };
    assert_eq!([of(0.5), of(1.0), of(0.0), of(-0.5)], [33, 1, 100, 100]);
}

#[test]
fn too_few_samples_are_said_and_not_compared() {
    let found = compare(&[times(1..=59), Vec::new()], 1);
    assert_eq!((found.compared, found.too_short), (0, 2));
    assert!(found.to_string().contains("60 samples"), "{found}");
    let found = compare(&[times([5; 60]), Vec::new()], 1);
    assert_eq!((found.compared, found.dependent.len()), (1, 0));
    assert!(found.to_string().contains("1 had too few"), "{found}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests known envelopes, and random points against every vertex of the linear programme: coverage
//! in exact integers, tightness against an oracle that is independent of the solver.

use proptest::prelude::*;
use tidegate_model::cost::CostModel;
use tidegate_model::{Bytes, Op};

use super::*;

const READ: Kind = Kind { op: Op::Read, size: Bytes::from_kib(128) };
const WRITE: Kind = Kind { op: Op::Write, size: Bytes::from_kib(128) };
const SMALL: Kind = Kind { op: Op::Read, size: Bytes::from_kib(4) };

fn point(counts: &[u32], ns: u64) -> Point {
    Point { counts: counts.to_vec(), highest: Duration::from_ns(ns) }
}

/// Returns by how much the model exceeds a point's time, in ns; negative if it is below.
fn excess_ns(envelope: &Envelope, point: &Point) -> i128 {
    let costs = envelope.requests.iter().map(|cost| i128::from(cost.time_max.ns()));
    let sum: i128 = point.counts.iter().zip(costs).map(|(&n, c)| i128::from(n) * c).sum();
    i128::from(envelope.positioning_max.ns()) + sum - i128::from(point.highest.ns())
}

fn total_ns(envelope: &Envelope, points: &[Point]) -> i128 {
    points.iter().map(|point| excess_ns(envelope, point)).sum()
}

/// The fit of points on the line b(n) = 5 ms + 3 ms n is that line.
#[test]
fn a_line_is_found_again() {
    let points: Vec<_> =
        (1..=16).map(|n| point(&[n], 5_000_000 + 3_000_000 * u64::from(n))).collect();
    let envelope = fit(&[READ], &points).expect("an envelope");
    assert_eq!(envelope.batch_max, 16);
    assert!(total_ns(&envelope, &points) <= 16 + 136, "{envelope:?}");
    assert_eq!(envelope.tight, (0..16).collect::<Vec<_>>());
    assert!(envelope.positioning_max.ns().abs_diff(5_000_000) <= 32, "{envelope:?}");
    assert!(envelope.overshoot_ppm_highest <= 10, "{envelope:?}");
}

/// Fits a disk with A = 4 ms, reads of 2 ms and writes of 7 ms, from pure and mixed batches. Some
/// batches were shorter than that, and the model overshoots only those.
#[test]
fn kinds_are_told_apart_by_mixed_batches() {
    let cost = |n: u32, m: u32| {
        4_000_000 + 2_000_000 * u64::from(n) + 7_000_000 * u64::from(m)
            - if n + m == 5 { 900_000 } else { 0 }
    };
    let grid = (0..=4).flat_map(|n| (0..=4).map(move |m| (n, m))).filter(|&(n, m)| n + m > 0);
    let points: Vec<_> = grid.map(|(n, m)| point(&[n, m], cost(n, m))).collect();
    let envelope = fit(&[READ, WRITE], &points).expect("an envelope");
    let [read, write] = envelope.requests[..] else { panic!("two kinds") };
    assert!(read.time_max.ns().abs_diff(2_000_000) < 20, "{envelope:?}");
    assert!(write.time_max.ns().abs_diff(7_000_000) < 20, "{envelope:?}");
    let short = points.iter().filter(|point| requests_of(point) == 5).count();
    assert_eq!(envelope.tight.len(), points.len() - short);
}

/// Tests points for which many models are equally tight, and times at the ends of their range.
#[test]
fn one_point_and_no_slope_are_covered() {
    for points in [
        vec![point(&[3], 9_000_001)],
        vec![point(&[4], 0)],
        vec![point(&[1], 7_000), point(&[9], 7_000)],
        vec![point(&[2], 5_000), point(&[2], 6_000), point(&[2], 7_000)],
        vec![point(&[1], u64::MAX)],
    ] {
        let envelope = fit(&[READ], &points).expect("an envelope");
        assert!(points.iter().all(|point| excess_ns(&envelope, point) >= 0), "{envelope:?}");
        assert!(envelope.requests[0].time_max.ns() >= 1);
    }
}

#[test]
fn what_cannot_be_covered_is_refused_with_its_reason() {
    use EnvelopeError::{BatchSize, CountsMismatch, KindNotMeasured, KindTwice, NoPoints};
    let some = [point(&[1], 5)];
    assert_eq!(fit(&[], &[]), Err(NoPoints));
    assert_eq!(fit(&[READ], &[]), Err(KindNotMeasured(READ)));
    assert_eq!(fit(&[READ, READ], &some), Err(KindTwice(READ)));
    let unmeasured = fit(&[READ, WRITE], &[point(&[1, 0], 5)]);
    assert_eq!(unmeasured, Err(KindNotMeasured(WRITE)));
    let mismatch = CountsMismatch { point: 0, counts: 1, kinds: 2 };
    assert_eq!(fit(&[READ, WRITE], &some), Err(mismatch));
    assert_eq!(fit(&[READ], &[point(&[0], 5)]), Err(BatchSize(0)));
    let text = KindNotMeasured(SMALL).to_string();
    assert!(text.contains("read of 4KiB"), "{text}");
}

#[test]
fn an_envelope_is_a_cost_model() {
    let points = [point(&[1, 0], 9_000), point(&[4, 0], 21_000), point(&[0, 2], 7_000)];
    let envelope = fit(&[READ, SMALL], &points).expect("an envelope");
    assert_eq!(envelope.batch_max, 2, "of 4 KiB nothing is known beyond two");
    let model = CostModel::from(envelope.clone());
    let covered = model.batch_of_one_kind(READ.op, READ.size, 4).expect("known");
    assert!(covered >= Duration::from_ns(21_000));
    assert_eq!(model.positioning_max, envelope.positioning_max);
    assert!(model.how.expect("said").contains("linear programme"));
}

/// Returns the least total overshoot, in floats, without the solver. It tries every vertex: every
/// choice of as many constraints (points and axes) as variables, each met with equality.
fn least_total(points: &[Point], kinds: usize) -> f64 {
    let variables = kinds + 1;
    let axes = (0..variables).map(|axis| {
        let row: Vec<f64> = (0..variables).map(|i| if i == axis { 1.0 } else { 0.0 }).collect();
        (row, 0.0)
    });
    let of_point = |point: &Point| {
        let counts = point.counts.iter().map(|&count| f64::from(count));
        (std::iter::once(1.0).chain(counts).collect(), float::of(point.highest.ns()))
    };
    let rows: Vec<(Vec<f64>, f64)> = points.iter().map(of_point).chain(axes).collect();
    let excess = |(row, right): &(Vec<f64>, f64), place: &[f64]| {
        row.iter().zip(place).map(|(a, x)| a * x).sum::<f64>() - right
    };
    let mut least = f64::INFINITY;
    for chosen in choices(rows.len(), variables) {
        let system: Vec<_> = chosen.iter().map(|&index| rows[index].clone()).collect();
        let Some(place) = solved(system) else { continue };
        if rows.iter().all(|row| excess(row, &place) >= -1e-3) {
            least = least.min(rows[..points.len()].iter().map(|row| excess(row, &place)).sum());
        }
    }
    least
}

/// Returns all ascending lists of `count` numbers less than `below`.
fn choices(below: usize, count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let last = |last: usize| {
        choices(last, count - 1).into_iter().map(move |mut chosen| {
            chosen.push(last);
            chosen
        })
    };
    (0..below).flat_map(last).collect()
}

/// Solves linear equations by Gauss-Jordan elimination with pivoting; `None` if the rows are
/// linearly dependent.
fn solved(mut system: Vec<(Vec<f64>, f64)>) -> Option<Vec<f64>> {
    for column in 0..system.len() {
        let size = |row: &usize| system[*row].0[column].abs();
        let pivot = (column..system.len()).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot) < 1e-9 {
            return None;
        }
        system.swap(column, pivot);
        let (pivot_row, pivot_right) = system[column].clone();
        for (index, (row, right)) in system.iter_mut().enumerate() {
            let factor = row[column] / pivot_row[column];
            if index != column {
                row.iter_mut().zip(&pivot_row).for_each(|(a, b)| *a -= factor * b);
                *right -= factor * pivot_right;
            }
        }
    }
    Some(system.iter().enumerate().map(|(index, (row, right))| right / row[index]).collect())
}

/// Generates points with up to three kinds, pure and mixed, with times around those of a cost
/// model.
fn points(kinds: usize) -> impl Strategy<Value = Vec<Point>> {
    let counts = proptest::collection::vec(0_u32..20, kinds);
    let of_point = (counts, 0..3_000_000_u64).prop_map(|(mut counts, noise_ns)| {
        counts[0] += u32::from(counts.iter().all(|&count| count == 0));
        let of_kind = |(kind, &count): (usize, &u32)| (1_500_000 << kind) * u64::from(count);
        let sum: u64 = counts.iter().enumerate().map(of_kind).sum();
        Point { counts, highest: Duration::from_ns(2_000_000 + sum + noise_ns) }
    });
    let pure = (0..kinds).map(move |kind| {
        let counts: Vec<u32> = (0..kinds).map(|k| u32::from(k == kind)).collect();
        (0..9_000_000_u64).prop_map(move |ns| point(&counts, ns))
    });
    (pure.collect::<Vec<_>>(), proptest::collection::vec(of_point, 0..7))
        .prop_map(|(pure, mixed)| [pure, mixed].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The model covers every point exactly, and its total overshoot is the least possible except
    /// for rounding and one thousandth.
    #[test]
    fn every_point_is_covered_at_the_least_total_overshoot(
        (kinds, points) in (1_usize..=3).prop_flat_map(|kinds| (Just(kinds), points(kinds))),
    ) {
        let envelope = fit(&[READ, WRITE, SMALL][..kinds], &points).expect("an envelope");
        for (index, point) in points.iter().enumerate() {
            let excess = excess_ns(&envelope, point);
            prop_assert!(excess >= 0, "{point:?} {envelope:?}");
            let is_tight = excess <= 1 + i128::try_from(requests_of(point)).unwrap();
            prop_assert_eq!(envelope.tight.contains(&index), is_tight);
            let ppm = excess * 1_000_000;
            let allowed = i128::from(envelope.overshoot_ppm_highest) * i128::from(point.highest.ns());
            prop_assert!(point.highest.is_zero() || ppm <= allowed, "{envelope:?}");
        }
        let requests: u128 = points.iter().map(|point| 1 + requests_of(point)).sum();
        let rounding = float::of(u64::try_from(requests).unwrap());
        let total = float::of(u64::try_from(total_ns(&envelope, &points)).unwrap());
        let least = least_total(&points, kinds);
        prop_assert!(total <= 1.001 * least + rounding + 10.0, "{total} {least} {envelope:?}");
        prop_assert!(total >= 0.999 * least - 10.0, "the oracle is not the least: {total} {least}");
    }

    /// The model covers every point for any times and counts, even of very different sizes.
    #[test]
    fn wild_points_are_covered(
        wild in proptest::collection::vec(
            (0_u32..5_000, 0_u32..5_000, 0..60_u32, 0..1_000_u64), 1..40,
        ),
    ) {
        let of = |(n, m, shift, ns): (u32, u32, u32, u64)| point(&[n + 1, m + 1], ns << shift.min(50));
        let points: Vec<_> = wild.into_iter().map(of).collect();
        let envelope = fit(&[READ, WRITE], &points).expect("an envelope");
        prop_assert!(points.iter().all(|point| excess_ns(&envelope, point) >= 0));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Seek curves that are not measured: checks their points against the formulas.

use super::*;

const CYLINDERS: u32 = 2051;

/// Returns the seek time for a distance, interpolated as the drive does.
fn time_ns(points: &[(u32, u64)], distance: u32) -> i128 {
    let after = points.partition_point(|point| point.0 < distance);
    let (to, to_ns) = points[after];
    if to == distance {
        return i128::from(to_ns);
    }
    let (from, from_ns) = points[after - 1];
    let rise_ns = i128::from(to_ns) - i128::from(from_ns);
    i128::from(from_ns) + rise_ns * i128::from(distance - from) / i128::from(to - from)
}

fn points(seek: Seek) -> Vec<(u32, u64)> {
    match seek {
        Seek::Points(points) => points,
        Seek::Formula { .. } => panic!("expected points"),
    }
}

fn three_times(one_ns: u64, average_ns: u64, full_ns: u64) -> ThreeTimes {
    let [one, average, full] = [one_ns, average_ns, full_ns].map(Duration::from_ns);
    ThreeTimes { one, average, full }
}

fn values(one_ns: Option<u64>) -> SixValues {
    SixValues {
        long_from: 300,
        short_ns: 3_810_000,
        per_root_ns: 330_000,
        long_ns: 7_750_000,
        per_cylinder_ps: 5_900_000,
        one_ns,
    }
}

/// Computes the formula independently of the code under test: it finds the root by bisection.
fn formula_ns(distance: u32) -> i128 {
    if distance >= 300 {
        return 7_750_000 + 5_900 * i128::from(distance);
    }
    let square = 330_000_i128.pow(2) * i128::from(distance);
    let (mut low, mut high) = (0_i128, square);
    while high - low > 1 {
        let middle = i128::midpoint(low, high);
        if middle * middle <= square { low = middle } else { high = middle }
    }
    3_810_000 + low
}

#[test]
fn three_times_on_a_line_are_three_points() {
    let times = three_times(1_000_000, 8_000_000, 15_000_000);
    let expected = [(1, 1_000_000), (1000, 8_000_000), (3000, 15_000_000)];
    assert_eq!(points(linear(&times, 3000)), expected);
}

#[test]
fn three_times_on_a_curve_are_met_where_they_are_given() {
    let times = three_times(1_000_000, 8_000_000, 15_000_000);
    let points = points(curve(&times, 3000));
    assert!(points.len() < 200, "{}", points.len());
    assert_eq!(time_ns(&points, 1), 1_000_000);
    assert!(time_ns(&points, 2999).abs_diff(15_000_000) < 10_000);
    // The mean over all pairs of cylinders: each distance with its frequency.
    let weights = (1..3000_u32).map(|distance| (distance, i128::from(3000 - distance)));
    let (sum, count) = weights.fold((0, 0), |(sum, count), (distance, weight)| {
        (sum + weight * time_ns(&points, distance), count + weight)
    });
    assert!((sum / count).abs_diff(8_000_000) < 20_000, "{}", sum / count);
}

#[test]
fn three_times_that_bend_the_other_way_are_on_a_line() {
    let times = three_times(1_000_000, 2_000_000, 15_000_000);
    assert_eq!(curve(&times, 3000), linear(&times, 3000));
}

#[test]
fn six_values_are_the_formula_itself() {
    let expected = Seek::Formula {
        short_ns: 3_810_000,
        per_root_ns: 330_000,
        long_ns: 7_750_000,
        per_cylinder_ps: 5_900_000,
        long_from: 300,
    };
    assert_eq!(by_formula(&values(None), &[], CYLINDERS - 1), expected);
}

#[test]
fn first_times_are_kept_and_the_formula_goes_on() {
    let first_ns: Vec<u64> = (1..=10).map(|n| 2_000_000 + n * n).collect();
    let points = points(by_formula(&values(None), &first_ns, CYLINDERS - 1));
    assert!(points.len() < 120, "{}", points.len());
    for distance in 1..CYLINDERS {
        let expected = match first_ns.get(distance as usize - 1) {
            Some(&given) => i128::from(given),
            None => formula_ns(distance),
        };
        let error = time_ns(&points, distance).abs_diff(expected);
        assert!(error <= 600, "{distance}: {error} ns from {expected}");
    }
}

#[test]
fn one_cylinder_may_have_a_time_of_its_own() {
    let points = points(by_formula(&values(Some(200_000)), &[], CYLINDERS - 1));
    assert_eq!(points[0], (1, 200_000));
    assert!(time_ns(&points, 2).abs_diff(formula_ns(2)) <= 600);
}

#[test]
fn disks_of_few_cylinders_have_a_curve_too() {
    let times = three_times(1, 8, 15);
    for cylinders in 0..12_u32 {
        let last = cylinders.saturating_sub(1).max(1);
        for seek in [
            linear(&times, cylinders),
            curve(&times, cylinders),
            by_formula(&values(Some(1)), &[], last),
            by_formula(&values(None), &[5; 10], last),
        ] {
            let points = points(seek);
            let ordered = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
            assert!(ordered && points[0].0 == 1, "{cylinders}: {points:?}");
        }
    }
}

#[test]
fn huge_figures_do_not_overflow() {
    let huge = u64::MAX;
    let times = three_times(huge, huge, huge);
    curve(&times, u32::MAX);
    let values = SixValues {
        long_from: u32::MAX,
        short_ns: huge,
        per_root_ns: huge,
        long_ns: huge,
        per_cylinder_ps: huge,
        one_ns: Some(huge),
    };
    by_formula(&values, &[], u32::MAX - 1);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Seek curves: points, formulas, and their linear upper bound.

use proptest::prelude::*;
use tidegate_drive::mechanical::SeekCurve;
use tidegate_model::Duration;
use tidegate_model::mechanics::Seek;

fn points(points: &[(u32, u64)], cylinders: u32) -> SeekCurve {
    SeekCurve::new(&Seek::Points(points.to_vec()), cylinders).unwrap()
}

fn ns(curve: &SeekCurve, distance: u32) -> u64 {
    curve.time(distance).ns()
}

/// Ruemmler and Wilkes' HP 97560 in their form: 3.24 + 0.400 sqrt(d), and 8.00 + 0.008 d from 383
/// on.
fn hp_97560() -> Seek {
    Seek::Formula {
        short_ns: 3_240_000,
        per_root_ns: 400_000,
        long_ns: 8_000_000,
        per_cylinder_ps: 8_000_000,
        long_from: 383,
    }
}

fn refusal(seek: &Seek, cylinders: u32) -> String {
    let error = SeekCurve::new(seek, cylinders).unwrap_err();
    format!("{error}; {}", error.help)
}

#[test]
fn no_distance_takes_no_time() {
    assert_eq!(points(&[(1, 500)], 10).time(0), Duration::ZERO);
    assert_eq!(SeekCurve::new(&hp_97560(), 1962).unwrap().time(0), Duration::ZERO);
}

#[test]
fn points_are_met_and_lines_between_them_round_up() {
    let curve = points(&[(1, 1_000), (4, 2_000), (7, 1_990)], 100);
    let times: Vec<u64> = (1..=7).map(|distance| ns(&curve, distance)).collect();
    // 1000 / 3 rounded up; 10 / 3 rounded down, since the curve falls there.
    assert_eq!(times, [1_000, 1_334, 1_667, 2_000, 1_997, 1_994, 1_990]);
}

#[test]
fn before_the_first_point_the_time_is_that_of_the_first() {
    assert_eq!(ns(&points(&[(5, 700), (6, 900)], 100), 1), 700);
}

#[test]
fn beyond_the_last_point_the_last_slope_goes_on() {
    assert_eq!(ns(&points(&[(1, 100), (2, 700), (4, 900)], 100), 10), 1_500);
    assert_eq!(ns(&points(&[(1, 100), (4, 900), (6, 700)], 9), 8), 500);
}

#[test]
fn one_point_is_a_constant() {
    let curve = points(&[(3, 800)], 100);
    assert_eq!([1, 3, 99].map(|distance| ns(&curve, distance)), [800; 3]);
}

#[test]
fn formula_has_a_root_and_a_line() {
    let curve = SeekCurve::new(&hp_97560(), 1962).unwrap();
    assert_eq!(ns(&curve, 1), 3_640_000);
    assert_eq!(ns(&curve, 100), 7_240_000);
    // 0.4 ms sqrt(2) = 565685.42 ns
    assert_eq!(ns(&curve, 2), 3_240_000 + 565_686);
    assert_eq!(ns(&curve, 383), 11_064_000);
    assert_eq!(ns(&curve, 1961), 23_688_000);
}

#[test]
fn refusals_name_the_fault() {
    let unordered = Seek::Points(vec![(1, 5), (3, 6), (3, 7)]);
    assert_eq!(
        refusal(&unordered, 10),
        "seek: points: distance 3 comes after distance 3; write points in order of distance, \
         each distance once"
    );
    assert_eq!(
        refusal(&Seek::Points(Vec::new()), 10),
        "seek: points: no points are given; write at least [distance, ns]"
    );
    assert_eq!(
        refusal(&Seek::Points(vec![(1, 1 << 32)]), 10),
        "seek: points: 4294967296 is too large; write at most 4294967295"
    );
    assert_eq!(
        refusal(&Seek::Points(vec![(1, 500), (2, 400)]), 10),
        "seek: points: the last slope reaches 0 before the full stroke of 9 cylinders; add a \
         point at full stroke"
    );
}

#[test]
fn formula_that_decreases_is_refused() {
    let Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, .. } = hp_97560() else {
        panic!("a formula")
    };
    let early = Seek::Formula {
        short_ns,
        per_root_ns,
        long_ns: long_ns / 2,
        per_cylinder_ps,
        long_from: 300,
    };
    assert_eq!(
        refusal(&early, 1962),
        "seek: long_from: the formula decreases: 10156647 ns for 299 cylinders, 6400000 ns for \
         300; choose the distance where the two pieces meet"
    );
    assert!(SeekCurve::new(&early, 300).is_ok(), "a disk too small for long seeks");
}

#[test]
fn formula_with_a_figure_too_large_is_refused() {
    let huge = 1 << 40;
    let figures = [(huge, 1, 1, 1), (1, huge, 1, 1), (1, 1, huge, 1), (1, 1, 1, huge)];
    let fields = ["short_ns", "per_root_ns", "long_ns", "per_cylinder_ps"];
    for ((short_ns, per_root_ns, long_ns, per_cylinder_ps), field) in
        figures.into_iter().zip(fields)
    {
        let seek = Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, long_from: 5 };
        let expected = format!("seek: {field}: {huge} is too large");
        assert!(refusal(&seek, 9).starts_with(&expected), "{}", refusal(&seek, 9));
    }
}

/// The curve rises to 1000 over 10 cylinders; from its end the line over its dent at 4 is the
/// flattest.
#[test]
fn linear_bound_ends_with_the_curve_and_touches_it_once_more() {
    let curve = points(&[(1, 400), (4, 800), (10, 1_000)], 11);
    let (min, max) = curve.linear_upper_bound();
    // 200 in 6 cylinders: 1000 - 10 * 200 / 6 = 666.7 at 0; plus one for rounding.
    assert_eq!((min.ns(), max.ns()), (667 + 1, 1_000 + 1));
}

#[test]
fn linear_bound_of_a_curve_that_falls_is_level() {
    let (min, max) = points(&[(1, 400), (4, 900), (10, 800)], 11).linear_upper_bound();
    assert_eq!((min.ns(), max.ns()), (901, 901));
}

#[test]
fn linear_bound_of_a_disk_without_seeks_is_but_rounding() {
    let (min, max) = points(&[(1, 400)], 1).linear_upper_bound();
    assert_eq!((min.ns(), max.ns()), (1, 1));
}

prop_compose! {
    fn random_points()(
        steps in proptest::collection::vec((1_u32..40, 0_u64..5_000_000), 1..20),
    ) -> Vec<(u32, u64)> {
        let mut from = 0;
        steps.iter().map(|&(step, ns)| { from += step; (from, ns) }).collect()
    }
}

proptest! {
    /// Between two points the time is on the line between them, rounded up: checked by products.
    #[test]
    fn times_lie_on_the_lines_between_points(points_asked in random_points()) {
        let last = points_asked.last().unwrap().0;
        let curve = points(&points_asked, last + 1);
        for pair in points_asked.windows(2) {
            let [(from, ns_from), (to, ns_to)] = [pair[0], pair[1]].map(|(d, ns)| (i128::from(d), i128::from(ns)));
            for distance in pair[0].0..=pair[1].0 {
                let time = i128::from(ns(&curve, distance));
                let exact = ns_from * (to - from) + (ns_to - ns_from) * (i128::from(distance) - from);
                prop_assert!((0..to - from).contains(&(time * (to - from) - exact)), "{}", distance);
            }
        }
    }

    #[test]
    fn linear_bound_is_above_the_curve_and_touches_it(points_asked in random_points()) {
        let stroke = points_asked.last().unwrap().0;
        let curve = points(&points_asked, stroke + 1);
        let (min, max) = curve.linear_upper_bound();
        prop_assert!(min <= max);
        let (min, max) = (u128::from(min.ns()), u128::from(max.ns()));
        let line = |min: u128, distance: u32| min * u128::from(stroke) + (max - min) * u128::from(distance);
        let time = |distance: u32| u128::from(ns(&curve, distance)) * u128::from(stroke);
        for distance in 1..=stroke {
            prop_assert!(line(min, distance) >= time(distance), "below at {}", distance);
        }
        let slack = |distance: u32| line(min, distance) - time(distance);
        let touches = (1..stroke).any(|distance| slack(distance) <= 3 * u128::from(stroke));
        prop_assert!(touches || min <= 1 || stroke == 1, "nowhere within 3 ns");
        let reached = (1..=stroke).map(|distance| u128::from(ns(&curve, distance))).max().unwrap();
        prop_assert!((reached..=reached + 1).contains(&max));
    }

    #[test]
    fn roots_are_rounded_up(b in 0_u64..=u64::from(u32::MAX), distance in 1_u32..(1 << 24)) {
        let seek = Seek::Formula { short_ns: 0, per_root_ns: b, long_ns: 0, per_cylinder_ps: 0, long_from: u32::MAX };
        let time = u128::from(ns(&SeekCurve::new(&seek, 1 << 24).unwrap(), distance));
        let square = u128::from(b) * u128::from(b) * u128::from(distance);
        prop_assert!(time * time >= square && (time == 0 || (time - 1) * (time - 1) < square));
    }
}

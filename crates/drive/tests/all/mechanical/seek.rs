// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Seek curves: points, formulas, and their linear upper bound.

use proptest::prelude::*;
use tidegate_drive::mechanical::SeekCurve;
use tidegate_model::mechanics::Seek;

/// Distances and their times in nanoseconds.
type Points<'a> = &'a [(u32, u64)];

fn points(points: Points<'_>, cylinders: u32) -> SeekCurve {
    SeekCurve::new(&Seek::Points(points.to_vec()), cylinders).unwrap()
}

fn ns(curve: &SeekCurve, distance: u32) -> u64 {
    curve.time(distance).ns()
}

/// Returns the seek curve of the HP 97560 in the form of Ruemmler and Wilkes, in ms: 3.24 + 0.400
/// sqrt(d), and 8.00 + 0.008 d from 383 cylinders on.
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

/// Each case has a curve, the number of cylinders, and the times at some distances.
#[test]
fn curves_have_the_times_computed_by_hand() {
    let points = |points: &[(u32, u64)]| Seek::Points(points.to_vec());
    let rows: [(Seek, u32, Points<'_>); 7] = [
        // A distance of 0 takes no time; before the first point the time is that of the first.
        (points(&[(5, 700), (6, 900)]), 100, &[(0, 0), (1, 700)]),
        // The curve meets its points, and the lines between them round up: 1000 / 3 is rounded up,
        // 10 / 3 rounded down, since the curve falls there.
        (
            points(&[(1, 1_000), (4, 2_000), (7, 1_990)]),
            100,
            &[(1, 1_000), (2, 1_334), (3, 1_667), (4, 2_000), (5, 1_997), (6, 1_994), (7, 1_990)],
        ),
        // Beyond the last point, the last slope continues.
        (points(&[(1, 100), (2, 700), (4, 900)]), 100, &[(10, 1_500)]),
        (points(&[(1, 100), (4, 900), (6, 700)]), 9, &[(8, 500)]),
        // A curve of one point is constant.
        (points(&[(3, 800)]), 100, &[(1, 800), (3, 800), (99, 800)]),
        (points(&[(1, 500)]), 10, &[(0, 0)]),
        // The formula has a root and a line: 0.4 ms sqrt(2) = 565685.42 ns.
        (
            hp_97560(),
            1962,
            &[
                (0, 0),
                (1, 3_640_000),
                (2, 3_240_000 + 565_686),
                (100, 7_240_000),
                (383, 11_064_000),
                (1961, 23_688_000),
            ],
        ),
    ];
    for (seek, cylinders, times) in rows {
        let curve = SeekCurve::new(&seek, cylinders).unwrap();
        for &(distance, expected_ns) in times {
            assert_eq!(ns(&curve, distance), expected_ns, "{distance} of {seek:?}");
        }
    }
}

/// A formula that decreases is accepted on a disk that is too small for long seeks.
#[test]
fn refusals_name_the_fault() {
    let points = |points: &[(u32, u64)]| Seek::Points(points.to_vec());
    let early = Seek::Formula {
        short_ns: 3_240_000,
        per_root_ns: 400_000,
        long_ns: 4_000_000,
        per_cylinder_ps: 8_000_000,
        long_from: 300,
    };
    let rows = [
        (
            points(&[(1, 5), (3, 6), (3, 7)]),
            "points: distance 3 comes after distance 3; write points in order of distance, each \
             distance once",
        ),
        (points(&[]), "points: no points are given; write at least [distance, ns]"),
        (points(&[(1, 1 << 32)]), "points: 4294967296 is too large; write at most 4294967295"),
        (
            points(&[(1, 500), (2, 400)]),
            "points: the last slope reaches 0 before the full stroke of 1961 cylinders; add a \
             point at full stroke",
        ),
        (
            early.clone(),
            "long_from: the formula decreases: 10156647 ns for 299 cylinders, 6400000 ns for 300; \
             choose the distance where the two pieces meet",
        ),
    ];
    for (seek, expected) in rows {
        assert_eq!(refusal(&seek, 1962), format!("seek: {expected}"));
    }
    assert!(SeekCurve::new(&early, 300).is_ok());
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

/// The first curve rises to 1000 over 10 cylinders. The flattest line from its end touches the dent
/// at 4: it falls by 200 in 6 cylinders, to 1000 - 10 * 200 / 6 = 666.7 at 0. A curve that falls
/// has a level bound. A disk without seeks has only the nanosecond for rounding, which every bound
/// includes.
#[test]
fn linear_bound_ends_with_the_curve_and_touches_it_once_more() {
    let rows: [(Points<'_>, u32, (u64, u64)); 3] = [
        (&[(1, 400), (4, 800), (10, 1_000)], 11, (667 + 1, 1_000 + 1)),
        (&[(1, 400), (4, 900), (10, 800)], 11, (901, 901)),
        (&[(1, 400)], 1, (1, 1)),
    ];
    for (given, cylinders, expected) in rows {
        let (min, max) = points(given, cylinders).linear_upper_bound();
        assert_eq!((min.ns(), max.ns()), expected, "{given:?}");
    }
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

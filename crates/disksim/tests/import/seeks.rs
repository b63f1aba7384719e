// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Seek curves of every type in parameter files.

use tidegate_drive::mechanical::SeekCurve;
use tidegate_model::mechanics::Seek;

use crate::common::{MemoryFiles, disk};

/// Returns the disk with another seek type and its parameters.
fn with(parameters: &str) -> MemoryFiles {
    let from = "Seek type = extracted,\n      Full seek curve = d.seek,";
    disk().changed("d.model", from, parameters)
}

fn times(shelf: &MemoryFiles, distances: &[u32]) -> Vec<u64> {
    let mechanics = shelf.mechanics();
    let curve = SeekCurve::new(&mechanics.seek, mechanics.cylinders).unwrap();
    distances.iter().map(|&distance| curve.time(distance).ns()).collect()
}

const THREE: &str = "Single cylinder seek time = 1.0, Average seek time = 4.0, \
                     Full strobe seek time = 8.0,";
const SIX: &str = "HPL seek equation values = [ 50, 1.0, 0.5, 3.0, 0.03, -1.0 ],";
const TEN: &str = "First ten seek times = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ],";

#[test]
fn a_measured_curve_is_points() {
    let expected = Seek::Points(vec![(1, 500_000), (10, 1_500_000), (99, 8_000_000)]);
    assert_eq!(disk().mechanics().seek, expected);
    let untyped = with("Full seek curve = d.seek,");
    assert_eq!(untyped.mechanics().seek, expected, "a curve that is named is meant");
}

#[test]
fn a_constant_time_holds_for_every_distance() {
    let shelf = with("Seek type = constant, Constant seek time = 2.5,");
    assert_eq!(times(&shelf, &[0, 1, 50, 99]), [0, 2_500_000, 2_500_000, 2_500_000]);
}

#[test]
fn three_times_are_joined_by_lines() {
    let shelf = with(&format!("Seek type = linear, {THREE}"));
    assert_eq!(times(&shelf, &[1, 33]), [1_000_000, 4_000_000]);
    assert!(times(&shelf, &[99])[0].abs_diff(8_000_000) < 100_000);
}

#[test]
fn three_times_make_a_curve_that_bends() {
    let shelf = with(&format!("Seek type = curve, {THREE}"));
    let [one, third, full] = times(&shelf, &[1, 34, 99])[..] else { panic!() };
    assert_eq!(one, 1_000_000);
    // By hand: one + 10 sqrt(33/100)/3 + 11 33/300, in ms.
    assert!(third.abs_diff(4_124_854) < 1_000, "{third}");
    // One less than all cylinders: one + 10 sqrt(98/100)/3 + 11 98/300, in ms.
    assert!(full.abs_diff(7_893_165) < 1_000, "{full}");
}

#[test]
fn six_values_are_a_formula() {
    let shelf = with(&format!("Seek type = hpl, {SIX}"));
    assert!(matches!(shelf.mechanics().seek, Seek::Formula { long_from: 50, .. }));
    assert_eq!(times(&shelf, &[1, 4, 50]), [1_500_000, 2_000_000, 4_500_000]);
}

#[test]
fn ten_times_go_before_the_formula() {
    for name in ["hplplus10", "10+hpl"] {
        let shelf = with(&format!("Seek type = {name}, {SIX} {TEN}"));
        let [ten, sixteen, fifty] = times(&shelf, &[10, 16, 50])[..] else { panic!() };
        assert_eq!((ten, fifty), (10_000_000, 4_500_000));
        assert!(sixteen.abs_diff(3_000_000) < 1_000, "{sixteen}");
    }
}

#[test]
fn a_formula_whose_pieces_do_not_meet_is_points() {
    let six = SIX.replace("3.0, 0.03", "2.0, 0.03");
    let shelf = with(&format!("Seek type = hpl, {six}"));
    let [before, at] = times(&shelf, &[49, 50])[..] else { panic!() };
    assert!(before.abs_diff(4_500_000) < 1_000, "{before}");
    assert_eq!(at, 3_500_000);
}

#[test]
fn parameters_of_another_type_are_reported() {
    let shelf = with(&format!("Seek type = hpl, {SIX} {THREE}"));
    let ignored = shelf.imported(&["d.diskspecs"]).report.ignored;
    assert!(ignored.iter().any(|one| one.name == "Average seek time"), "{ignored:?}");
    assert!(!ignored.iter().any(|one| one.name == "HPL seek equation values"), "{ignored:?}");
}

#[test]
fn a_missing_parameter_of_a_type_is_an_error() {
    for (parameters, said) in [
        ("Seek type = linear, Average seek time = 1,", "has no `Single cylinder seek time`"),
        ("Seek type = hpl,", "has no `HPL seek equation values`"),
        ("Seek type = hpl, HPL seek equation values = [ 1, 2 ],", "`HPL seek equation values`"),
        (&format!("Seek type = hplplus10, {SIX} First ten seek times = [ 1 ],"), "`First ten"),
        ("Seek type = teleport,", "cannot be `teleport`"),
        ("Seek type = constant,", "has no `Constant seek time`"),
        ("Average seek time = 1,", "has no `Seek type`"),
    ] {
        let (message, _) = with(parameters).refusal(&["d.diskspecs"]);
        assert!(message.starts_with("d.model: ") && message.contains(said), "{message}");
    }
}

#[test]
fn a_curve_that_would_fall_to_nothing_goes_on_level() {
    let shelf = disk().with("d.seek", "1, 1.0\n10, 9.0\n20, 1.0\n");
    assert_eq!(times(&shelf, &[20, 99]), [1_000_000, 1_000_000]);
    let notes = shelf.imported(&["d.diskspecs"]).report.notes;
    assert!(notes[0].contains("taken as constant"), "{notes:?}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the rule that is found for handwritten rows of tracks.

use crate::geometry::pattern::{Pattern, Rule, Spares, Step, pattern};

/// The largest difference between equal skews, as a share of a turn.
const APART: f64 = 0.002;
/// The time of a sector, as a share of a turn.
const PER_SECTOR: f64 = 0.001;

/// Returns 240 steps. The arguments give the skew and the missing sectors of each, by index.
fn tracks(skew: impl Fn(usize) -> f64, short: impl Fn(usize) -> u64) -> Vec<Step> {
    (0..240).map(|track| Step { skew: skew(track), short: short(track) }).collect()
}

fn found(steps: &[Step]) -> Option<Pattern> {
    pattern(steps, APART, PER_SECTOR)
}

fn is_last(track: usize, of: usize) -> bool {
    (track + 1).is_multiple_of(of)
}

#[test]
fn a_skew_that_comes_once_in_four_shows_four_heads_or_cylinders() {
    let steps = tracks(|track| if is_last(track, 4) { 0.12 } else { 0.1 }, |_| 0);
    let found = found(&steps).expect("a rule");
    assert_eq!((found.rule, found.phase), (Rule::Once { every: 4 }, 0));
    assert!((found.usual - 0.1).abs() < 1e-9 && (found.rare - 0.12).abs() < 1e-9);
}

#[test]
fn heads_that_change_after_each_range_are_by_surface() {
    let is_rare = |track| is_last(track, 5) && !is_last(track, 15);
    let steps = tracks(|track| if is_rare(track) { 0.12 } else { 0.1 }, |_| 0);
    let rule = found(&steps).map(|it| it.rule);
    assert_eq!(rule, Some(Rule::BySurface { surfaces: 3, range: 5 }));
}

#[test]
fn spares_after_three_cylinders_are_no_cylinder() {
    let skew = |track| if is_last(track, 4) { 0.12 } else { 0.1 };
    let steps = tracks(skew, |track| if is_last(track, 12) { 30 } else { 0 });
    let found = found(&steps).expect("a rule");
    assert_eq!(found.rule, Rule::Once { every: 4 });
    let spares = Spares { every: 12, at: 11, sectors: 30, is_front: false };
    assert_eq!(found.spares, Some(spares));
}

/// In the first track of each cylinder, 20 spare sectors precede the data: the step to this track
/// is longer by the time of 20 sectors, and the step from it is shorter.
#[test]
fn spares_before_each_cylinder_are_no_skew() {
    let skew = |track| match track % 4 {
        0 => 0.08,
        3 => 0.14,
        _ => 0.1,
    };
    let steps = tracks(skew, |track| if track % 4 == 0 { 20 } else { 0 });
    let found = found(&steps).expect("a rule");
    let spares = Spares { every: 4, at: 0, sectors: 20, is_front: true };
    assert_eq!((found.rule, found.spares), (Rule::Once { every: 4 }, Some(spares)));
    assert!((found.usual - 0.1).abs() < 1e-9 && (found.rare - 0.12).abs() < 1e-9);
}

#[test]
fn equal_skews_show_nothing() {
    let steps = tracks(|_| 0.1, |_| 0);
    assert_eq!(found(&steps).map(|it| it.rule), Some(Rule::Alike));
}

#[test]
fn skews_without_a_rule_are_refused() {
    let steps = tracks(|track| 0.1 + 0.03 * f64::from(u8::from(track * track % 7 < 3)), |_| 0);
    let irregular = |track: usize| (track * 7_919 % 101) < 40;
    let steps = [steps, tracks(|track| if irregular(track) { 0.2 } else { 0.1 }, |_| 0)];
    assert_eq!(found(&steps[1]), None);
    assert_eq!(found(&steps.concat()), None);
}

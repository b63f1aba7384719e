// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measured interference: what the bounds of a profile imply for any window.

use tidegate_cpu_analysis::{DemandBound, Level, MeasuredDemand, Source, load_test, response};
use tidegate_cpu_model::{CpuProfile, InterferenceBound};
use tidegate_model::{Duration, Random};

/// Returns the profile of a task that steals 2 in every 10, measured at many lengths: p = 10, e =
/// 2.
fn profile(scale: u64) -> CpuProfile {
    let thief = |window: u64| window / 10 * 2 + (window % 10).min(2);
    let intervals: Vec<u64> = (1..=60).collect();
    let list = |of: &dyn Fn(u64) -> u64| {
        let numbers: Vec<String> =
            intervals.iter().map(|it| (of(*it) * scale).to_string()).collect();
        numbers.join(", ")
    };
    let text = format!(
        "name = \"thief\"\n[conditions]\ncpu = 1\npriority = 50\n[stolen]\ninterval_ns = [{}]\n\
         ns_max = [{}]\n[fit.demand]\nutilization_ppb = 200_000_000\noffset_ns = {}\n\
         [fit.load]\nutilization_ppb = 200_000_000\nperiod_ns = {}\n",
        list(&|it| it),
        list(&thief),
        scale * 8 / 5 + 1,
        scale * 10,
    );
    CpuProfile::parse(&text).unwrap()
}

fn bounds(profile: &CpuProfile) -> Vec<MeasuredDemand> {
    let bound = |it: &InterferenceBound| MeasuredDemand::new(profile, *it, Duration::ZERO).unwrap();
    InterferenceBound::ALL.iter().map(bound).collect()
}

/// Both fits and the points cover the stolen time in every window, even in windows longer than the
/// measured ones, and no bound is much larger than the stolen time.
#[test]
fn every_bound_covers_the_stolen_time() {
    for bound in bounds(&profile(10)) {
        let mut before = 0;
        for window in 1..2_000 {
            let thief = window / 100 * 20 + (window % 100).min(20);
            let demand = bound.demand_ns(window).unwrap();
            assert!(demand >= thief && demand <= thief + 22, "{bound:?} {window} {demand}");
            assert!(demand >= before, "{bound:?} {window}");
            before = demand;
        }
    }
}

/// Between two measured lengths, a line through the points can be below the stolen time. A profile
/// with such a line is refused, and an accepted line is above the stolen time in every window.
#[test]
fn lines_hold_between_the_measured_lengths() {
    let text = |offset_ns: u64, period_ns: u64| {
        format!(
            "name = \"coarse\"\n[conditions]\ncpu = 1\n[stolen]\n\
             interval_ns = [700, 1400, 2100, 2800, 3500]\nns_max = [200, 400, 500, 600, 800]\n\
             [fit.demand]\nutilization_ppb = 200_000_000\noffset_ns = {offset_ns}\n\
             [fit.load]\nutilization_ppb = 228_571_429\nperiod_ns = {period_ns}\n"
        )
    };
    // These lines are above the points, but below the 400 that can be stolen in 900.
    for (offset_ns, period_ns) in [(120, 2_000), (219, 2_000), (220, 600)] {
        let error = CpuProfile::parse(&text(offset_ns, period_ns)).unwrap_err();
        assert!(error.message.contains("between the measured intervals"), "{error:?}");
    }
    let profile = CpuProfile::parse(&text(220, 2_000)).unwrap();
    for bound in [InterferenceBound::Points, InterferenceBound::Demand, InterferenceBound::Load] {
        let measured = MeasuredDemand::new(&profile, bound, Duration::ZERO).unwrap();
        for window in 1..=3_500 {
            let thief = window / 1_000 * 200 + (window % 1_000).min(200);
            assert!(measured.demand_ns(window).unwrap() >= thief, "{bound:?} {window}");
        }
    }
}

/// Stolen time delays tasks at least as much as a task of the highest priority would.
#[test]
fn interference_is_at_least_the_task_that_was_measured() {
    let mut random = Random::new(9, 1);
    let profile = profile(100);
    let mut exact = 0;
    for _ in 0..2_000 {
        let own = Source::new(
            Duration::from_ns(1 + random.below(2_000)),
            Duration::from_ns(4_000 + random.below(9_000)),
        );
        let other = Source::new(
            Duration::from_ns(1 + random.below(900)),
            Duration::from_ns(2_000 + random.below(4_000)),
        );
        let mut with_thief = Level::new(&[]);
        with_thief.add(Source::new(Duration::from_ns(200), Duration::from_ns(1_000)), 1);
        with_thief.add(other, 1);
        let Some(true_response) = response(&with_thief, &own).bound() else { continue };
        for bound in bounds(&profile) {
            let measured = [bound];
            let mut level = Level::new(&measured);
            level.add(other, 1);
            let Some(bounded) = response(&level, &own).bound() else { continue };
            assert!(bounded >= true_response, "{measured:?} {own:?} {other:?}");
            exact += usize::from(bounded == true_response);
        }
    }
    assert!(exact > 50, "{exact}");
}

/// The load test with measured interference: the exact analysis accepts every set that the load
/// test accepts, with each bound of the profile, and a margin only makes the test stricter.
#[test]
fn loads_with_interference_are_sufficient() {
    let mut random = Random::new(14, 1);
    let profile = profile(100);
    let (mut accepted, mut taken_away) = (0, 0);
    for _ in 0..3_000 {
        let deadline = Duration::from_ns(2_000 + random.below(9_000));
        let own = Source::new(Duration::from_ns(1 + random.below(deadline.ns())), deadline);
        let other = Source::new(
            Duration::from_ns(1 + random.below(900)),
            Duration::from_ns(2_000 + random.below(4_000)),
        );
        for kind in InterferenceBound::ALL {
            let is_met = |margin, bound| {
                let measured =
                    [MeasuredDemand::new(&profile, kind, Duration::from_ns(margin)).unwrap()];
                let mut level = Level::new(&measured);
                level.add(other, 1);
                let is_met = load_test(&level, &own, deadline, bound).unwrap().is_met();
                let response = response(&level, &own).bound();
                assert!(!is_met || response.is_some_and(|it| it <= deadline), "{own:?} {other:?}");
                is_met
            };
            for bound in DemandBound::ALL {
                let (before, after) = (is_met(0, bound), is_met(300, bound));
                assert!(before || !after);
                accepted += u32::from(after);
                taken_away += u32::from(before && !after);
            }
        }
    }
    assert!(accepted > 1_000 && taken_away > 100, "{accepted} {taken_away}");
}

/// The margin is stolen time that each measured length can contain in addition, so each part of a
/// longer window includes it. Otherwise a task that steals 2 in every 10, half of which was
/// measured, would exceed the bound.
#[test]
fn a_margin_is_in_every_part_of_a_longer_window() {
    let profile = profile(100);
    let with = |margin| MeasuredDemand::new(&profile, InterferenceBound::Points, margin).unwrap();
    let (measured, raised) = (with(Duration::ZERO), with(Duration::from_ns(7)));
    let longest = measured.longest().ns();
    let more = |window| raised.demand_ns(window).unwrap() - measured.demand_ns(window).unwrap();
    let expected = [(longest, 7), (longest + 500, 14), (2 * longest, 14), (5 * longest - 1, 35)];
    for (window, margin) in expected {
        assert_eq!(more(window), margin, "{window}");
    }
    let per_whole = |demand: &MeasuredDemand| demand.utilization().ppm_of(1).unwrap();
    assert!(per_whole(&raised) > per_whole(&measured));
}

/// A service with a lower priority than a task was measured while it was served immediately. If it
/// is served later, it executes more in some windows than the profile shows, but not in windows
/// that start at a critical instant.
#[test]
fn profile_holds_from_the_critical_instant() {
    use super::generate::Ticks;
    use super::tick::{Order, periodic, run, window_max};
    let above = Ticks { execution: 8, period: 20, deadline: 20 };
    let service = Ticks { execution: 2, period: 10, deadline: 20 };
    let tasks = [above, service];
    let seen = run(&tasks, &periodic(&tasks, &[0, 0], 60), Order::Listed, 60);
    let profile = profile(1);
    let points = MeasuredDemand::new(&profile, InterferenceBound::Points, Duration::ZERO).unwrap();
    assert_eq!((window_max(&seen, 1, 4), points.demand_ns(4)), (4, Some(2)));
    for window in 1..60_u64 {
        let ticks = &seen.ran[..usize::try_from(window).unwrap()];
        let executed = ticks.iter().filter(|it| **it == Some(1)).count();
        assert!(executed as u64 <= points.demand_ns(window).unwrap());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the analysis with the figures of chapter 5, and with published examples of response
//! times.

use tidegate_cpu_analysis::{DemandBound, Level, Ratio, Source, load_test, response};
use tidegate_model::Duration;
use tidegate_model::Verdict;

const NS: fn(u64) -> Duration = Duration::from_ns;

fn demand(source: &Source, bound: DemandBound, window: u64) -> Ratio {
    source.demand(bound, NS(window)).unwrap()
}

/// Figures 5.4 and 5.5: p = d = 7, e = 2. (The caption of figure 5.6 says e = d = 2, but it draws
/// the same task.) In a window of 8, 5.3.0.4 gives 4 and 5.3.0.5 gives 3.
#[test]
fn demand_bounds_of_figure_5_5() {
    let task = Source::new(NS(2), NS(7));
    let rows = [
        // The columns are window, ceil, refined, and linear in sevenths: 2 (D + 5), at most 7 D.
        (1, 2, 1, 7),
        (2, 2, 2, 14),
        (3, 2, 2, 16),
        (7, 2, 2, 24),
        (8, 4, 3, 26),
        (9, 4, 4, 28),
        (14, 4, 4, 38),
        (15, 6, 5, 40),
        (16, 6, 6, 42),
        (23, 8, 8, 56),
    ];
    for (window, ceil, refined, sevenths) in rows {
        assert_eq!(demand(&task, DemandBound::Ceil, window), Ratio::whole(ceil), "{window}");
        assert_eq!(demand(&task, DemandBound::Refined, window), Ratio::whole(refined), "{window}");
        assert_eq!(demand(&task, DemandBound::Linear, window), Ratio::new(sevenths, 7), "{window}");
    }
}

/// Figure 5.6: the demand is the whole window up to D = e; at D = j p + e the three bounds are
/// equal.
#[test]
fn load_bounds_of_figure_5_6() {
    let task = Source::new(NS(2), NS(7));
    for window in 1..=2 {
        let load = demand(&task, DemandBound::Linear, window).ppm_of(window);
        assert_eq!(load, Some(1_000_000));
    }
    for j in 0..200 {
        let corner = j * 7 + 2;
        let [ceil, refined, linear] = DemandBound::ALL.map(|bound| demand(&task, bound, corner));
        assert_eq!((ceil, refined), (linear, linear), "{corner}");
    }
    // The load converges to u = 2/7.
    assert_eq!(
        demand(&task, DemandBound::Linear, 7_000_000_000).ppm_of(7_000_000_000),
        Some(285_715)
    );
}

/// The refined bound exceeds neither of the other bounds, for any jitter.
#[test]
fn refined_is_never_above_the_others() {
    for (execution, period) in [(1, 3), (2, 7), (4, 10), (7, 7)] {
        for jitter in [0, 1, 5, 12] {
            let task = Source { jitter: NS(jitter), ..Source::new(NS(execution), NS(period)) };
            for window in 0..60 {
                let [ceil, refined, linear] = DemandBound::ALL.map(|it| demand(&task, it, window));
                let refined = refined.ceil().unwrap();
                assert!(refined <= ceil.ceil().unwrap() && refined <= linear.ceil().unwrap());
                assert!(!linear.add_ceil(Ratio::new(1, 1 << 60)).unwrap().is_at_most(refined));
            }
        }
    }
}

/// Figure 5.18: two tasks with period and deadline 10, the first with e = 2. The second can execute
/// for 8 by 5.3.0.8 and for 6.4 by 5.3.0.9.
#[test]
fn loads_of_figure_5_18() {
    let mut level = Level::new(&[]);
    level.add(Source::new(NS(20), NS(100)), 1);
    let is_met = |execution, bound| {
        let own = Source::new(NS(execution), NS(100));
        load_test(&level, &own, NS(100), bound).unwrap().is_met()
    };
    for bound in [DemandBound::Ceil, DemandBound::Refined] {
        assert!(is_met(80, bound) && !is_met(81, bound));
    }
    assert!(is_met(64, DemandBound::Linear) && !is_met(65, DemandBound::Linear));
}

fn responses(tasks: &[(u64, u64)]) -> Vec<Verdict> {
    let mut level = Level::new(&[]);
    let mut responses = Vec::new();
    for &(execution, period) in tasks {
        let own = Source::new(NS(execution), NS(period));
        responses.push(response(&level, &own));
        level.add(own, 1);
    }
    responses
}

/// J. Lehoczky, RTSS 1990, example 2: the first job of the second task is not its slowest.
#[test]
fn deadlines_beyond_periods_of_lehoczky() {
    let bounded = |ns: u64| Verdict::Bounded(NS(ns));
    assert_eq!(responses(&[(52, 100), (52, 140)]), [bounded(52), bounded(156)]);
    assert_eq!(responses(&[(1, 4), (1, 5), (3, 9), (3, 18)]), [1, 2, 7, 18].map(bounded));
    assert_eq!(
        responses(&[(2, 4), (3, 5)])[1],
        Verdict::NoBoundWithin { horizon: Duration::MAX },
        "1.1 of a processor"
    );
}

/// The load test does not apply to deadlines beyond periods, because it considers one job.
#[test]
fn loads_do_not_apply_beyond_the_period() {
    let own = Source::new(NS(52), NS(140));
    let mut level = Level::new(&[]);
    level.add(Source::new(NS(52), NS(100)), 1);
    assert_eq!(load_test(&level, &own, NS(141), DemandBound::Ceil), None);
}

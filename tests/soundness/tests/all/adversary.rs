// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No bound of `analysis` is below the true worst case of a small system, and the bounds that are
//! proved exact are exact. The tightness of the others is printed, not asserted.

use tidegate_analysis::fifo::BestEffortAhead;
use tidegate_analysis::{
    Inapplicable, System, Verdict, dqf, edf as edf_bound, edf_in_windows, fifo,
};
use tidegate_model::Duration;
use tidegate_soundness::adversary::{self, WorstCase};
use tidegate_soundness::attack::{Attack, responds_within_periods};
use tidegate_soundness::forged;
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::{self, Bound};
use tidegate_soundness::small::Rules;
use tidegate_soundness::{SmallSystem, edf, shared_fifo};
use tidegate_verify::verify;

const SEED: u64 = 20_261_121;

const DQF_BOUNDS: [(&str, Bound); 4] = [
    ("tight", dqf::tight),
    ("busy_interval", dqf::busy_interval),
    ("linear", dqf::linear),
    ("min_period", dqf::min_period),
];

/// The bounds of chapter 9, and Theorems 1 and 2.
const DQF: Attack<'_> = Attack {
    what: "dqf",
    seed: SEED,
    draws: 8_000,
    draw: |random, _| vec![generate::system(random, Size::SMALL)],
    search: adversary::worst_case,
    rules: Rules::LIMIT,
    bounds: &DQF_BOUNDS,
    is_compared: |_| true,
    is_exact: is_short_and_one_batch,
};

fn is_one_batch(system: &SmallSystem) -> bool {
    system.requests_sum() <= system.batch_max
}

fn is_short_and_one_batch(system: &SmallSystem, truth: &WorstCase) -> bool {
    is_one_batch(system) && responds_within_periods(system, truth)
}

/// Theorem 2: exact for z >= E, and for z = E - 1 with jobs of one request.
fn is_exact_by_theorem_2(system: &SmallSystem, truth: &WorstCase) -> bool {
    let is_single = system.tasks.iter().all(|task| task.requests == 1);
    let is_nearly_one_batch = is_single && system.requests_sum() == system.batch_max + 1;
    (is_one_batch(system) || is_nearly_one_batch) && responds_within_periods(system, truth)
}

#[test]
fn no_bound_is_below_the_true_worst_case() {
    let report = Attack { is_exact: is_exact_by_theorem_2, ..DQF }.run();
    assert!(report.searched >= 2_000, "too few systems were searched");
}

/// Tests the bounds where responses are as long as the periods, or one tick shorter or longer:
/// there a task can have two pending jobs instead of one.
#[test]
fn no_bound_is_below_the_true_worst_case_at_the_edge() {
    Attack {
        what: "dqf at the edge",
        seed: SEED + 6,
        draws: 10_000,
        draw: |random, number| {
            let system = generate::system(random, Size::SMALL);
            let fill = [0, system.batch_max.div_ceil(2)][usize::from(number % 4 == 3)];
            harness::at_the_edge(dqf::tight, &system.with_best_effort_fill(fill))
        },
        is_compared: is_one_batch,
        ..DQF
    }
    .run();
}

/// "Each job has no more than e_i requests" (9.2.2): smaller jobs break no bound.
#[test]
fn no_bound_is_below_the_worst_case_of_smaller_jobs() {
    Attack {
        what: "dqf, jobs of up to e requests",
        seed: SEED + 1,
        draws: 4_000,
        rules: Rules::LIMIT_SMALLER_JOBS,
        is_compared: |_| false,
        ..DQF
    }
    .run();
}

/// Theorem 3: best effort fills the batches, with three values of beta for each system.
#[test]
fn no_bound_is_below_the_true_worst_case_with_best_effort() {
    Attack {
        what: "dqf with best effort",
        seed: SEED + 2,
        draws: 2_000,
        draw: |random, _| {
            let system = generate::system(random, Size::SMALL);
            let z = system.batch_max;
            let mut fills = vec![1, z.div_ceil(2), z];
            fills.dedup();
            fills.into_iter().map(|fill| system.clone().with_best_effort_fill(fill)).collect()
        },
        ..DQF
    }
    .run();
}

/// Tests the service of one request at a time in release order.
#[test]
fn one_at_a_time_fifo_is_exact() {
    Attack {
        what: "fifo",
        seed: SEED + 3,
        draws: 2_000,
        draw: |random, _| vec![generate::system(random, Size::SMALL).with_batch_max(1)],
        bounds: &[("fifo", fifo::responses)],
        is_exact: |_, _| true,
        ..DQF
    }
    .run();
}

/// Tests the service of one request at a time, with best effort that circulates in the same queue.
#[test]
fn no_fifo_bound_is_below_the_true_worst_case_with_best_effort() {
    let with_one = Attack {
        what: "fifo with one of best effort",
        seed: SEED + 5,
        draws: 400,
        draw: |random, _| {
            let size = Size { period_max: 6, ..Size::SMALLEST };
            let system = generate::system(random, size).with_batch_max(1);
            // Best effort takes all remaining time, so at full load the backlog has no bound.
            if system.load().is_eq() { vec![] } else { vec![system] }
        },
        search: |system, rules| shared_fifo::worst_case(system, 1, rules),
        bounds: &[("fifo + 1", |system| fifo_with_best_effort(system, 1))],
        is_exact: |_, _| false,
        ..DQF
    };
    with_one.run();
    Attack {
        what: "fifo with two of best effort",
        search: |system, rules| shared_fifo::worst_case(system, 2, rules),
        bounds: &[("fifo + 2", |system| fifo_with_best_effort(system, 2))],
        ..with_one
    }
    .run();
}

fn fifo_with_best_effort(system: &System, outstanding: u64) -> Result<Vec<Verdict>, Inapplicable> {
    let ahead = BestEffortAhead { outstanding, open_loops: Vec::new() };
    fifo::responses_with_best_effort(system, &ahead)
}

/// Tests the service of one request at a time by deadline, with deadlines shorter and longer than
/// the periods.
#[test]
fn no_edf_bound_is_below_the_true_worst_case() {
    Attack {
        what: "edf",
        seed: SEED + 4,
        draws: 1_000,
        draw: |random, _| {
            let size = Size { requests_max: 2, step_max: 2, ..Size::SMALLER };
            let system = generate::system(random, size).with_batch_max(1);
            vec![generate::with_random_deadlines(random, system)]
        },
        search: edf::worst_case,
        bounds: &[("edf", edf_bound::responses)],
        is_exact: |_, _| false,
        ..DQF
    }
    .run();
}

/// Tests EDF where all deadlines in one window count as equal; windows are as wide as b(1).
#[test]
fn no_bound_of_edf_in_windows_is_below_the_true_worst_case() {
    Attack {
        what: "edf in windows",
        seed: SEED + 8,
        draws: 1_500,
        draw: |random, _| {
            let size = Size { requests_max: 2, step_max: 2, ..Size::SMALLER };
            let system = generate::system(random, size).with_batch_max(1);
            vec![generate::with_random_deadlines(random, system)]
        },
        search: edf::worst_case_in_windows_of_a_request,
        bounds: &[("edf in windows", |system| {
            edf_in_windows::responses(system, system.table.time_max(1), false)
        })],
        is_exact: |_, _| false,
        ..DQF
    }
    .run();
}

/// Goal: whatever a certificate claims, `verify` accepts only bounds that hold. Method:
/// certificates with random claims near the true worst case, many of them below it.
#[test]
fn no_accepted_certificate_is_below_the_true_worst_case() {
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..600 {
        let random = &mut generate::generator(SEED + 7, number);
        let system = generate::system(random, Size::SMALL);
        let fill = [0, system.batch_max.div_ceil(2)][usize::from(number % 3 == 2)];
        let system = system.with_best_effort_fill(fill);
        let Some(truth) = adversary::worst_case(&system, Rules::LIMIT).if_whole() else { continue };
        let steps = dqf::backlog_steps(&system.to_analysis(Duration::from_ns(1)));
        for _ in 0..100 {
            let forged =
                forged::certificate(random, &system, &truth, steps.as_deref().unwrap_or(&[]));
            let stated = forged.tasks.iter().map(|task| task.response_ns_max);
            let is_true = stated.zip(&truth).all(|(stated, &longest)| stated >= longest.into());
            let is_accepted = verify(&forged).is_ok();
            assert!(is_true || !is_accepted, "{truth:?} of {system} is above {forged:?}");
            accepted += u32::from(is_accepted);
            refused += u32::from(!is_true);
        }
    }
    println!("{accepted} accepted, all true; {refused} were false");
    assert!(accepted > 2_000 && refused > 10_000, "{accepted} accepted, {refused} refused");
}

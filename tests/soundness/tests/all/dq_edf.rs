// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No bound by deadline is below the true worst case of a small system: one request at a time and
//! in batches, with best effort and without, equal deadlines in any order. Except for exact bounds,
//! the tightness is printed, not asserted. The same search over the same systems catches bounds
//! that omit a cause of delay.

use rand_pcg::Pcg64;
use tidegate_analysis::{
    Inapplicable, System, Verdict, dq_edf as dq_edf_bound, dqf, edf as edf_bound,
};
use tidegate_soundness::attack::{Attack, assert_agree, assert_caught};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::{self, Bound};
use tidegate_soundness::small::Rules;
use tidegate_soundness::{SmallSystem, adversary, dq_edf, edf, optimistic};

const SEED: u64 = 20_261_221;

/// Small enough to hold the deadlines of all queued requests.
const SIZE: Size =
    Size { tasks_max: 4, requests_max: 2, batch_max: 3, period_max: 12, step_max: 3 };

fn system(random: &mut Pcg64, size: Size) -> SmallSystem {
    let system = generate::system(random, size);
    generate::with_random_deadlines(random, system)
}

/// Returns a system; every third one has best effort in its batches, with different fills.
fn any_system(random: &mut Pcg64, number: u64) -> SmallSystem {
    let system = system(random, SIZE);
    let fill = 1 + u32::try_from(number / 3 % 3).expect("small");
    let fill = if number.is_multiple_of(3) { fill.min(system.batch_max) } else { 0 };
    system.with_best_effort_fill(fill)
}

fn one_at_a_time(random: &mut Pcg64, fill: u32) -> SmallSystem {
    system(random, Size { batch_max: 1, ..SIZE }).with_best_effort_fill(fill)
}

/// Dual-queue EDF: deadlines from a third of the period to twice the period.
const DQ_EDF: Attack<'_> = Attack {
    what: "dq-edf",
    seed: SEED,
    draws: 3_000,
    draw: |random, number| vec![any_system(random, number)],
    search: dq_edf::worst_case,
    rules: Rules::LIMIT,
    bounds: &[("dq-edf", dq_edf_bound::tight)],
    is_compared: |_| true,
    is_exact: |_, _| false,
};

#[test]
fn no_bound_of_dual_queue_edf_is_below_the_true_worst_case() {
    let report = DQ_EDF.run();
    assert!(report.searched >= 2_000, "too few systems were searched");
}

/// Tests periods at the bound or one tick off: there a task can have two pending jobs instead of
/// one, and less is known about the carry-in.
#[test]
fn no_bound_of_dual_queue_edf_is_below_the_true_worst_case_at_the_edge() {
    Attack {
        what: "dq-edf at the edge",
        draws: 1_500,
        draw: |random, number| {
            harness::at_the_edge(dq_edf_bound::tight, &any_system(random, number))
        },
        is_compared: |_| false,
        ..DQ_EDF
    }
    .run();
}

/// "Each job has no more than e_i requests" (9.2.2): smaller jobs break no bound.
#[test]
fn no_bound_of_dual_queue_edf_is_below_the_worst_case_of_smaller_jobs() {
    Attack {
        what: "dq-edf, jobs of up to e requests",
        draws: 600,
        rules: Rules::LIMIT_SMALLER_JOBS,
        is_compared: |_| false,
        ..DQ_EDF
    }
    .run();
}

/// Tests one request at a time, without best effort and with endless best effort.
#[test]
fn one_at_a_time_edf_is_exact() {
    let alone = Attack {
        what: "edf",
        draws: 1_200,
        draw: |random, _| vec![one_at_a_time(random, 0)],
        bounds: &[("edf", edf_bound::responses), ("dq-edf", dq_edf_bound::tight)],
        ..DQ_EDF
    };
    let shared = Attack {
        what: "edf with best effort",
        draw: |random, _| vec![one_at_a_time(random, 1)],
        bounds: &[("edf", edf_bound::responses_with_best_effort), ("dq-edf", dq_edf_bound::tight)],
        ..alone
    };
    for attack in [alone, shared] {
        for row in attack.run().rows.iter().filter(|row| row.bound == "edf") {
            assert_eq!(row.ratios.exact(), row.ratios.bounded(), "{row:?}");
        }
    }
}

fn drawn(draws: u64) -> impl Iterator<Item = (u64, Pcg64)> {
    (0..draws).map(|number| (number, generate::generator(SEED, number)))
}

fn any_systems(draws: u64) -> impl Iterator<Item = SmallSystem> {
    drawn(draws).map(|(number, mut random)| any_system(&mut random, number))
}

/// Two searches that share only the rule: one keeps jobs by age and the request in flight, the
/// other keeps queued jobs and leaves out dominated states.
#[test]
fn both_searches_of_edf_agree() {
    let size = Size { requests_max: 2, step_max: 2, batch_max: 1, ..Size::SMALLER };
    let systems = drawn(300).flat_map(|(_, mut random)| {
        let system = system(&mut random, size);
        [Rules::REAL, Rules::LIMIT].map(|rules| (system.clone(), rules))
    });
    let plain = |system: &SmallSystem, rules| edf::worst_case(system, rules).if_whole();
    let short = |system: &SmallSystem, rules| dq_edf::worst_case(system, rules).if_whole();
    assert_agree(systems, plain, short, 301);
}

/// With one deadline for all, dual-queue EDF is dual-queue FIFO: jobs of one instant tie in both,
/// and the adversary orders them. Jobs have one request each, because under EDF a job of several
/// requests may be split among jobs with the same deadline.
#[test]
fn one_deadline_for_all_is_dual_queue_fifo() {
    let systems = any_systems(600).map(|system| {
        let deadlines = vec![9; system.tasks.len()];
        (system.with_deadlines(&deadlines), Rules::REAL)
    });
    let single = systems.filter(|(system, _)| system.tasks.iter().all(|task| task.requests == 1));
    let by_due = |system: &SmallSystem, rules| dq_edf::worst_case(system, rules).if_whole();
    let by_release = |system: &SmallSystem, rules| adversary::worst_case(system, rules).if_whole();
    assert_agree(single, by_due, by_release, 101);
}

/// Four requests are released by the instant at which the batch of three is sent, one of them at
/// that very instant: it is sent first, so a bound for release order does not hold here.
#[test]
fn the_busy_interval_of_release_order_is_no_bound_by_deadline() {
    let system = tidegate_soundness::small(&[(1, 6), (1, 2), (1, 4)], &[2, 2, 2], 3)
        .with_best_effort_fill(3)
        .with_deadlines(&[2, 1, 3]);
    let truth = dq_edf::worst_case(&system, Rules::REAL);
    assert_eq!(truth.responses[0], 5);
    let promises = harness::promises_by_tick(dqf::busy_interval, &system);
    assert_eq!(promises[0][0], Some(4));
    assert!(harness::violation(&promises, &system, &truth.responses).is_some());
}

/// Canaries: each bound omits a cause of delay. A bound for FIFO does not hold by deadline, even if
/// all requests fit into a batch.
#[test]
fn bounds_by_deadline_that_omit_a_cause_of_delay_are_caught() {
    let canaries: [(&str, Bound); 4] = [
        ("no carry-in", optimistic::dq_edf_without_carry_in),
        ("released together", optimistic::dq_edf_released_together),
        ("the bound of FIFO", dqf::tight),
        ("the bound of FIFO with z >= E", fifo_where_all_fit),
    ];
    for (name, bound) in canaries {
        assert_caught(name, bound, any_systems(3_000), dq_edf::worst_case);
    }
    let systems = drawn(3_000).map(|(_, mut random)| one_at_a_time(&mut random, 1));
    assert_caught("EDF alone", edf_bound::responses, systems, dq_edf::worst_case);
}

fn fifo_where_all_fit(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    if system.requests_sum() <= u64::from(system.batch_max) {
        return dqf::tight(system);
    }
    Err(Inapplicable::Overload { batch_max: system.batch_max })
}

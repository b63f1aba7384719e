// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No bound by deadline is below the true worst case of a small system: one request at a time and
//! in batches, with best effort and without, equal deadlines in any order. Except for exact bounds,
//! the tightness is printed, not asserted.
//!
//! Safety is checked against the limit of batches that take no time; exactness and tightness
//! against batches of at least one tick, which are possible. The same search over the same systems
//! catches bounds that omit a cause of delay.

use tidegate_analysis::{
    Inapplicable, System, Verdict, dq_edf as dq_edf_bound, dqf, edf as edf_bound,
};
use tidegate_soundness::adversary::{self, Extent, WorstCase};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::{self, Bound, TICKS};
use tidegate_soundness::ratio::Ratios;
use tidegate_soundness::small::Rules;
use tidegate_soundness::{SmallSystem, dq_edf, edf, optimistic};

const SEED: u64 = 20_261_221;

/// Small enough to hold the deadlines of all queued requests.
const SIZE: Size =
    Size { tasks_max: 4, requests_max: 2, batch_max: 3, period_max: 12, step_max: 3 };

const BOUNDS: [(&str, Bound); 1] = [("tight", dq_edf_bound::tight)];

fn system(number: u64, size: Size) -> SmallSystem {
    let random = &mut generate::generator(SEED, number);
    let system = generate::system(random, size);
    generate::with_random_deadlines(random, system)
}

/// Returns a system; every third one has best effort in its batches, with different fills.
fn any_system(number: u64) -> SmallSystem {
    let system = system(number, SIZE);
    let fill = 1 + u32::try_from(number / 3 % 3).expect("small");
    let fill = if number.is_multiple_of(3) { fill.min(system.batch_max) } else { 0 };
    system.with_best_effort_fill(fill)
}

/// Asserts that no bound is below the responses found, whether or not the search was complete.
fn assert_safe(bounds: &[(&str, Bound)], system: &SmallSystem, found: &WorstCase, number: u64) {
    for (name, bound) in bounds {
        if let Some(violation) = harness::violation(*bound, system, &found.responses) {
            panic!("`{name}` is not a bound (seed {SEED}, number {number}): {violation}");
        }
    }
}

/// Ratios of bound to truth, by kind of system.
#[derive(Default)]
struct Tally {
    searched: usize,
    too_large: usize,
    states: usize,
    unbounded: usize,
    rows: Vec<(&'static str, usize, Ratios)>,
}

impl Tally {
    /// Records a search; returns whether it was complete.
    fn note(&mut self, found: &WorstCase) -> bool {
        self.states += found.states;
        match found.extent {
            Extent::Whole => self.searched += 1,
            Extent::TooManyStates => self.too_large += 1,
            Extent::BacklogUnbounded => self.unbounded += 1,
        }
        found.extent == Extent::Whole
    }

    fn record(&mut self, row: &'static str, bound: Bound, system: &SmallSystem, truth: &WorstCase) {
        let index = self.rows.iter().position(|&(name, ..)| name == row).unwrap_or_else(|| {
            self.rows.push((row, 0, Ratios::default()));
            self.rows.len() - 1
        });
        let (_, systems, ratios) = &mut self.rows[index];
        *systems += 1;
        let promises = harness::promises(bound, system, TICKS[1]);
        for (promise, &response) in promises.into_iter().zip(&truth.responses) {
            ratios.record(promise, u64::from(response) * TICKS[1].ns());
        }
    }

    fn close(&self, what: &str) {
        let Self { searched, too_large, states, unbounded, .. } = self;
        println!(
            "{what}: {searched} systems searched, {unbounded} with unbounded backlog, \
             {too_large} too large, {states} states"
        );
        println!("{}", Ratios::heading());
        for (name, systems, ratios) in &self.rows {
            println!("| {name} ({systems} systems) | {what} | {ratios}");
        }
        assert!(*too_large * 20 <= *searched, "more than 5 % of the systems were not searched");
    }
}

fn responds_within_periods(system: &SmallSystem, truth: &WorstCase) -> bool {
    truth.responses.iter().zip(&system.tasks).all(|(&response, task)| response < task.period)
}

/// Dual-queue EDF: deadlines from a third of the period to twice the period.
#[test]
fn no_bound_of_dual_queue_edf_is_below_the_true_worst_case() {
    let mut tally = Tally::default();
    for number in 0..3_000 {
        let system = any_system(number);
        let limit = dq_edf::worst_case(&system, Rules::LIMIT);
        assert_safe(&BOUNDS, &system, &limit, number);
        if !tally.note(&limit) {
            continue;
        }
        let truth = dq_edf::worst_case(&system, Rules::REAL);
        let is_short = responds_within_periods(&system, &truth);
        let row = match (is_short, system.requests_sum() <= system.batch_max) {
            (true, true) => "R < p, E <= z",
            (true, false) => "R < p, E > z",
            (false, _) => "R >= p",
        };
        tally.record(row, dq_edf_bound::tight, &system, &truth);
        tally.record("all", dq_edf_bound::tight, &system, &truth);
    }
    tally.close("dq-edf");
    assert!(tally.searched >= 2_000, "too few systems were searched");
}

/// Periods at the bound or one tick off: there one pending job of a task becomes two, and the
/// knowledge of the carry-in changes.
#[test]
fn no_bound_of_dual_queue_edf_is_below_the_true_worst_case_at_the_edge() {
    let mut tally = Tally::default();
    for number in 0..1_500 {
        let system = any_system(number);
        for margin in [-1, 0, 1] {
            let system = harness::with_periods_near(dq_edf_bound::tight, system.clone(), margin);
            let limit = dq_edf::worst_case(&system, Rules::LIMIT);
            assert_safe(&BOUNDS, &system, &limit, number);
            tally.note(&limit);
        }
    }
    tally.close("dq-edf at the edge");
}

/// "Each job has no more than e_i requests" (9.2.2): smaller jobs break no bound.
#[test]
fn no_bound_of_dual_queue_edf_is_below_the_worst_case_of_smaller_jobs() {
    let mut tally = Tally::default();
    for number in 0..600 {
        let system = any_system(number);
        let limit = dq_edf::worst_case(&system, Rules::LIMIT_SMALLER_JOBS);
        assert_safe(&BOUNDS, &system, &limit, number);
        tally.note(&limit);
    }
    tally.close("dq-edf, jobs of up to e requests");
}

/// One at a time; without best effort, and with endless best effort.
#[test]
fn one_at_a_time_edf_is_exact() {
    for (fill, bound, what) in [
        (0, edf_bound::responses as Bound, "edf"),
        (1, edf_bound::responses_with_best_effort as Bound, "edf with best effort"),
    ] {
        let mut tally = Tally::default();
        for number in 0..1_200 {
            let system = system(number, Size { batch_max: 1, ..SIZE });
            let system = system.with_best_effort_fill(fill);
            let limit = dq_edf::worst_case(&system, Rules::LIMIT);
            assert_safe(&[(what, bound), ("dq-edf", dq_edf_bound::tight)], &system, &limit, number);
            if !tally.note(&limit) {
                continue;
            }
            let truth = dq_edf::worst_case(&system, Rules::REAL);
            let is_single = system.tasks.iter().all(|task| task.requests == 1);
            let row = if is_single { "jobs of one request" } else { "jobs of several" };
            tally.record(row, bound, &system, &truth);
            tally.record("as dq-edf with z = 1", dq_edf_bound::tight, &system, &truth);
        }
        tally.close(what);
        for (row, _, ratios) in &tally.rows[..] {
            assert!(row.starts_with("as dq-edf") || ratios.exact() == ratios.bounded(), "{row}");
        }
    }
}

/// Two searches that share only the rule: one keeps jobs by age and the request in flight, the
/// other keeps queued jobs and leaves out dominated states.
#[test]
fn both_searches_of_edf_agree() {
    let mut compared = 0;
    let size = Size { requests_max: 2, step_max: 2, batch_max: 1, ..Size::SMALLER };
    for number in 0..300 {
        let system = system(number, size);
        for rules in [Rules::REAL, Rules::LIMIT] {
            let (plain, short) =
                (edf::worst_case(&system, rules), dq_edf::worst_case(&system, rules));
            if (plain.extent, short.extent) == (Extent::Whole, Extent::Whole) {
                assert_eq!(plain.responses, short.responses, "number {number}, {system}");
                compared += 1;
            }
        }
    }
    println!("{compared} searches agree");
    assert!(compared > 300, "only {compared} searches were small enough to compare");
}

/// With one deadline for all, dual-queue EDF is dual-queue FIFO: jobs of one instant tie in both,
/// and the adversary orders them.
#[test]
fn one_deadline_for_all_is_dual_queue_fifo() {
    let mut compared = 0;
    for number in 0..600 {
        let system = any_system(number);
        let system = system.clone().with_deadlines(&vec![9; system.tasks.len()]);
        let by_due = dq_edf::worst_case(&system, Rules::REAL);
        let by_release = adversary::worst_case(&system, Rules::REAL);
        if (by_due.extent, by_release.extent) == (Extent::Whole, Extent::Whole) {
            // Under EDF a job of several requests may be split among jobs with the same deadline.
            if system.tasks.iter().all(|task| task.requests == 1) {
                assert_eq!(by_due.responses, by_release.responses, "number {number}, {system}");
                compared += 1;
            }
        }
    }
    println!("{compared} systems agree");
    assert!(compared > 100, "only {compared} systems could be compared");
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
    assert_eq!(harness::promises(dqf::busy_interval, &system, TICKS[0])[0], Some(4));
    assert!(harness::violation(dqf::busy_interval, &system, &truth.responses).is_some());
}

/// Asserts that some system's true worst case exceeds the bound.
fn assert_caught(name: &str, bound: Bound, system: impl Fn(u64) -> SmallSystem) {
    let violation = (0..3_000).find_map(|number| {
        let system = system(number);
        let truth = dq_edf::worst_case(&system, Rules::REAL);
        let violation = harness::violation(bound, &system, &truth.responses)?;
        Some((number, violation))
    });
    let Some((number, violation)) = violation else {
        panic!("`{name}` survived: the harness is broken");
    };
    println!("`{name}` caught by system {number}: {violation}");
}

#[test]
fn dual_queue_edf_without_carry_in_is_caught() {
    assert_caught("no carry-in", optimistic::dq_edf_without_carry_in, any_system);
}

#[test]
fn dual_queue_edf_with_all_released_together_is_caught() {
    assert_caught("released together", optimistic::dq_edf_released_together, any_system);
}

/// A bound for FIFO does not hold by deadline, even if all requests fit into a batch.
#[test]
fn the_fifo_bound_under_dual_queue_edf_is_caught() {
    assert_caught("the bound of FIFO", dqf::tight, any_system);
    assert_caught("the bound of FIFO with z >= E", fifo_where_all_fit, any_system);
}

fn fifo_where_all_fit(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    if system.requests_sum() <= u64::from(system.batch_max) {
        return dqf::tight(system);
    }
    Err(Inapplicable::Overload { batch_max: system.batch_max })
}

#[test]
fn edf_without_best_effort_in_service_is_caught() {
    assert_caught("EDF alone", edf_bound::responses, |number| {
        system(number, Size { batch_max: 1, ..SIZE }).with_best_effort_fill(1)
    });
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No bound of `analysis` is below the true worst case of a small system, and the bounds that are
//! proved exact are exact. The tightness of the others is printed, not asserted.
//!
//! Safety is checked against the limit of batches that take no time; exactness and tightness
//! against batches of at least one tick, which are possible.

use tidegate_analysis::fifo::BestEffortAhead;
use tidegate_analysis::{Inapplicable, System, Verdict, dqf, edf as edf_bound, fifo};
use tidegate_soundness::adversary::{self, Extent, WorstCase};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::{self, Bound, TICKS};
use tidegate_soundness::ratio::Ratios;
use tidegate_soundness::small::Rules;
use tidegate_soundness::{SmallSystem, edf, shared_fifo};

const SEED: u64 = 20_261_121;

const DQF_BOUNDS: [(&str, Bound); 4] = [
    ("tight", dqf::tight),
    ("busy_interval", dqf::busy_interval),
    ("linear", dqf::linear),
    ("min_period", dqf::min_period),
];

/// The results of the searches of a test.
#[derive(Debug, Default)]
struct Tally {
    searched: usize,
    unbounded: usize,
    too_large: usize,
    states: usize,
}

impl Tally {
    /// Records a search; returns whether it was complete.
    fn note(&mut self, found: &WorstCase, system: &SmallSystem) -> bool {
        self.states += found.states;
        match found.extent {
            Extent::Whole => self.searched += 1,
            Extent::TooManyStates => self.too_large += 1,
            Extent::BacklogUnbounded => {
                assert!(system.load().is_gt(), "unbounded without overload: {system}");
                self.unbounded += 1;
            }
        }
        found.extent == Extent::Whole
    }

    /// Prints the tally and asserts that few systems were too large.
    fn close(&self, what: &str) {
        let Self { searched, unbounded, too_large, states } = self;
        println!(
            "{what}: {searched} systems searched, {unbounded} with unbounded backlog, \
             {too_large} too large, {states} states"
        );
        assert!(*too_large * 20 <= *searched, "more than 5 % of the systems were not searched");
    }
}

/// Asserts that no bound is below the responses found, whether or not the search was complete.
fn assert_safe(bounds: &[(&str, Bound)], system: &SmallSystem, found: &WorstCase, number: u64) {
    for (name, bound) in bounds {
        if let Some(violation) = harness::violation(*bound, system, &found.responses) {
            panic!("`{name}` is not a bound (seed {SEED}, number {number}): {violation}");
        }
    }
}

/// Asserts that the bound equals the truth.
fn assert_exact(name: &str, bound: Bound, system: &SmallSystem, truth: &WorstCase) {
    for tick in TICKS {
        let expected: Vec<_> =
            truth.responses.iter().map(|&ticks| Some(u64::from(ticks) * tick.ns())).collect();
        let promised = harness::promises(bound, system, tick);
        assert_eq!(promised, expected, "`{name}` is not exact (tick {tick}) in\n    {system}");
    }
}

fn responds_within_periods(system: &SmallSystem, truth: &WorstCase) -> bool {
    truth.responses.iter().zip(&system.tasks).all(|(&response, task)| response < task.period)
}

/// The tightness of every bound in one kind of system.
struct Row {
    kind: &'static str,
    systems: usize,
    ratios: Vec<Ratios>,
}

impl Row {
    fn new(kind: &'static str, bounds: &[(&str, Bound)]) -> Self {
        Self { kind, systems: 0, ratios: vec![Ratios::default(); bounds.len()] }
    }

    fn record(&mut self, bounds: &[(&str, Bound)], system: &SmallSystem, truth: &WorstCase) {
        self.systems += 1;
        let tick = TICKS[1];
        for ((_, bound), ratios) in bounds.iter().zip(&mut self.ratios) {
            let promises = harness::promises(*bound, system, tick);
            for (promise, &response) in promises.into_iter().zip(&truth.responses) {
                ratios.record(promise, u64::from(response) * tick.ns());
            }
        }
    }

    fn print(&self, bounds: &[(&str, Bound)]) {
        for ((name, _), ratios) in bounds.iter().zip(&self.ratios) {
            println!("| {} ({} systems) | {name} | {ratios}", self.kind, self.systems);
        }
    }
}

/// Compares chapter 9 and Theorems 1 and 2 with the adversary.
#[test]
fn no_bound_is_below_the_true_worst_case() {
    let mut tally = Tally::default();
    let mut small_e = Row::new("R < p, E <= z", &DQF_BOUNDS);
    let mut large_e = Row::new("R < p, E > z", &DQF_BOUNDS);
    let mut all = Row::new("all", &DQF_BOUNDS);
    for number in 0..8_000 {
        let random = &mut generate::generator(SEED, number);
        let system = generate::system(random, Size::SMALL);
        let limit = adversary::worst_case(&system, Rules::LIMIT);
        assert_safe(&DQF_BOUNDS, &system, &limit, number);
        if !tally.note(&limit, &system) {
            continue;
        }
        let truth = adversary::worst_case(&system, Rules::REAL);
        assert_eq!(truth.extent, Extent::Whole, "the limit covers it: {system}");
        let e = system.requests_sum();
        if responds_within_periods(&system, &truth) {
            // Theorem 2: exact for z >= E, and for z = E - 1 with jobs of one request.
            let is_single = system.tasks.iter().all(|task| task.requests == 1);
            if e <= system.batch_max || (is_single && e == system.batch_max + 1) {
                assert_exact("tight", dqf::tight, &system, &truth);
            }
            let row = if e <= system.batch_max { &mut small_e } else { &mut large_e };
            row.record(&DQF_BOUNDS, &system, &truth);
        }
        all.record(&DQF_BOUNDS, &system, &truth);
    }
    tally.close("dqf");
    println!("{}", Ratios::heading());
    for row in [small_e, large_e, all] {
        row.print(&DQF_BOUNDS);
    }
    assert!(tally.searched >= 2_000, "too few systems were searched");
}

/// The same with responses as long as the periods, or one tick shorter or longer: there the
/// theorems change from one job of a task at a time to two.
#[test]
fn no_bound_is_below_the_true_worst_case_at_the_edge() {
    let mut tally = Tally::default();
    for number in 0..10_000 {
        let random = &mut generate::generator(SEED + 6, number);
        let system = generate::system(random, Size::SMALL);
        let fill = [0, system.batch_max.div_ceil(2)][usize::from(number % 4 == 3)];
        let system = system.with_best_effort_fill(fill);
        for margin in [-1, 0, 1] {
            let system = harness::with_periods_near(dqf::tight, system.clone(), margin);
            let limit = adversary::worst_case(&system, Rules::LIMIT);
            assert_safe(&DQF_BOUNDS, &system, &limit, number);
            let is_whole = tally.note(&limit, &system);
            if is_whole && system.requests_sum() <= system.batch_max {
                let truth = adversary::worst_case(&system, Rules::REAL);
                if responds_within_periods(&system, &truth) {
                    assert_exact("tight", dqf::tight, &system, &truth);
                }
            }
        }
    }
    tally.close("dqf at the edge");
}

/// "Each job has no more than e_i requests" (9.2.2): smaller jobs break no bound.
#[test]
fn no_bound_is_below_the_worst_case_of_smaller_jobs() {
    let mut tally = Tally::default();
    for number in 0..4_000 {
        let random = &mut generate::generator(SEED + 1, number);
        let system = generate::system(random, Size::SMALL);
        let limit = adversary::worst_case(&system, Rules::LIMIT_SMALLER_JOBS);
        assert_safe(&DQF_BOUNDS, &system, &limit, number);
        tally.note(&limit, &system);
    }
    tally.close("dqf, jobs of up to e requests");
}

/// Theorem 3: best effort fills the batches; three fills for each system.
#[test]
fn no_bound_is_below_the_true_worst_case_with_best_effort() {
    let mut tally = Tally::default();
    let mut small_e = Row::new("beta > 0, R < p, E <= z", &DQF_BOUNDS);
    let mut large_e = Row::new("beta > 0, R < p, E > z", &DQF_BOUNDS);
    let mut all = Row::new("beta > 0, all", &DQF_BOUNDS);
    for number in 0..2_000 {
        let random = &mut generate::generator(SEED + 2, number);
        let system = generate::system(random, Size::SMALL);
        let z = system.batch_max;
        let mut fills = vec![1, z.div_ceil(2), z];
        fills.dedup();
        for fill in fills {
            let system = system.clone().with_best_effort_fill(fill);
            let limit = adversary::worst_case(&system, Rules::LIMIT);
            assert_safe(&DQF_BOUNDS, &system, &limit, number);
            if !tally.note(&limit, &system) {
                continue;
            }
            let truth = adversary::worst_case(&system, Rules::REAL);
            if responds_within_periods(&system, &truth) {
                let fits = system.requests_sum() <= system.batch_max;
                if fits {
                    assert_exact("tight", dqf::tight, &system, &truth);
                }
                let row = if fits { &mut small_e } else { &mut large_e };
                row.record(&DQF_BOUNDS, &system, &truth);
            }
            all.record(&DQF_BOUNDS, &system, &truth);
        }
    }
    tally.close("dqf with best effort");
    println!("{}", Ratios::heading());
    for row in [small_e, large_e, all] {
        row.print(&DQF_BOUNDS);
    }
}

/// One request at a time in release order.
#[test]
fn one_at_a_time_fifo_is_exact() {
    let bounds: [(&str, Bound); 1] = [("fifo", fifo::responses)];
    let mut tally = Tally::default();
    let mut all = Row::new("one at a time", &bounds);
    for number in 0..2_000 {
        let random = &mut generate::generator(SEED + 3, number);
        let system = generate::system(random, Size::SMALL).with_batch_max(1);
        let limit = adversary::worst_case(&system, Rules::LIMIT);
        assert_safe(&bounds, &system, &limit, number);
        if tally.note(&limit, &system) {
            let truth = adversary::worst_case(&system, Rules::REAL);
            assert_exact("fifo", fifo::responses, &system, &truth);
            all.record(&bounds, &system, &truth);
        }
    }
    tally.close("fifo");
    println!("{}", Ratios::heading());
    all.print(&bounds);
}

/// One request at a time, with best effort that circulates in the same queue.
#[test]
fn no_fifo_bound_is_below_the_true_worst_case_with_best_effort() {
    let with_one: Bound = |system| fifo_with_best_effort(system, 1);
    let with_two: Bound = |system| fifo_with_best_effort(system, 2);
    for (circulating, bounds) in [(1, [("fifo + 1", with_one)]), (2, [("fifo + 2", with_two)])] {
        let mut tally = Tally::default();
        let size = Size { period_max: 6, ..Size::SMALLEST };
        let mut all = Row::new("one at a time, shared", &bounds);
        for number in 0..400 {
            let random = &mut generate::generator(SEED + 5, number);
            let system = generate::system(random, size).with_batch_max(1);
            // Best effort takes all remaining time, so at full load the backlog has no bound.
            if system.load().is_eq() {
                continue;
            }
            let limit = shared_fifo::worst_case(&system, circulating, Rules::LIMIT);
            assert_safe(&bounds, &system, &limit, number);
            if tally.note(&limit, &system) {
                let truth = shared_fifo::worst_case(&system, circulating, Rules::REAL);
                all.record(&bounds, &system, &truth);
            }
        }
        tally.close("fifo with best effort");
        println!("{}", Ratios::heading());
        all.print(&bounds);
    }
}

fn fifo_with_best_effort(system: &System, outstanding: u64) -> Result<Vec<Verdict>, Inapplicable> {
    let ahead = BestEffortAhead { outstanding, open_loops: Vec::new() };
    fifo::responses_with_best_effort(system, &ahead)
}

/// One request at a time by deadline, with deadlines shorter and longer than the periods.
#[test]
fn no_edf_bound_is_below_the_true_worst_case() {
    let bounds: [(&str, Bound); 1] = [("edf", edf_bound::responses)];
    let mut tally = Tally::default();
    let mut within = Row::new("EDF, R < p", &bounds);
    let mut all = Row::new("EDF, all", &bounds);
    let size = Size { requests_max: 2, step_max: 2, ..Size::SMALLER };
    for number in 0..1_000 {
        let random = &mut generate::generator(SEED + 4, number);
        let system = generate::system(random, size).with_batch_max(1);
        let system = generate::with_random_deadlines(random, system);
        let limit = edf::worst_case(&system, Rules::LIMIT);
        assert_safe(&bounds, &system, &limit, number);
        if tally.note(&limit, &system) {
            let truth = edf::worst_case(&system, Rules::REAL);
            if responds_within_periods(&system, &truth) {
                within.record(&bounds, &system, &truth);
            }
            all.record(&bounds, &system, &truth);
        }
    }
    tally.close("edf");
    println!("{}", Ratios::heading());
    within.print(&bounds);
    all.print(&bounds);
}

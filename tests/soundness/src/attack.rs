// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Attacks bounds with a search: draws small systems, finds the true worst case of each, and
//! compares it with the bounds.
//!
//! Safety is checked against the limit of batches that take no time; exactness and tightness
//! against batches of at least one tick, which are possible. Bounds that are wrong on purpose must
//! not survive the same search over the same kind of systems ([`assert_caught`]), and searches that
//! share no code must agree ([`assert_agree`]).

use std::fmt::Write as _;

use rand_pcg::Pcg64;

use crate::adversary::{Extent, WorstCase};
use crate::generate;
use crate::harness::{self, Bound, Promises, TICKS, promises_by_tick};
use crate::ratio::Ratios;
use crate::small::{Rules, SmallSystem, Ticks};

/// Finds the true worst case of a system.
pub type Search = fn(&SmallSystem, Rules) -> WorstCase;

/// A series of systems, the search for their worst cases, and the bounds under attack.
#[derive(Debug, Clone, Copy)]
pub struct Attack<'a> {
    /// The name of the series.
    pub what: &'a str,
    /// The seed of the systems.
    pub seed: u64,
    /// The number of draws.
    pub draws: u64,
    /// Makes the systems of the draw with this number, if any.
    pub draw: fn(&mut Pcg64, u64) -> Vec<SmallSystem>,
    /// The search.
    pub search: Search,
    /// The rules of the adversary in the search for unsafe bounds.
    pub rules: Rules,
    /// The bounds, by name.
    pub bounds: &'a [(&'a str, Bound)],
    /// Whether the bounds are also compared with the worst case of this system under
    /// [`Rules::REAL`], for exactness and tightness.
    pub is_compared: fn(&SmallSystem) -> bool,
    /// Whether the first bound must equal this worst case.
    pub is_exact: fn(&SmallSystem, &WorstCase) -> bool,
}

impl<'a> Attack<'a> {
    /// Asserts that no bound is below the responses found, whether or not a search was complete,
    /// and that the first bound is exact where it must be. Prints how tight the bounds are.
    ///
    /// # Panics
    /// If a bound is too low or not exact, or more than 5 % of the systems are too large.
    pub fn run(&self) -> Report<'a> {
        let mut report = Report::default();
        for number in 0..self.draws {
            for system in (self.draw)(&mut generate::generator(self.seed, number), number) {
                self.on(&system, number, &mut report);
            }
        }
        report.close(self.what);
        report
    }

    fn on(&self, system: &SmallSystem, number: u64, report: &mut Report<'a>) {
        let limit = (self.search)(system, self.rules);
        let promised = self.bounds.iter();
        let promised = promised.map(|&(name, bound)| (name, promises_by_tick(bound, system)));
        let promised: Vec<(&str, Promises)> = promised.collect();
        for (name, promises) in &promised {
            if let Some(violation) = harness::violation(promises, system, &limit.responses) {
                panic!(
                    "`{name}` is not a bound (seed {}, number {number}): {violation}",
                    self.seed
                );
            }
        }
        if !report.note(&limit, system) || !(self.is_compared)(system) {
            return;
        }
        let truth = (self.search)(system, Rules::REAL);
        assert_eq!(truth.extent, Extent::Whole, "the limit covers it: {system}");
        if (self.is_exact)(system, &truth) {
            assert_exact(&promised[0], system, &truth);
        }
        for (name, promises) in promised {
            report.record(name, &promises, system, &truth);
        }
    }
}

/// Asserts that the bound equals the truth.
fn assert_exact((name, promises): &(&str, Promises), system: &SmallSystem, truth: &WorstCase) {
    for (tick, promised) in TICKS.into_iter().zip(promises) {
        let expected: Vec<_> =
            truth.responses.iter().map(|&ticks| Some(u64::from(ticks) * tick.ns())).collect();
        assert_eq!(*promised, expected, "`{name}` is not exact (tick {tick}) in\n    {system}");
    }
}

/// Returns whether every task's response time is shorter than its period.
#[must_use]
pub fn responds_within_periods(system: &SmallSystem, truth: &WorstCase) -> bool {
    truth.responses.iter().zip(&system.tasks).all(|(&response, task)| response < task.period)
}

/// The tightness of one bound in one kind of system.
#[derive(Debug)]
pub struct Row<'a> {
    kind: &'static str,
    /// The name of the bound.
    pub bound: &'a str,
    systems: usize,
    /// The ratios of the bound to the true worst case.
    pub ratios: Ratios,
}

/// The results of an attack.
#[derive(Debug, Default)]
pub struct Report<'a> {
    /// The number of complete searches.
    pub searched: usize,
    unbounded: usize,
    too_large: usize,
    states: usize,
    /// The tightness of the bounds.
    pub rows: Vec<Row<'a>>,
}

impl<'a> Report<'a> {
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

    /// Records a bound of one system under the system's kind and under "all".
    fn record(
        &mut self,
        name: &'a str,
        promises: &Promises,
        system: &SmallSystem,
        truth: &WorstCase,
    ) {
        let is_one_batch = system.requests_sum() <= system.batch_max;
        let kind = match (responds_within_periods(system, truth), is_one_batch) {
            (true, true) => "R < p, E <= z",
            (true, false) => "R < p, E > z",
            (false, _) => "R >= p",
        };
        // Theorem 2 is exact from z = E - 1 on, and FIFO is z = 1.
        let (sum, batch_max) = (system.requests_sum(), system.batch_max);
        let is_between = kind == "R < p, E > z" && 1 < batch_max && batch_max + 1 < sum;
        let between = is_between.then_some("R < p, 1 < z < E - 1");
        let mut responses = truth.responses.iter().zip(&system.tasks);
        let is_beyond = responses.any(|(&response, task)| response > task.period);
        let edge = (kind == "R >= p").then_some(if is_beyond { "R > p" } else { "R = p" });
        for kind in [Some(kind), between, edge, Some("all")].into_iter().flatten() {
            let row = self.row(kind, name);
            row.systems += 1;
            for (&promise, &response) in promises[1].iter().zip(&truth.responses) {
                row.ratios.record(promise, u64::from(response) * TICKS[1].ns());
            }
        }
    }

    fn row(&mut self, kind: &'static str, bound: &'a str) -> &mut Row<'a> {
        let known = self.rows.iter().position(|row| (row.kind, row.bound) == (kind, bound));
        let index = known.unwrap_or(self.rows.len());
        if known.is_none() {
            self.rows.push(Row { kind, bound, systems: 0, ratios: Ratios::default() });
        }
        &mut self.rows[index]
    }

    /// Prints the results and asserts that few systems were too large.
    fn close(&self, what: &str) {
        let Self { searched, unbounded, too_large, states, rows } = self;
        let mut table = Ratios::heading();
        for Row { kind, bound, systems, ratios } in rows {
            write!(table, "\n| {kind} ({systems} systems) | {bound} | {ratios}").expect("a string");
        }
        println!(
            "{what}: {searched} systems searched, {unbounded} with unbounded backlog, \
             {too_large} too large, {states} states\n{table}"
        );
        assert!(*too_large * 20 <= *searched, "more than 5 % of the systems were not searched");
    }
}

/// Asserts that the true worst case of some system exceeds a bound that is wrong on purpose. The
/// worst case is searched under [`Rules::REAL`], so that it can occur: a canary must be below a
/// possible response, not only below the limit of ever shorter batches.
///
/// # Panics
/// If the bound survives all systems.
pub fn assert_caught(
    name: &str,
    bound: Bound,
    systems: impl Iterator<Item = SmallSystem>,
    search: Search,
) {
    let mut violations = systems.enumerate().filter_map(|(number, system)| {
        let truth = search(&system, Rules::REAL);
        let promises = promises_by_tick(bound, &system);
        Some((number, harness::violation(&promises, &system, &truth.responses)?))
    });
    let Some((number, violation)) = violations.next() else {
        panic!("`{name}` survived: the harness is broken");
    };
    println!("`{name}` caught by system {number}: {violation}");
}

/// Asserts that two searches find the same responses in every system that both search completely,
/// and that there are at least `compared_min` such systems.
///
/// # Panics
/// If the searches disagree.
pub fn assert_agree(
    systems: impl Iterator<Item = (SmallSystem, Rules)>,
    one: impl Fn(&SmallSystem, Rules) -> Option<Vec<Ticks>>,
    other: impl Fn(&SmallSystem, Rules) -> Option<Vec<Ticks>>,
    compared_min: usize,
) {
    let mut compared = 0;
    for (number, (system, rules)) in systems.enumerate() {
        let Some(one) = one(&system, rules) else { continue };
        let Some(other) = other(&system, rules) else { continue };
        assert_eq!(one, other, "search {number}, {rules:?}, {system}");
        compared += 1;
    }
    println!("{compared} searches agree");
    assert!(compared >= compared_min, "only {compared} searches could be compared");
}

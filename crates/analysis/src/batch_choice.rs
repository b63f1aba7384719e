// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Chooses the batch size z and the best-effort fill beta.
//!
//! `auto` takes the smallest z that proves the most tasks and then allows the largest best-effort
//! fill. Bounds are not monotone in z. Beyond E, the number of requests that the tasks can release
//! together, they stay constant only while they are below the periods (Theorem 2), so the search
//! tries every z of the table. If no z proves a task, `auto` takes the z whose bounds come closest
//! to the deadlines.

use std::cmp::Reverse;

use tidegate_model::{BatchChoice, BatchCost, BatchTable, Duration, Premises};

use crate::bounds::{Bounds, dq_edf_bounds, dqf_bounds, is_met};
use crate::budget::Budget;
use crate::heterogeneous::{self, MixedSystem};
use crate::search::largest;
use crate::{System, Tasks, dq_edf, dqf};

/// The order in which requests wait for their batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order of release times, as in `dqf`.
    Release,
    /// The order of deadlines, as in `dq-edf`.
    Due,
}

/// The input to a choice: tasks on a device, before z and beta are chosen.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    pub(crate) tasks: &'a Tasks,
    pub(crate) table: &'a BatchTable,
    /// The order in which the policy queues requests.
    pub(crate) order: Order,
    /// The batch size that the workload asks for.
    pub(crate) batch: BatchChoice,
    /// Whether there is best effort.
    pub(crate) is_shared: bool,
    /// The largest beta that the workload file allows.
    pub(crate) fill_max: u32,
    /// The same tasks with a cost per request, if their requests differ; this system's z and beta
    /// are unused.
    pub(crate) mixed: Option<&'a MixedSystem>,
    /// The work that the search may spend.
    pub(crate) budget: Budget,
}

/// Holds the chosen z and beta, with the bounds that they give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// z: the largest number of requests in a batch.
    pub(crate) batch_max: u32,
    /// beta: best effort fills batches up to this many requests.
    pub(crate) best_effort_fill: u32,
    /// Z and F, if batches are also limited by cost.
    pub(crate) batch_cost: Option<BatchCost>,
    /// The limit on best-effort requests on the drive; `None` if the policy has no separate one.
    pub(crate) best_effort_depth: Option<u32>,
    /// The bounds, one entry per task.
    pub(crate) bounds: Vec<Bounds>,
    /// The proof's premises besides the table.
    pub(crate) premises: Premises,
}

impl Choice {
    /// Returns a choice for a policy that has no separate best-effort limit and whose only
    /// premise is the table b(i).
    pub(crate) fn of_batches(batch_max: u32, best_effort_fill: u32, bounds: Vec<Bounds>) -> Self {
        Self {
            batch_max,
            best_effort_fill,
            batch_cost: None,
            best_effort_depth: None,
            bounds,
            premises: Premises::default(),
        }
    }
}

/// Ranks the choices that do not prove every task, the most important criterion first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    /// The number of proven tasks; more is better.
    proven_count: usize,
    /// The best-effort fill; more is better.
    best_effort_fill: u32,
    /// If nothing is proven, the largest ratio of a bound to its deadline; less is better.
    overshoot: Reverse<u128>,
    /// If nothing is proven and a task has no bound, the batch size: a larger batch serves more.
    batch_max_if_unbounded: u32,
}

impl Question<'_> {
    /// Returns z and beta for these tasks, and the bounds that follow.
    pub(crate) fn choose(&self) -> Choice {
        let choice = self.choose_proving_all().unwrap_or_else(|| self.choose_closest());
        // With the same z, less best effort never makes a bound longer.
        let is_within = choice.best_effort_fill <= self.fill_max;
        if is_within { choice } else { self.choice(choice.batch_max, self.fill_max) }
    }

    /// Returns whether some admissible z proves every task without best effort in the batches.
    pub(crate) fn is_provable(&self) -> bool {
        // The largest z comes first: if it takes every pending request, no other z is better.
        self.candidates().rev().any(|batch_max| self.proves_all(batch_max, 0))
    }

    /// Returns the smallest z that proves everything and allows the largest beta.
    fn choose_proving_all(&self) -> Option<Choice> {
        let mut best: Option<(u32, u32)> = None;
        for batch_max in self.candidates().filter(|&batch_max| self.proves_all(batch_max, 0)) {
            let fill = self.largest_fill(batch_max, |fill| self.proves_all(batch_max, fill));
            if best.is_none_or(|(_, largest)| fill > largest) {
                best = Some((batch_max, fill));
            }
            if !self.is_shared {
                break;
            }
        }
        best.map(|(batch_max, fill)| self.choice(batch_max, fill))
    }

    /// Returns the choice with the highest merit when no z proves everything.
    fn choose_closest(&self) -> Choice {
        let mut best: Option<(Merit, Choice)> = None;
        for batch_max in self.candidates() {
            let choice = self.with_most_best_effort(batch_max);
            let merit = self.merit(&choice);
            if best.as_ref().is_none_or(|(highest, _)| merit > *highest) {
                best = Some((merit, choice));
            }
        }
        best.expect("a table has an entry").1
    }

    /// Returns the choice with this z and the largest beta that invalidates no proof.
    fn with_most_best_effort(&self, batch_max: u32) -> Choice {
        let without = self.choice(batch_max, 0);
        let proven_count = self.proven_count(&without);
        // Without a proven task there is no slack to give to best effort.
        if !self.is_shared || proven_count == 0 {
            return without;
        }
        let fill = self.largest_fill(batch_max, |fill| {
            self.proven_count(&self.choice(batch_max, fill)) == proven_count
        });
        self.choice(batch_max, fill)
    }

    /// Returns the largest beta up to z for which `fits` holds. `fits(0)` must hold; bounds grow
    /// with beta.
    fn largest_fill(&self, batch_max: u32, fits: impl Fn(u32) -> bool) -> u32 {
        if self.is_shared { largest(0..=batch_max, fits) } else { 0 }
    }

    /// Returns the batch sizes to try, ascending.
    fn candidates(&self) -> std::ops::RangeInclusive<u32> {
        match self.batch {
            BatchChoice::Fixed(batch_max) => batch_max..=batch_max,
            BatchChoice::Auto => 1..=self.table.batch_max(),
        }
    }

    fn system(&self, batch_max: u32, best_effort_fill: u32) -> System {
        System { tasks: self.tasks.clone(), table: self.table.clone(), batch_max, best_effort_fill }
    }

    fn mixed_system(&self, batch_max: u32, best_effort_fill: u32) -> Option<MixedSystem> {
        let mixed = self.mixed?.clone();
        Some(MixedSystem { batch_max, best_effort_fill, ..mixed })
    }

    fn choice(&self, batch_max: u32, best_effort_fill: u32) -> Choice {
        let system = self.system(batch_max, best_effort_fill);
        let mut bounds = match self.order {
            Order::Release => dqf_bounds(&system, self.is_shared, &self.budget),
            Order::Due => dq_edf_bounds(&system, &self.budget),
        };
        if let Some(mixed) = self.mixed_system(batch_max, best_effort_fill) {
            for (bounds, verdict) in bounds.iter_mut().zip(heterogeneous::responses(&mixed)) {
                bounds.mixed = verdict.bound();
            }
        }
        Choice::of_batches(batch_max, best_effort_fill, bounds)
    }

    fn proves_all(&self, batch_max: u32, best_effort_fill: u32) -> bool {
        let system = self.system(batch_max, best_effort_fill);
        let mixed = self.mixed_system(batch_max, best_effort_fill);
        proves_all(&system, self.order, mixed.as_ref(), self.is_shared, &self.budget)
    }

    fn proven_count(&self, choice: &Choice) -> usize {
        let pairs = self.tasks.iter().zip(&choice.bounds);
        pairs.filter(|(task, bounds)| is_met(task, bounds)).count()
    }

    fn merit(&self, choice: &Choice) -> Merit {
        let proven_count = self.proven_count(choice);
        let overshoot = if proven_count == 0 { self.overshoot(choice) } else { 0 };
        Merit {
            proven_count,
            best_effort_fill: choice.best_effort_fill,
            overshoot: Reverse(overshoot),
            batch_max_if_unbounded: if overshoot == u128::MAX { choice.batch_max } else { 0 },
        }
    }

    /// Returns the largest ratio of a bound to its deadline, in billionths, or `u128::MAX` if a
    /// task has no bound.
    fn overshoot(&self, choice: &Choice) -> u128 {
        let (mut worst_response, mut worst_deadline) = (0, 1);
        for (task, bounds) in self.tasks.iter().zip(&choice.bounds) {
            let Some((response, _)) = bounds.least() else { return u128::MAX };
            let (response, deadline) = (response.ns().into(), task.deadline.ns().into());
            if response * worst_deadline > worst_response * deadline {
                (worst_response, worst_deadline) = (response, deadline);
            }
        }
        worst_response * 1_000_000_000 / worst_deadline
    }
}

/// Returns whether every task has a bound within its deadline under the system's z and beta. Stops
/// as soon as the answer is known. `mixed` is the same system with a cost per request.
pub(crate) fn proves_all(
    system: &System,
    order: Order,
    mixed: Option<&MixedSystem>,
    is_shared: bool,
    budget: &Budget,
) -> bool {
    if order == Order::Due {
        return dq_edf::are_deadlines_met(system, budget);
    }
    let by_min_period = || {
        let response = dqf::min_period_ns(system).map(Duration::from_ns);
        response.is_some_and(|response| system.tasks.iter().all(|task| response <= task.deadline))
    };
    mixed.is_some_and(heterogeneous::are_deadlines_met)
        || dqf::are_deadlines_met(system, budget)
        || (!is_shared && by_min_period())
}

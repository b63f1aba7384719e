// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which batch size, and how much best effort: z and beta.
//!
//! `auto` is the smallest z that proves most tasks and then carries the largest best-effort
//! fill. Bounds are not monotone in z, and beyond E they stay as they are only as long as
//! they are below the periods (Theorem 2): so every z of the table is looked at. Where not
//! one task can be proven there is nothing to be smallest of; then it is the z that comes
//! closest to the deadlines.

use std::cmp::Reverse;

use tidegate_model::{BatchChoice, BatchCost, BatchTable};

use crate::bounds::{Bounds, dq_edf_bounds, dqf_bounds, is_met};
use crate::budget::Budget;
use crate::heterogeneous::{self, MixedSystem};
use crate::{SporadicTask, System, Verdict, dq_edf, dqf};

/// In which order requests wait for their batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Of their release: `dqf`.
    Release,
    /// Of their deadlines: `dq-edf`.
    Due,
}

/// Tasks on a device, before z and beta are chosen.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    pub(crate) tasks: &'a [SporadicTask],
    pub(crate) table: &'a BatchTable,
    /// Of the policy that forms the batches.
    pub(crate) order: Order,
    /// What the workload asks for.
    pub(crate) batch: BatchChoice,
    /// Whether there is best effort.
    pub(crate) is_shared: bool,
    /// The same tasks with their own costs, where requests differ; its z and beta mean nothing.
    pub(crate) mixed: Option<&'a MixedSystem>,
    /// What the answer may cost.
    pub(crate) budget: Budget,
}

/// z and beta, with the bounds by which they were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// z.
    pub(crate) batch_max: u32,
    /// beta.
    pub(crate) best_effort_fill: u32,
    /// Z and F, where batches are limited by cost as well.
    pub(crate) batch_cost: Option<BatchCost>,
    /// How much best effort may be on the drive at once; none where the policy does not limit
    /// it apart.
    pub(crate) best_effort_depth: Option<u32>,
    /// One for each task.
    pub(crate) bounds: Vec<Bounds>,
    /// What the proof rests on beside the table, a sentence each.
    pub(crate) assumptions: Vec<String>,
}

impl Choice {
    /// z and beta, for a policy that does not limit best effort apart and rests on b(i) alone.
    pub(crate) fn of_batches(batch_max: u32, best_effort_fill: u32, bounds: Vec<Bounds>) -> Self {
        Self {
            batch_max,
            best_effort_fill,
            batch_cost: None,
            best_effort_depth: None,
            bounds,
            assumptions: Vec::new(),
        }
    }
}

/// How good a choice is that does not prove everything, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    /// More proofs.
    proven_count: usize,
    /// More best effort.
    best_effort_fill: u32,
    /// Where nothing is proven: less beyond the deadline.
    overshoot: Reverse<u128>,
    /// Where a task has no bound at all: the larger batch, which serves more.
    batch_max_if_unbounded: u32,
}

impl Question<'_> {
    /// z and beta for these tasks, and the bounds that follow.
    pub(crate) fn choose(&self) -> Choice {
        self.choose_proving_all().unwrap_or_else(|| self.choose_closest())
    }

    /// Whether some admissible z proves every task, with no best effort riding along.
    pub(crate) fn is_provable(&self) -> bool {
        // The largest z first: where it takes everything pending it is the best there is.
        self.candidates().rev().any(|batch_max| self.proves_all(batch_max, 0))
    }

    /// The smallest z that proves everything and carries the largest beta.
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

    /// The choice of most merit where no z proves everything.
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

    /// This z with the largest beta that costs no proof.
    fn with_most_best_effort(&self, batch_max: u32) -> Choice {
        let without = self.choice(batch_max, 0);
        let proven_count = self.proven_count(&without);
        // A workload of which nothing is proven has no room to give away.
        if !self.is_shared || proven_count == 0 {
            return without;
        }
        let fill = self.largest_fill(batch_max, |fill| {
            self.proven_count(&self.choice(batch_max, fill)) == proven_count
        });
        self.choice(batch_max, fill)
    }

    /// The largest beta up to z that `fits`, given that 0 does; bounds grow with beta.
    fn largest_fill(&self, batch_max: u32, fits: impl Fn(u32) -> bool) -> u32 {
        if !self.is_shared {
            return 0;
        }
        let (mut enough, mut too_much) = (0, batch_max + 1);
        while enough + 1 < too_much {
            let middle = enough + (too_much - enough) / 2;
            if fits(middle) {
                enough = middle;
            } else {
                too_much = middle;
            }
        }
        enough
    }

    /// The z worth looking at, ascending.
    fn candidates(&self) -> std::ops::RangeInclusive<u32> {
        match self.batch {
            BatchChoice::Fixed(batch_max) => batch_max..=batch_max,
            BatchChoice::Auto => 1..=self.table.batch_max(),
        }
    }

    fn system(&self, batch_max: u32, best_effort_fill: u32) -> System {
        System {
            tasks: self.tasks.to_vec(),
            table: self.table.clone(),
            batch_max,
            best_effort_fill,
        }
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

    /// Whether every task has a bound within its deadline, without computing more than a no
    /// needs.
    fn proves_all(&self, batch_max: u32, best_effort_fill: u32) -> bool {
        let system = self.system(batch_max, best_effort_fill);
        if self.order == Order::Due {
            return dq_edf::are_deadlines_met(&system, &self.budget);
        }
        let by_min_period = || {
            let verdicts = dqf::min_period(&system).ok()?;
            let is_met = |(verdict, task): (&Verdict, &SporadicTask)| {
                verdict.bound().is_some_and(|response| response <= task.deadline)
            };
            Some(verdicts.iter().zip(self.tasks).all(is_met))
        };
        let by_costs = || {
            let mixed = self.mixed_system(batch_max, best_effort_fill)?;
            Some(heterogeneous::are_deadlines_met(&mixed))
        };
        by_costs() == Some(true)
            || dqf::are_deadlines_met(&system, &self.budget)
            || (!self.is_shared && by_min_period() == Some(true))
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

    /// The largest bound in billionths of its deadline; the largest number where a task
    /// has no bound.
    fn overshoot(&self, choice: &Choice) -> u128 {
        let of_task = |(task, bounds): (&SporadicTask, &Bounds)| {
            bounds.least().map_or(u128::MAX, |(response, _)| {
                u128::from(response.ns()) * 1_000_000_000 / u128::from(task.deadline.ns())
            })
        };
        self.tasks.iter().zip(&choice.bounds).map(of_task).max().unwrap_or(0)
    }
}

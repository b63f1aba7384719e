// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which batch size, and how much best effort: z and beta.
//!
//! `auto` is the smallest z that proves most tasks and then carries the largest best-effort
//! fill; where not all can be proven, the one that comes closest. Bounds are not monotone
//! in z, so every z is looked at; beyond E nothing changes for the tasks and only beta can
//! grow.

use std::cmp::Reverse;

use model::{BatchChoice, BatchTable};

use crate::assessment::{Bounds, dqf_bounds, is_proven, proven_count};
use crate::{SporadicTask, System};

/// z and beta together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batching {
    /// z.
    pub(crate) batch_max: u32,
    /// beta.
    pub(crate) best_effort_fill: u32,
}

impl Batching {
    /// The tasks under this z and beta.
    pub(crate) fn system(self, tasks: &[SporadicTask], table: &BatchTable) -> System {
        System {
            tasks: tasks.to_vec(),
            table: table.clone(),
            batch_max: self.batch_max,
            best_effort_fill: self.best_effort_fill,
        }
    }
}

/// How good a choice is, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    /// More proofs.
    proven_count: usize,
    /// More best effort.
    best_effort_fill: u32,
    /// Less beyond the deadline, where a task cannot be proven.
    overshoot: Reverse<u128>,
    /// The larger batch where a task has no bound at all: the device serves more.
    batch_max_if_unbounded: u32,
}

impl Merit {
    fn new(tasks: &[SporadicTask], bounds: &[Bounds], batching: Batching) -> Self {
        let overshoot = overshoot(tasks, bounds);
        Self {
            proven_count: proven_count(tasks, bounds),
            best_effort_fill: batching.best_effort_fill,
            overshoot: Reverse(overshoot),
            batch_max_if_unbounded: if overshoot == u128::MAX { batching.batch_max } else { 0 },
        }
    }
}

/// The largest bound beyond its deadline, in billionths of the deadline: 0 where all are
/// proven, the largest number where a task has no bound.
fn overshoot(tasks: &[SporadicTask], bounds: &[Bounds]) -> u128 {
    let of_task = |(task, bounds): (&SporadicTask, &Bounds)| match bounds.least() {
        None => u128::MAX,
        Some((response, _)) if response <= task.deadline => 0,
        Some((response, _)) => {
            u128::from(response.ns()) * 1_000_000_000 / u128::from(task.deadline.ns())
        }
    };
    tasks.iter().zip(bounds).map(of_task).max().unwrap_or(0)
}

/// z and beta for these tasks; `is_shared` = there is best effort.
pub(crate) fn choose(
    tasks: &[SporadicTask],
    table: &BatchTable,
    batch: BatchChoice,
    is_shared: bool,
) -> Batching {
    let candidates = candidates(tasks, table, batch, is_shared);
    let mut best: Option<(Merit, u32)> = None;
    for &batch_max in &candidates {
        let merit = merit(tasks, table, batch_max, is_shared);
        if best.is_none_or(|(highest, _)| merit > highest) {
            best = Some((merit, batch_max));
        }
        if !is_shared && merit.proven_count == tasks.len() {
            break;
        }
    }
    let (merit, mut batch_max) = best.expect("there is a candidate");
    if batch == BatchChoice::Auto && batch_max == table.batch_max() {
        // The last candidate stands for all z >= E: take the smallest that carries beta.
        let needed = requests_sum(tasks).max(u64::from(merit.best_effort_fill)).max(1);
        batch_max = u32::try_from(needed).map_or(batch_max, |needed| needed.min(batch_max));
    }
    Batching { batch_max, best_effort_fill: merit.best_effort_fill }
}

/// Whether some admissible z proves every task, with no best effort riding along.
pub(crate) fn is_provable(
    tasks: &[SporadicTask],
    table: &BatchTable,
    batch: BatchChoice,
    is_shared: bool,
) -> bool {
    let proves = |batch_max: u32| {
        let batching = Batching { batch_max, best_effort_fill: 0 };
        is_proven(tasks, &dqf_bounds(&batching.system(tasks, table), is_shared))
    };
    // The largest z first: where it takes everything pending it is the best there is.
    candidates(tasks, table, batch, is_shared).into_iter().rev().any(proves)
}

/// The z worth looking at, ascending.
fn candidates(
    tasks: &[SporadicTask],
    table: &BatchTable,
    batch: BatchChoice,
    is_shared: bool,
) -> Vec<u32> {
    let batch_max = match batch {
        BatchChoice::Fixed(batch_max) => return vec![batch_max],
        BatchChoice::Auto => table.batch_max(),
    };
    let enough = u32::try_from(requests_sum(tasks).max(1)).unwrap_or(u32::MAX);
    let mut candidates: Vec<u32> = (1..=enough.min(batch_max)).collect();
    if is_shared && enough < batch_max {
        candidates.push(batch_max);
    }
    candidates
}

fn merit(tasks: &[SporadicTask], table: &BatchTable, batch_max: u32, is_shared: bool) -> Merit {
    let with_fill = |best_effort_fill: u32| {
        let batching = Batching { batch_max, best_effort_fill };
        Merit::new(tasks, &dqf_bounds(&batching.system(tasks, table), is_shared), batching)
    };
    let without = with_fill(0);
    // A workload of which nothing is proven has no room to give away.
    let is_hopeless = without.proven_count == 0 && !tasks.is_empty();
    if !is_shared || is_hopeless {
        return without;
    }
    // Bounds grow with beta: the largest that costs no proof, by bisection.
    let (mut fits, mut too_much) = (without, batch_max + 1);
    while fits.best_effort_fill + 1 < too_much {
        let middle = fits.best_effort_fill + (too_much - fits.best_effort_fill) / 2;
        let merit = with_fill(middle);
        if merit.proven_count == without.proven_count {
            fits = merit;
        } else {
            too_much = middle;
        }
    }
    fits
}

fn requests_sum(tasks: &[SporadicTask]) -> u64 {
    tasks.iter().map(|task| u64::from(task.requests)).sum()
}

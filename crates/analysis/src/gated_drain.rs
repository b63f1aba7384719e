// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for `gated-drain`: several tasks, with best effort admitted while every deadline would
//! still be met if best effort stopped.

use tidegate_model::{Duration, Premise, PremiseCode, Premises, Workload};

use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::{Bounds, is_met};
use crate::drain::{self, Drain};

const DEADLINE_BEYOND_PERIOD: &str = "gated-drain is proven only if every deadline is within its \
     period: beyond it two jobs of a task can be pending at once";

const TOO_MANY: &str = "the tasks can release more requests together than the drive accepts or its drain \
     table covers";

const BOUND: &str = "a task's bound is its deadline if that is provable: the gate gives best effort all \
     the time before the deadlines that the tasks do not need";

const PAUSES: &str = "best effort gets nothing from the instant at which every task may release until one \
     does: after a single best-effort request the drive could not be emptied and serve every task within the \
     shortest deadline (drain(1) + drain(n)); for one task of one request, adaptive-drain has no such wait";

/// Returns the best-effort depth and the bounds for several tasks.
///
/// # Bound
/// n = sum of e_i, `W = max over 0 <= s < n of drain(s) + drain(n - s)`.
/// - If W <= d_i <= p_i for every task: `R_i = d_i`.
/// - Otherwise, if max(d_i, W) < p_i for every task: `R_i = max(d_i, W)`.
/// - If n = 1 and there is no best effort: `R = drain(1)`, if that is at most p.
///
/// # Source
/// Own derivation, `docs/theory/draining.md` section 8. A unit stands for one request of a task's
/// jobs, n units in all. After the last dispatch, at t, let k requests be outstanding and m units
/// not on the drive, and let E = t + drain(k). Invariant: E is within the deadline of every unit on
/// the drive, and E + drain(m) is within the deadline of every other unit; the deadline of an
/// unreleased unit counts from max(t, its next release).
/// - A dispatch that the policy's conditions allow establishes the invariant by definition.
/// - A unit on the drive completes by E <= deadline <= release + p, so it is not released again
///   before E. At the instant T <= E at which the drive empties, the waiting units are therefore
///   some of the m and the units released at T itself, due at T + d_i >= T + W.
/// - Of the waiting units among the m, let U be those due before T + W. |U| <= m, so
///   `T + drain(|U|)` is within their deadlines. Every other waiting or unreleased unit is due at
///   T + W or later, and `drain(|U|) + drain(n - |U|) <= W`. U comes first in deadline order. So
///   the conditions allow some number of the units that are due first (all of them, if U is empty),
///   and the policy, which takes such a number, keeps the invariant.
/// - A unit that is released while the drive is empty is due at least W later: the same argument
///   applies with U empty.
///
/// Second case of the bound: the conditions use d_i, so they hold for max(d_i, W) too. No unit on
/// the drive is released again at E, so every unit waiting at T is among the m, and they may be
/// sent together whether or not the conditions with d_i allow it.
///
/// `E + drain(n) <= next release + d_i` for units on the drive, the condition for best effort only,
/// follows from E <= deadline <= next release and drain(n) <= W <= d_i.
///
/// # Assumptions
/// Checked: d_i <= p_i, and n within the drive's depth and drain table. d_i = p_i requires that
/// completions are observed before releases at the same instant, as `tidegate_host::Host` does.
///
/// # Errors
/// A sentence, without its full stop, that says why the analysis does not apply.
///
/// # Complexity
/// O(n + tasks), and O(K n) to find the best-effort depth.
pub(crate) fn choose(workload: &Workload, tasks: &[SporadicTask]) -> Result<Choice, &'static str> {
    let drain = Drain::of(workload).ok_or(drain::UNKNOWN)?;
    let is_shared = !workload.best_effort.is_empty();
    let units = units(tasks, drain)?;
    let tight = responses(tasks, units, drain, is_shared);
    let bounds = tight.into_iter().map(|tight| Bounds { tight, ..Bounds::default() });
    let mut premises: Premises = drain::premises().into_iter().collect();
    if !is_alone(units, is_shared) {
        premises.push(Premise::new(PremiseCode::BoundIsDeadline, "bounds at the deadline", BOUND));
    }
    if is_shared && !flows_in_pauses(tasks, units, drain) {
        premises.push(Premise::new(PremiseCode::BestEffortPauses, "pauses of best effort", PAUSES));
    }
    let best_effort_depth = Some(best_effort_depth(tasks, units, drain, workload.depth));
    // An empty drive gets at most n real-time requests together.
    let batch_max = units.clamp(1, workload.table.batch_max());
    let choice = Choice::of_batches(batch_max, 0, bounds.collect());
    Ok(Choice { best_effort_depth, premises, ..choice })
}

/// Returns whether these tasks are provable on the workload's drive together with its best effort.
pub(crate) fn is_provable(workload: &Workload, tasks: &[SporadicTask]) -> bool {
    let Some(drain) = Drain::of(workload) else { return false };
    let Ok(units) = units(tasks, drain) else { return false };
    let bounds = responses(tasks, units, drain, !workload.best_effort.is_empty());
    let is_within = |(task, tight): (&SporadicTask, Option<Duration>)| {
        is_met(task, &Bounds { tight, ..Bounds::default() })
    };
    tasks.iter().zip(bounds).all(is_within)
}

/// Returns n, the number of units, or the reason why the analysis does not apply.
fn units(tasks: &[SporadicTask], drain: Drain<'_>) -> Result<u32, &'static str> {
    if tasks.iter().any(|task| task.deadline > task.period) {
        return Err(DEADLINE_BEYOND_PERIOD);
    }
    let units: u64 = tasks.iter().map(|task| u64::from(task.requests)).sum();
    u32::try_from(units).ok().filter(|&units| units <= drain.count_max()).ok_or(TOO_MANY)
}

const fn is_alone(units: u32, is_shared: bool) -> bool {
    units <= 1 && !is_shared
}

/// Returns whether one best-effort request may be sent while every task may release at any time.
fn flows_in_pauses(tasks: &[SporadicTask], units: u32, drain: Drain<'_>) -> bool {
    let shortest = tasks.iter().map(|task| task.deadline).min();
    let takes = drain.times(1, units);
    shortest.is_none_or(|shortest| takes.is_some_and(|takes| takes <= shortest))
}

fn responses(
    tasks: &[SporadicTask],
    units: u32,
    drain: Drain<'_>,
    is_shared: bool,
) -> Vec<Option<Duration>> {
    let none = vec![None; tasks.len()];
    let Some(worst) = worst_pair(units, drain) else { return none };
    if is_alone(units, is_shared) {
        return tasks.iter().map(|task| Some(worst).filter(|&r| r <= task.period)).collect();
    }
    let is_proven = tasks.iter().all(|task| worst <= task.deadline);
    let is_bounded = tasks.iter().all(|task| task.deadline.max(worst) < task.period);
    if is_proven || is_bounded {
        return tasks.iter().map(|task| Some(task.deadline.max(worst))).collect();
    }
    none
}

/// Returns W: the longest time of two successive drains that together have n = `units` requests.
/// `None` on overflow.
fn worst_pair(units: u32, drain: Drain<'_>) -> Option<Duration> {
    let pairs = (0..units).map(|first| drain.times(first, units - first));
    pairs
        .collect::<Option<Vec<Duration>>>()
        .map(|pairs| pairs.into_iter().max().unwrap_or_default())
}

/// Returns the largest number q of best-effort requests that can ever be on the drive, beside any
/// number f of units. The gate needs `drain(q + f) + drain(n - f)` before every task's next
/// deadline, which is less than p_i + d_i away for a unit that completed at the instant of its
/// release.
fn best_effort_depth(tasks: &[SporadicTask], units: u32, drain: Drain<'_>, depth: u32) -> u32 {
    let next_due = |task: &SporadicTask| task.period.checked_add(task.deadline);
    let Some(next_due) = tasks.iter().map(|task| next_due(task).unwrap_or(Duration::MAX)).min()
    else {
        return depth;
    };
    let fits = |count: u32, beside: u32| {
        let time = count.checked_add(beside).and_then(|all| drain.times(all, units - beside));
        time.is_some_and(|time| time <= next_due)
    };
    let is_possible = |&count: &u32| (0..=units).any(|beside| fits(count, beside));
    (1..=drain.count_max()).rev().find(is_possible).unwrap_or(0)
}

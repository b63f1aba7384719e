// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The theorems by which a stated response is proved to be a bound.
//!
//! | argument | statement | machine-checked |
//! |---|---|---|
//! | linear | Lemma 9.2.2, corrected | `proofs/Window.v`, `linear` |
//! | busy interval | Lemma 9.2.4, corrected | `proofs/Window.v`, `busy_interval` |
//! | minimum period | Theorem 9.2.7, corrected | `proofs/MinPeriod.v`, `min_period` |
//! | backlog | Theorems 1 (A), 2 and 3 | `proofs/Backlog.v`, `dqf_backlog_bound` |
//! | window, and the minimum of all | Theorem 1 | `proofs/FixedPoint.v`, `theorem_1` |
//! | costs, E <= z | 11.1 and 11.2 | `proofs/Costs.v`, `two_batches_of_costs`, `one_task_of_costs` |
//! | backlog under `dq-edf`, E <= z | Theorems 2 and 3, any order | `proofs/DqEdf.v`, `dq_edf` |

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::certificate::{BacklogStep, Certificate};
use crate::costs;
use crate::refusal::{Refusal, StepFault};
use crate::system::{HORIZON, System};
use crate::window;

/// The bounds that the theorems prove.
pub(crate) struct Bounds {
    /// The smallest proved bound of each task; `None` if no theorem applies.
    pub(crate) responses: Vec<Option<u128>>,
    /// The number of tasks whose stated R only the window argument can prove.
    pub(crate) by_window: usize,
}

/// Returns the smallest bound of each task that the theorems prove.
pub(crate) fn bounds(certificate: &Certificate, system: &System) -> Result<Bounds, Refusal> {
    let alone = if system.is_fifo {
        let busy = busy_interval(certificate, system)?;
        [busy, linear(system), min_period(system)].into_iter().flatten().min()
    } else {
        None
    };
    let backlog = backlog(certificate, system)?;
    let (mut by_window, mut is_sound) = (0, true);
    for (index, task) in system.tasks.iter().enumerate() {
        // R of Theorem 1: every task must satisfy F_k(R) <= R_k, by one of the parts of F_k.
        let Some(r) = task.r else {
            is_sound = false;
            break;
        };
        let is_by_others =
            alone.is_some_and(|alone| alone <= r) || backlog.get(&task.e).is_some_and(|&a| a <= r);
        by_window += usize::from(!is_by_others);
        let is_by_window = || {
            system.is_fifo && window::response(system, index).is_some_and(|longest| longest <= r)
        };
        is_sound &= is_by_others || is_by_window();
    }
    let by_costs = costs::response(certificate, system)?;
    let tight = system.tasks.iter().map(|task| task.r.filter(|_| is_sound));
    let responses = tight.map(|tight| [tight, alone, by_costs].into_iter().flatten().min());
    Ok(Bounds { responses: responses.collect(), by_window })
}

/// Returns (x + 1) b(z) if the requests that are released in x b(z) fit into x batches.
fn busy_interval(certificate: &Certificate, system: &System) -> Result<Option<u128>, Refusal> {
    let Some(stated) = &certificate.busy_interval else { return Ok(None) };
    let x = u128::from(stated.batches);
    let length = (x * system.full()).min(HORIZON.into());
    let released = system.half_open(length);
    if x == 0
        || length == u128::from(HORIZON)
        || released > x * system.z
        || released != u128::from(stated.released)
    {
        return Err(Refusal::WindowOpen { batches: stated.batches, released });
    }
    Ok(Some((x + 1) * system.full()))
}

/// Returns b(z) (E - 1) / z + 2 b(z), rounded up, if sum e / p <= z / b(z).
fn linear(system: &System) -> Option<u128> {
    // Each share is rounded up to a multiple of 2^-64, so a workload exactly at the limit may be
    // rejected.
    let share = |work: u128, period: u128| {
        let whole = (work / period).checked_mul(1 << 64)?;
        whole.checked_add(((work % period) << 64).div_ceil(period))
    };
    let mut used: u128 = 0;
    for task in &system.tasks {
        used = used.checked_add(share(task.e.checked_mul(system.full())?, task.p)?)?;
    }
    let is_within = used <= system.z << 64;
    let work = system.full() * system.sum().checked_sub(1)?;
    is_within.then(|| work.div_ceil(system.z) + 2 * system.full())
}

/// Returns h + b(E mod z) with h = (floor(E / z) + 1) b(z), if every period exceeds h and there is
/// no best effort.
fn min_period(system: &System) -> Option<u128> {
    let h = (system.sum() / system.z + 1) * system.full();
    let is_short = system.tasks.iter().any(|task| task.p <= h);
    let holds = !is_short && !system.has_best_effort();
    holds.then(|| h + system.cost(system.sum() % system.z))
}

/// Returns A for each number of requests of a job. Empty if some R is not below its task's period.
/// Also empty if the policy does not serve requests in the order of their release and the requests
/// of all tasks do not fit into one batch.
fn backlog(certificate: &Certificate, system: &System) -> Result<BTreeMap<u128, u128>, Refusal> {
    let mut longest = BTreeMap::new();
    let is_below = system.tasks.iter().all(|task| task.r.is_some_and(|r| r < task.p));
    let may_reorder = system.is_fifo || system.sum() <= system.z;
    if !is_below || !may_reorder || certificate.backlog.is_empty() {
        return Ok(longest);
    }
    for (index, task) in system.tasks.iter().enumerate() {
        let Entry::Vacant(entry) = longest.entry(task.e) else { continue };
        let step = certificate.backlog.iter().find(|step| u128::from(step.requests) == task.e);
        let fault = |what| Refusal::Step { requests: u64::try_from(task.e).unwrap_or(0), what };
        let step = step.ok_or_else(|| fault(StepFault::Tasks))?;
        entry.insert(backlog_step(step, system, index).map_err(fault)?);
    }
    Ok(longest)
}

fn backlog_step(step: &BacklogStep, system: &System, task: usize) -> Result<u128, StepFault> {
    let sum = system.sum();
    let most = system.z.min(sum - system.tasks[task].e);
    let mut carry_ins = system.totals(most, Some(task));
    if system.z <= sum - system.tasks[task].e {
        carry_ins.insert(system.z);
    }
    // The certificate may also state sizes that the tasks cannot form, because they can only raise
    // the bound.
    let stated: Vec<u128> = step.carry_ins.iter().map(|&y| y.into()).collect();
    if !carry_ins.iter().all(|y| stated.contains(y)) || stated.iter().any(|&y| y > most) {
        return Err(StepFault::CarryIns);
    }
    let response = |y: u128| {
        let batches = (sum - y).div_ceil(system.z);
        let last = system.z.min(if batches == 1 { sum - y } else { sum - system.z });
        (batches, last, system.cost(y) + (batches - 1) * system.full() + system.cost(last))
    };
    let (in_flight, own) = (u128::from(step.in_flight), u128::from(step.response_ns));
    let as_stated = (step.batches.into(), step.last.into(), own);
    if !stated.contains(&in_flight) || response(in_flight) != as_stated {
        return Err(StepFault::Sum);
    }
    if stated.iter().any(|&y| response(y).2 > own) {
        return Err(StepFault::NotLongest);
    }
    Ok(own)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for `dqf-elastic`: dual-queue FIFO until more requests are queued than the contracts
//! allow.
//!
//! Own derivation. A run is the same as under `dqf` until more than `N = sum e_i ceil(d_i / p_i)`
//! real-time requests are queued for the first time. Until then every response is within its bound
//! `R_i`, so at most `sum e_i ceil(R_i / p_i)` requests are pending: those released in
//! `(t - R_i, t]`. For a task that limits its outstanding jobs, neither sum counts more jobs than
//! the limit. If the sum is at most N, no batch ever exceeds z, and the bounds of `dqf` hold.

use tidegate_model::{Premise, PremiseCode, Task, Workload};

use crate::batch_choice::Choice;
use crate::bounds::Bounds;

/// Adapts the choice made for `dqf` to `dqf-elastic`.
pub(crate) fn of_dqf(workload: &Workload, mut choice: Choice) -> Choice {
    choice.premises.push(Premise::new(
        PremiseCode::ElasticBatches,
        "elastic batches",
        "the bounds are those of dqf: batches larger than z are sent only while more requests \
         are queued than the contracts allow",
    ));
    if !is_overload_excluded(&workload.tasks, &choice.bounds) {
        choice.bounds.fill(Bounds::default());
    }
    choice
}

/// Returns whether tasks that keep their contracts can never look like an overload.
fn is_overload_excluded(tasks: &[Task], bounds: &[Bounds]) -> bool {
    let pending_max = |task: &Task, within| u128::from(task.requests_pending_max(within));
    let in_contract: u128 = tasks.iter().map(|task| pending_max(task, task.deadline)).sum();
    let pending = |(task, bounds): (&Task, &Bounds)| {
        let (response, _) = bounds.least()?;
        Some(pending_max(task, response))
    };
    let pending: Option<u128> = tasks.iter().zip(bounds).map(pending).sum();
    pending.is_some_and(|pending| pending <= in_contract)
}

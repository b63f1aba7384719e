// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bound by the costs of requests, `docs/theory/requests-of-different-kinds.md`, equations 11.1
//! and 11.2. It is valid if each batch can take every queued request and the bound is below every
//! period.

use crate::certificate::Certificate;
use crate::refusal::Refusal;
use crate::system::{HORIZON, System};

/// Returns the common bound of all tasks; `None` if the certificate states no costs or the bound is
/// not valid.
pub(crate) fn response(
    certificate: &Certificate,
    system: &System,
) -> Result<Option<u128>, Refusal> {
    let Some(stated) = &certificate.costs else { return Ok(None) };
    // (c, e) of each task.
    let of_task = |task: &crate::CertifiedTask| Some((task.cost_ns?, task.requests));
    let tasks: Option<Vec<(u64, u64)>> = certificate.tasks.iter().map(of_task).collect();
    let mut tasks = tasks.ok_or(Refusal::Costs)?;
    let costs = tasks.iter().map(|&(cost, _)| cost);
    if costs.chain([stated.positioning_ns, stated.best_effort_ns]).any(|ns| ns > HORIZON) {
        return Err(Refusal::Costs);
    }
    let (positioning, best_effort) =
        (u128::from(stated.positioning_ns), u128::from(stated.best_effort_ns));
    // C is the cost of all requests of the tasks; M is the cost of the beta most expensive
    // requests, of tasks or of best effort.
    let all: u128 = tasks.iter().map(|&(cost, e)| u128::from(cost) * u128::from(e)).sum();
    tasks.sort_unstable_by(|a, b| b.cmp(a));
    let (mut left, mut most) = (system.beta, 0);
    for (cost, e) in tasks {
        let taken = u128::from(e).min(left);
        most += taken * u128::from(cost).max(best_effort);
        left -= taken;
    }
    most += left * best_effort;
    let is_alone = system.tasks.len() == 1 && !system.has_best_effort();
    let response = if is_alone {
        positioning + all
    } else {
        2 * positioning + system.beta * best_effort + all.max(most)
    };
    let holds = system.sum() <= system.z && system.tasks.iter().all(|task| response < task.p);
    Ok(holds.then_some(response))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bound of the gated drain, `docs/theory/draining.md`, section 8. Machine-checked:
//! `proofs/GatedDrain.v`, `gated_drain` and `gated_alone`.

use crate::arguments::Bounds;
use crate::certificate::{Certificate, Drain};
use crate::refusal::Refusal;
use crate::system::HORIZON;

/// Returns the bound of each task: its deadline if W <= d <= p for every task; or drain(1) if there
/// is only a single request and no best effort.
pub(crate) fn bounds(certificate: &Certificate, drain: &Drain) -> Result<Bounds, Refusal> {
    let tasks = &certificate.tasks;
    for task in tasks {
        if task.period_ns == 0 || task.requests == 0 {
            return Err(Refusal::Task { task: task.name.clone() });
        }
    }
    // n, and drain(0) to drain(K).
    let requests = tasks.iter().map(|task| u128::from(task.requests)).sum::<u128>();
    let times: Vec<u64> = std::iter::once(0).chain(drain.ns_max.iter().copied()).collect();
    let is_long = times.iter().any(|&ns| ns > HORIZON);
    let n = usize::try_from(requests).ok().filter(|&n| n < times.len());
    let n = n.filter(|_| certificate.policy == "gated-drain" && times.is_sorted() && !is_long);
    let n = n.ok_or(Refusal::Drain { requests })?;
    let bounds = if n == 1 && !drain.has_best_effort {
        tasks.iter().map(|task| Some(times[1]).filter(|&ns| ns <= task.period_ns)).collect()
    } else {
        let worst = (0..n).map(|first| times[first] + times[n - first]).max().unwrap_or(0);
        let holds = tasks
            .iter()
            .all(|task| worst <= task.deadline_ns && task.deadline_ns <= task.period_ns);
        tasks.iter().map(|task| Some(task.deadline_ns).filter(|_| holds)).collect::<Vec<_>>()
    };
    let responses = bounds.into_iter().map(|bound| bound.map(u128::from)).collect();
    Ok(Bounds { responses, by_window: 0 })
}

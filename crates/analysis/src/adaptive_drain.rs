// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for `adaptive-drain`: one task whose jobs have one request, with best effort admitted
//! until the latest safe instant.

use tidegate_model::{Duration, Premise, PremiseCode, Premises, Workload};

use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::Bounds;
use crate::drain::{self, Drain};

const ONE_TASK: &str = "adaptive-drain is proven for one task whose jobs have one request; use \
     gated-drain for several tasks or larger jobs";

const DEADLINE_BEYOND_PERIOD: &str = "adaptive-drain is proven only if the deadline is within the period: \
     beyond it two jobs of the task can be pending at once";

const BOUND: &str = "beside best effort the bound is the deadline itself: best effort gets all the time \
     before the deadline that the task does not need";

/// Returns the best-effort depth and the bounds for a single task.
///
/// # Bound
/// `R = drain(1)` without best effort and `R = max(D, drain(1))` with it, if R <= p.
///
/// With best effort and `drain(2) <= D` no smaller bound exists. Let Dabs be the job's absolute
/// deadline and k the number of requests on the drive. The drive may hold all k until
/// `Dabs - drain(k)`, complete one best-effort request, receive another (the policy's first
/// condition holds with equality) and complete all k at Dabs.
///
/// # Source
/// Own derivation, `docs/theory/draining.md` section 8. After the last dispatch at t, every
/// outstanding request completes by t + drain(k). The policy's conditions keep t + drain(k) within
/// the deadline of a job on the drive. They also either leave room to send the next job immediately
/// and complete it within D, or empty the drive early enough to send it alone. If D < drain(1), the
/// gate admits best effort only while the drive is certain to be empty at the next release.
///
/// # Assumptions
/// One task whose jobs have one request, and D <= p; both are checked. D = p requires that
/// completions are observed before releases at the same instant, as `tidegate_host::Host` does (see
/// its protocol with policies); otherwise D < p is required.
///
/// # Errors
/// A sentence, without its full stop, that says why the analysis does not apply.
pub(crate) fn choose(workload: &Workload, tasks: &[SporadicTask]) -> Result<Choice, &'static str> {
    let drain = Drain::of(workload).ok_or(drain::UNKNOWN)?;
    let is_shared = !workload.best_effort.is_empty();
    let bounds = match tasks {
        [] => vec![],
        [task] => vec![Bounds { tight: response(*task, drain, is_shared)?, ..Bounds::default() }],
        _ => return Err(ONE_TASK),
    };
    let mut premises: Premises = drain::premises().into_iter().collect();
    if is_shared {
        premises.push(Premise::new(PremiseCode::BoundIsDeadline, "bounds at the deadline", BOUND));
    }
    let best_effort_depth = Some(best_effort_depth(tasks.first(), drain, workload.depth));
    Ok(Choice { best_effort_depth, premises, ..Choice::of_batches(1, 0, bounds) })
}

fn response(
    task: SporadicTask,
    drain: Drain<'_>,
    is_shared: bool,
) -> Result<Option<Duration>, &'static str> {
    if task.requests != 1 {
        return Err(ONE_TASK);
    }
    if task.deadline > task.period {
        return Err(DEADLINE_BEYOND_PERIOD);
    }
    let alone = drain.time(1).ok_or(drain::UNKNOWN)?;
    let response = if is_shared { alone.max(task.deadline) } else { alone };
    Ok(Some(response).filter(|&response| response <= task.period))
}

/// Returns the largest number of best-effort requests that can ever be on the drive. The limit is
/// highest just after a release whose request completed immediately: the next release is then
/// nearly a period away.
fn best_effort_depth(task: Option<&SporadicTask>, drain: Drain<'_>, depth: u32) -> u32 {
    let Some(task) = task else { return depth };
    let fits = |&count: &u32| {
        let is_within = |time: Option<Duration>, limit| time.is_some_and(|time| time <= limit);
        let next_due = task.period.checked_add(task.deadline).unwrap_or(Duration::MAX);
        is_within(drain.time(count + 1), task.deadline)
            || is_within(drain.times(count, 1), next_due)
    };
    (1..=drain.count_max()).rev().find(fits).unwrap_or(0)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `adaptive-drain`: one task of one request, best effort until the latest safe instant.

use tidegate_model::{Duration, Workload};

use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::Bounds;
use crate::drain::{self, Drain};

const ONE_TASK: &str = "adaptive-drain is proven for one task whose jobs have one request: gated-drain \
     serves several tasks and larger jobs";

const DEADLINE_BEYOND_PERIOD: &str = "adaptive-drain is proven only where the deadline is within the period: \
     beyond it two jobs of the task can be under way at once";

const BOUND: &str = "beside best effort the bound is the deadline itself: best effort gets all the time \
     that the deadline leaves";

/// What is promised to the one task.
///
/// # Bound
/// `R = drain(1)` without best effort, `R = max(D, drain(1))` with it, where R <= p.
///
/// With best effort and `drain(2) <= D` no smaller bound exists: the drive may hold
/// everything until `Dabs - drain(k)`, return one request of best effort, be given another
/// (the first condition holds with equality) and return all at Dabs.
///
/// # Source
/// Own derivation, `docs/theory/draining.md` section 8. After the last dispatch at t all that is outstanding
/// completes by t + drain(k). The conditions of the policy keep that within the due of a job
/// on the drive, and either leave room to send the next job at once and complete it within D,
/// or empty the drive early enough to send it alone. If D < drain(1) the gate lets best
/// effort pass only so long before the next release that the drive is empty when it comes.
///
/// # Assumptions
/// One task of one request and D <= p, checked. D = p needs completions to be observed
/// before releases of the same instant, which `tidegate_host::Host` does (its protocol with policies);
/// else D < p.
///
/// # Errors
/// Why the analysis says nothing, a sentence without its full stop.
pub(crate) fn choose(workload: &Workload, tasks: &[SporadicTask]) -> Result<Choice, &'static str> {
    let drain = Drain::of(workload).ok_or(drain::UNKNOWN)?;
    let is_shared = !workload.best_effort.is_empty();
    let bounds = match tasks {
        [] => vec![],
        [task] => vec![Bounds { tight: response(*task, drain, is_shared)?, ..Bounds::default() }],
        _ => return Err(ONE_TASK),
    };
    let mut assumptions = vec![drain::CONTRACT.to_owned(), drain::TIE.to_owned()];
    if is_shared {
        assumptions.push(BOUND.to_owned());
    }
    let best_effort_depth = Some(best_effort_depth(tasks.first(), drain, workload.depth));
    Ok(Choice { best_effort_depth, assumptions, ..Choice::of_batches(1, 0, bounds) })
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

/// The most best effort that can ever be on the drive: room is largest just after a release
/// whose request completed at once, when the next release is nearly a period away.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for `scan-edf`: earliest deadline first, where deadlines in the same window count as
//! equal and their requests may be served in any order.

use tidegate_model::{Duration, Verdict, Workload};

use crate::batch_choice::Choice;
use crate::bounds::{Bounds, bound_of};
use crate::budget::Budget;
use crate::search::{largest, verdict};
use crate::system::{is_shared, single};
use crate::{Inapplicable, SporadicTask, System, Tasks, edf};

const WINDOW_TOO_WIDE: &str = "the window of scan-edf must be shorter than every deadline: write a \
     shorter one under [policy.scan-edf]";

/// Returns the response-time bound of each task under EDF in consecutive windows of this width, the
/// first of which may begin at any instant; with best effort if `is_shared`.
///
/// # Bound
/// `R_i = d_i - x` for every task, with the window's width w and the largest x >= 0 for which EDF
/// meets the deadlines `d_i - w - x`. Without such an x there is no bound.
///
/// # Source
/// Own derivation, `docs/theory/by-deadline.md` section 32. For equal deadlines only: A. L. N.
/// Reddy and J. Wyllie, "Disk Scheduling in a Multimedia I/O System", ACM Multimedia, 1993, without
/// a proof.
///
/// # Errors
/// None: if a window is not shorter than every deadline, the verdicts say that there is no bound.
///
/// # Complexity
/// The cost of the deadline test in [`edf`], times the logarithm of the shortest deadline in ns,
/// within one budget. If the budget ends first, x is smaller.
pub fn responses(
    system: &System,
    window: Duration,
    is_shared: bool,
) -> Result<Vec<Verdict>, Inapplicable> {
    let budget = Budget::of_tasks(system.tasks.len());
    let early = earliness_ns(system, window, is_shared, &budget);
    let bound = |task: &SporadicTask| verdict(early.map(|early| task.deadline.ns() - early));
    Ok(system.tasks.iter().map(bound).collect())
}

/// Returns x in ns; `None` if deadlines can be missed.
fn earliness_ns(
    system: &System,
    window: Duration,
    is_shared: bool,
    budget: &Budget,
) -> Option<u64> {
    let is_met = |early: u64| {
        let width = window.checked_add(Duration::from_ns(early));
        width.is_some_and(|width| are_met(system, width, is_shared, budget))
    };
    let shortest = system.tasks.iter().map(|task| task.deadline.ns()).min()?;
    is_met(0).then(|| largest(0..=shortest, is_met))
}

fn are_met(system: &System, window: Duration, is_shared: bool, budget: &Budget) -> bool {
    let earlier = |task: &SporadicTask| {
        let deadline = task.deadline.checked_sub(window).filter(|left| !left.is_zero())?;
        Some(SporadicTask { deadline, ..*task })
    };
    let earlier: Option<Vec<SporadicTask>> = system.tasks.iter().map(earlier).collect();
    let narrowed = earlier.map(|tasks| System { tasks: Tasks::from(tasks), ..system.clone() });
    narrowed.is_some_and(|it| edf::are_deadlines_met(&it, is_shared, budget))
}

/// Returns the choice for `scan-edf`.
///
/// # Errors
/// A sentence, without its full stop, that says why the analysis does not apply.
pub(crate) fn choose(workload: &Workload, tasks: &Tasks) -> Result<Choice, &'static str> {
    let window = workload.parameters.scan_edf.window;
    if tasks.iter().any(|task| task.deadline <= window) {
        return Err(WINDOW_TOO_WIDE);
    }
    let verdicts = responses(&single(workload, tasks), window, is_shared(workload));
    let bound = |task| Bounds { tight: bound_of(&verdicts, task), ..Bounds::default() };
    Ok(Choice::of_batches(1, 0, (0..tasks.len()).map(bound).collect()))
}

/// Returns whether every deadline is met; `false` if the budget ends first.
pub(crate) fn are_deadlines_met(workload: &Workload, tasks: &Tasks, budget: &Budget) -> bool {
    let window = workload.parameters.scan_edf.window;
    are_met(&single(workload, tasks), window, is_shared(workload), budget)
}

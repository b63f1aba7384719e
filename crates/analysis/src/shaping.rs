// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How traffic shaping above a policy, and buffers inside a task, affect bounds.
//!
//! A shaper passes hard and soft real-time requests immediately and delays best effort, so a bound
//! that does not depend on the arrival of best effort still holds. A bound fails if shaping changes
//! the requests that its proof counted: see [`objection`].

use tidegate_model::parameters::Shaping;
use tidegate_model::{
    Class, Duration, Intensity, PolicyName, Premise, PremiseCode, RegulatorName, Task, Theorem,
    Workload,
};

use crate::bounds::Bounds;
use crate::{SporadicTask, Tasks};

/// Returns the parameters of the shapers around the policy.
fn shapers(workload: &Workload) -> impl Iterator<Item = Shaping> {
    let parameters = &workload.parameters;
    workload.regulators.iter().filter_map(|regulator| match regulator {
        RegulatorName::TokenBucket => Some(parameters.token_bucket.shaping),
        RegulatorName::Mdn => Some(parameters.mdn.shaping),
        RegulatorName::MdnExtended => Some(parameters.mdn_extended.shaping),
        RegulatorName::DepthLimit | RegulatorName::TokensPerTask => None,
    })
}

/// The reason for refusing deadlines that a task's buffers do not cover. A policy that decides by
/// deadlines uses all the time before them. A task with m buffers keeps its period only for
/// responses within m periods. With a longer deadline it may be served so late that its next jobs
/// are closer together than a period, which breaks its contract and the bounds of the other tasks.
const BUFFERS: &str = "a task has a deadline longer than its `outstanding` jobs cover (jobs x period), and a \
     policy that decides by deadlines would let it fall behind its period; shorten the deadline, or \
     give it more `outstanding`";

/// Returns the reason why no bound of this policy holds behind the workload's shapers, as a
/// sentence without its full stop.
///
/// - Streams that are detected among best effort become real-time requests that no proof counted.
/// - Interactive tasks that wait for tokens are released closer together behind the bucket than
///   their contract says.
/// - Open-loop best-effort requests also come closer together: they gather while the shaper's rate
///   is low and arrive together when it rises. Only the proof of `fifo` counts them, so only its
///   bound fails.
///
/// With or without shapers, the reason may also be a task with buffers: see [`BUFFERS`].
pub(crate) fn objection(workload: &Workload, policy: PolicyName) -> Option<&'static str> {
    let is_beyond_buffers = |task: &Task| response_limit(task) < task.deadline;
    let theorem = policy.facts().theorem.map(Theorem::facts);
    let decides_by_deadline = theorem.is_ok_and(|theorem| theorem.decides_by_deadline);
    if decides_by_deadline && workload.tasks.iter().any(is_beyond_buffers) {
        return Some(BUFFERS);
    }
    let is_open = |intensity: Intensity| intensity.requests_max().is_none();
    let counts_ahead = theorem.is_ok_and(|theorem| theorem.counts_best_effort_ahead);
    let has_open_loop = workload.best_effort.iter().any(|load| is_open(load.intensity));
    let has_interactive = workload.tasks.iter().any(|task| task.class == Class::Interactive);
    shapers(workload).find_map(|shaping| {
        if shaping.is_detecting {
            Some(
                "periodic streams that `detect` finds among best effort count as real time, \
                 and no proof knows them in advance",
            )
        } else if shaping.interactive_rate.is_some() && has_interactive {
            Some(
                "`interactive_rate` delays interactive tasks, and then their jobs are \
                 closer together than a period",
            )
        } else if has_open_loop && counts_ahead {
            Some(
                "open-loop best effort gathers while it is shaped and may then arrive all \
                 at once, and under `fifo` it is ahead of real time",
            )
        } else {
            None
        }
    })
}

/// Returns the premise about the workload's shapers.
pub(crate) fn premise(workload: &Workload) -> Option<Premise> {
    let text = "best effort is shaped above the policy: shaping only delays it, and the bounds are \
                those without shaping";
    let shaped = |_| Premise::new(PremiseCode::ShapedBestEffort, "shaped best effort", text);
    shapers(workload).next().map(shaped)
}

/// Returns the longest response with which a task keeps both its deadline and its period. A task
/// with m buffers that waits longer than m periods for a job releases the next ones late, and
/// closer together than a period.
pub fn response_limit(task: &Task) -> Duration {
    let buffered = task.outstanding_max.and_then(|jobs| task.period.checked_mul(u64::from(jobs)));
    buffered.map_or(task.deadline, |buffered| task.deadline.min(buffered))
}

/// Returns the tasks in the form that the analyses take.
pub(crate) fn sporadic(tasks: &[Task]) -> Tasks {
    let sporadic = |task: &Task| SporadicTask {
        period: task.period,
        requests: task.requests,
        deadline: response_limit(task),
    };
    tasks.iter().map(sporadic).collect()
}

/// Returns the bounds if every task with buffers keeps its period, otherwise none.
///
/// # Bound
/// The first job that had to wait would find m jobs pending before it, the oldest of them for m
/// periods. Until then all tasks were sporadic, so the task's bound of at most m p excludes this.
pub(crate) fn while_in_rhythm(tasks: &[Task], bounds: Vec<Bounds>) -> Vec<Bounds> {
    let least = bounds.iter().map(|bounds| bounds.least().map(|(bound, _)| bound));
    let is_kept = are_in_rhythm(tasks, &least.collect::<Vec<_>>());
    if is_kept { bounds } else { vec![Bounds::default(); bounds.len()] }
}

/// Returns whether responses within these bounds let every task with buffers keep its period.
pub(crate) fn are_in_rhythm(tasks: &[Task], bounds: &[Option<Duration>]) -> bool {
    tasks.iter().zip(bounds).all(|(task, bound)| {
        task.outstanding_max.is_none() || bound.is_some_and(|bound| bound <= response_limit(task))
    })
}

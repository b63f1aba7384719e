// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What traffic shaping above a policy, and buffers inside a task, do to its bounds.
//!
//! A shaper lets hard and soft real time pass at once and holds best effort back, so a bound
//! stands that does not ask when best effort comes. It falls where shaping changes what the
//! proof counted: see [`objection`].

use tidegate_model::parameters::Shaping;
use tidegate_model::{
    Class, Deadlines, Duration, Intensity, PolicyFacts, PolicyName, RegulatorName, Task, Workload,
};

use crate::bounds::Bounds;

/// The shapers round a policy.
fn shapers(workload: &Workload) -> impl Iterator<Item = Shaping> {
    let parameters = &workload.parameters;
    workload.regulators.iter().filter_map(|regulator| match regulator {
        RegulatorName::TokenBucket => Some(parameters.token_bucket.shaping),
        RegulatorName::Mdn => Some(parameters.mdn.shaping),
        RegulatorName::MdnExtended => Some(parameters.mdn_extended.shaping),
        RegulatorName::DepthLimit | RegulatorName::TokensPerTask => None,
    })
}

/// A policy that decides by deadlines spends all the time that they leave. A task with m
/// buffers keeps its rhythm only within m periods: with a longer deadline it may be served so
/// late that its next jobs come closer to each other than a period, which breaks its contract
/// and with it the bounds of the others.
const BUFFERS: &str = "a task has a deadline longer than its `outstanding` jobs cover (jobs x period), and a \
     policy that decides by deadlines would let it fall behind its rhythm; shorten the deadline, or \
     give it more `outstanding`";

/// Whether deadlines decide how long a task may wait under the policy, and bounds follow from it.
fn is_bounded_by_deadlines(facts: &PolicyFacts) -> bool {
    let is_decided = match facts.deadlines {
        Deadlines::Decide => true,
        Deadlines::Ignored => false,
    };
    is_decided && facts.theorem.is_ok()
}

/// Why no bound of this policy holds behind the shapers of the workload, a sentence without its
/// full stop.
///
/// - Streams that are found among best effort become real time that no proof counted.
/// - Interactive tasks that wait for tokens are released closer to each other behind the bucket
///   than their contract says.
/// - So are the requests of an open loop: they gather while the rate is low and come together
///   when it rises. The proof of `fifo` counts them, the others do not.
///
/// And why none holds for tasks with buffers, whatever shapes: see [`BUFFERS`].
pub(crate) fn objection(workload: &Workload, policy: PolicyName) -> Option<&'static str> {
    let is_beyond_buffers = |task: &Task| response_limit(task) < task.deadline;
    let facts = policy.facts();
    if is_bounded_by_deadlines(&facts) && workload.tasks.iter().any(is_beyond_buffers) {
        return Some(BUFFERS);
    }
    let is_open = |intensity| matches!(intensity, Intensity::Rate(_));
    let is_fifo = facts.has_common_queue && facts.theorem.is_ok();
    let has_open_loop = workload.best_effort.iter().any(|load| is_open(load.intensity));
    let has_interactive = workload.tasks.iter().any(|task| task.class == Class::Interactive);
    shapers(workload).find_map(|shaping| {
        if shaping.is_detecting {
            Some(
                "periodic streams that `detect` finds among best effort count as real time, \
                 and no proof knows them beforehand",
            )
        } else if shaping.interactive_rate.is_some() && has_interactive {
            Some(
                "`interactive_rate` holds interactive tasks back, and then their jobs come \
                 closer to each other than a period",
            )
        } else if has_open_loop && is_fifo {
            Some(
                "best effort that comes at a rate of its own gathers while it is shaped and \
                 may then come all at once, and under `fifo` it stands ahead of real time",
            )
        } else {
            None
        }
    })
}

/// What a reader must know of the shapers of the workload, a sentence without its full stop.
pub(crate) fn note(workload: &Workload) -> Option<String> {
    shapers(workload).next().map(|_| {
        "best effort is shaped above the policy: it only comes later, and the bounds are those \
         without shaping"
            .to_owned()
    })
}

/// The longest response by which a task keeps both its deadline and its rhythm: a task with m
/// buffers that waits longer than m periods for a job releases the next ones late, and closer
/// to each other than a period.
pub(crate) fn response_limit(task: &Task) -> Duration {
    let buffered = task.outstanding_max.and_then(|jobs| task.period.checked_mul(u64::from(jobs)));
    buffered.map_or(task.deadline, |buffered| task.deadline.min(buffered))
}

/// The bounds as long as every task with buffers keeps its rhythm, else none.
///
/// # Bound
/// The first job that had to wait would have m jobs before it under way, the oldest for m
/// periods: until then all tasks were sporadic, so its bound, m p at most, excludes it.
pub(crate) fn while_in_rhythm(tasks: &[Task], bounds: Vec<Bounds>) -> Vec<Bounds> {
    let least = bounds.iter().map(|bounds| bounds.least().map(|(bound, _)| bound));
    let is_kept = are_in_rhythm(tasks, &least.collect::<Vec<_>>());
    if is_kept { bounds } else { vec![Bounds::default(); bounds.len()] }
}

/// Whether responses within these bounds let every task with buffers keep its rhythm.
pub(crate) fn are_in_rhythm(tasks: &[Task], bounds: &[Option<Duration>]) -> bool {
    tasks.iter().zip(bounds).all(|(task, bound)| {
        task.outstanding_max.is_none() || bound.is_some_and(|bound| bound <= response_limit(task))
    })
}

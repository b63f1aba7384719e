// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What traffic shaping above a policy, and buffers inside a task, do to its bounds.
//!
//! A shaper lets hard and soft real time pass at once and holds best effort back, so a bound
//! stands that does not ask when best effort comes. It falls where shaping changes what the
//! proof counted: see [`objection`].

use model::parameters::Shaping;
use model::{Class, Duration, Intensity, PolicyName, RegulatorName, Task, Workload};

use crate::SporadicTask;
use crate::bounds::{Bounds, is_met};

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

/// Why no bound of this policy holds behind the shapers of the workload, a sentence without its
/// full stop.
///
/// - Streams that are found among best effort become real time that no proof counted.
/// - Interactive tasks that wait for tokens are released closer to each other behind the bucket
///   than their contract says.
/// - So are the requests of an open loop: they gather while the rate is low and come together
///   when it rises. The proof of `fifo` counts them, the others do not.
pub(crate) fn objection(workload: &Workload, policy: PolicyName) -> Option<&'static str> {
    let is_open = |intensity| matches!(intensity, Intensity::Rate(_));
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
        } else if has_open_loop && policy == PolicyName::Fifo {
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
pub(crate) fn while_in_rhythm(
    tasks: &[Task],
    sporadic: &[SporadicTask],
    bounds: Vec<Bounds>,
) -> Vec<Bounds> {
    let mut each = tasks.iter().zip(sporadic).zip(&bounds);
    let is_kept = each.all(|((task, sporadic), bounds)| {
        task.outstanding_max.is_none() || is_met(sporadic, bounds)
    });
    if is_kept { bounds } else { vec![Bounds::default(); bounds.len()] }
}

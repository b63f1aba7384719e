// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The curves that show a bound to readers: the requests that its argument counts, and their
//! service over time. No verdict rests on them.
//!
//! ```text
//!   requests              ______ requested
//!      |        _________|
//!      |   ____|    |<-- longest -->|____ served
//!      |__|                  _______|
//!      +---------------------------------------- time
//! ```
//! The terms of the argument that gives a bound determine its curves. Curves that do not show
//! exactly this bound are left out.

mod dual_queue;
mod fifo;

use std::collections::BTreeMap;

use tidegate_model::{Duration, Theorem, Workload};

use crate::regulated::Regulated;
use crate::{Assessment, select};

use dual_queue::DualQueue;
use fifo::Fifo;

/// The largest number of steps of a curve. A bound that needs more is not drawn.
const STEPS_MAX: usize = 4_096;

/// Pairs of an instant and a number of requests, both rising.
pub type Steps = Vec<(Duration, u64)>;

tidegate_model::names! {
    /// The argument that a pair of curves shows.
    pub enum Argument {
        /// Theorems 1 to 3: the batches from the one in flight to the job's own.
        Batches => "batches",
        /// Theorem 9.2.7, the minimum-period bound.
        MinPeriod => "min_period",
        /// Lemma 9.2.4, the busy-interval bound.
        BusyInterval => "busy_interval",
        /// Lemma 9.2.2, the linear bound.
        Linear => "linear",
        /// One request at a time in the order of release.
        Fifo => "fifo",
        /// One request at a time in the order of release, behind best effort in the same queue.
        FifoBehindLoops => "fifo_behind_loops",
    }
}

/// How the curves of an argument show its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The bound is the largest horizontal distance from the curve of requests to the curve of
    /// their service.
    Distance,
    /// The bound is the instant at which everything requested is served for the first time, which
    /// is the fixed point of its equation.
    Meeting,
    /// As `Meeting`, but requests released at that instant do not count.
    MeetingHalfOpen,
}

impl Argument {
    /// Returns how the curves of this argument show its bound.
    pub const fn reading(self) -> Reading {
        match self {
            Self::Batches | Self::MinPeriod | Self::Linear | Self::Fifo => Reading::Distance,
            Self::FifoBehindLoops => Reading::Meeting,
            Self::BusyInterval => Reading::MeetingHalfOpen,
        }
    }
}

/// The curves of a bound.
///
/// # Invariants
/// The length of `longest` plus `after` is the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curves {
    /// The argument that gives the bound.
    pub argument: Argument,
    /// The requests that the argument counts as released, or in flight, up to each instant.
    pub requested: Steps,
    /// The requests that are served up to each instant, at the latest; under
    /// [`Argument::BusyInterval`], those that are sent.
    pub served: Steps,
    /// The wait that the curves show.
    pub longest: Longest,
    /// The time of the job's own batch after `longest`, if the curves do not contain it.
    pub after: Duration,
}

/// A horizontal line between the curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Longest {
    /// The height of the line, in requests.
    pub requests: u64,
    /// The instant at which the line begins.
    pub from: Duration,
    /// The instant at which the line ends.
    pub to: Duration,
}

/// Tasks that share their curves, and their bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCurves {
    /// The indices of the tasks, ascending.
    pub tasks: Vec<usize>,
    /// The part of the bound outside the curves: jitter, and the host's time around the policy; zero
    /// without curves.
    pub outside: Duration,
    /// The curves, or the reason why there are none, as a sentence without its full stop.
    pub curves: Result<Curves, &'static str>,
}

/// Returns the curves of every task's bound; empty if no task has one.
///
/// Tasks without curves for the same reason are together, whatever their bounds.
///
/// # Complexity
/// The same as [`crate::dqf::tight`], and O(steps) for each of at most 16 different bounds.
pub fn curves(workload: &Workload, assessment: &Assessment) -> Vec<TaskCurves> {
    let planned = &*workload.planned();
    if assessment.tasks.iter().all(|task| task.response_max.is_none()) {
        return Vec::new();
    }
    let argument = Source::of(planned, assessment);
    let mut drawable: BTreeMap<(usize, Duration, Duration), Vec<usize>> = BTreeMap::new();
    let mut others: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for ((task, assessed), outside) in (0..).zip(&assessment.tasks).zip(workload.around_policy()) {
        let bound = assessed.response_max.and_then(|(bound, _)| bound.checked_sub(outside));
        match (&argument, bound) {
            (Ok(_), Some(_)) if assessed.rests_on_costs() => {
                others.entry(OF_COSTS).or_default().push(task);
            }
            (_, None) => others.entry("no bound holds").or_default().push(task),
            (Err(reason), Some(_)) => others.entry(reason).or_default().push(task),
            (Ok(source), Some(bound)) => {
                drawable.entry((source.kind(task), bound, outside)).or_default().push(task);
            }
        }
    }
    let mut all = Vec::new();
    for (index, ((kind, bound, outside), tasks)) in drawable.into_iter().enumerate() {
        let source = argument.as_ref().ok().filter(|_| index < DRAWN_MAX);
        match source.map(|source| source.curves(kind, bound)) {
            Some(Some(curves)) => all.push(TaskCurves { tasks, outside, curves: Ok(curves) }),
            Some(None) => others.entry(NOT_FOUND).or_default().extend(tasks),
            None => others.entry(TOO_MANY).or_default().extend(tasks),
        }
    }
    let undrawn = |(reason, mut tasks): (&'static str, Vec<usize>)| {
        tasks.sort_unstable();
        TaskCurves { tasks, outside: Duration::ZERO, curves: Err(reason) }
    };
    all.extend(others.into_iter().map(undrawn));
    all
}

/// The largest number of different bounds in one workload for which curves are drawn: the curves of
/// a single bound can have thousands of steps.
const DRAWN_MAX: usize = 16;

const OF_COSTS: &str = "it charges each request its own cost, and a count of requests has no cost";
const NOT_FOUND: &str = "no curves were found that show exactly this bound";
const TOO_MANY: &str = "the workload has too many different bounds to draw";

/// The input of the arguments that have curves.
enum Source {
    DualQueue(DualQueue),
    Fifo(Fifo),
}

impl Source {
    /// Returns the source of a policy's bounds, or the reason why these bounds have no curves.
    fn of(planned: &Workload, assessment: &Assessment) -> Result<Self, &'static str> {
        if Regulated::of(planned).is_some() {
            return Err("it holds behind a regulator, whose tokens are no count of requests");
        }
        if assessment.batch_cost.is_some() {
            return Err(OF_COSTS);
        }
        match select::theorem(planned, assessment.policy)? {
            Theorem::DualQueue | Theorem::ElasticDualQueue => {
                Ok(Self::DualQueue(DualQueue::of(planned, assessment)))
            }
            Theorem::Fifo => Ok(Self::Fifo(Fifo::of(planned))),
            Theorem::Edf | Theorem::EdfInWindows | Theorem::DualQueueEdf => Err(
                "which requests precede a job depends on its deadline, not on a count of releases",
            ),
            Theorem::ActiveSubset | Theorem::AdaptiveDrain | Theorem::GatedDrain => Err(
                "the policy gives away the time before a deadline, and the bound is a test of the \
                 time that is left",
            ),
            Theorem::Starvation => Err("it is the drive's own limit on waiting"),
            Theorem::DrainRounds | Theorem::LimitedDrainRounds | Theorem::PriorityRounds => {
                Err("it adds up rounds of real time, each as long as the drive's table says")
            }
            Theorem::StrictClasses => {
                Err("it adds up drain times of requests that the kernel sends in any order")
            }
        }
    }

    /// Returns a number that is equal for tasks whose bounds have the same curves.
    fn kind(&self, task: usize) -> usize {
        match self {
            Self::DualQueue(source) => source.kind_of_task(task),
            Self::Fifo(_) => 0,
        }
    }

    fn curves(&self, kind: usize, bound: Duration) -> Option<Curves> {
        match self {
            Self::DualQueue(source) => source.curves(kind, bound),
            Self::Fifo(source) => source.curves(bound),
        }
    }
}

impl Curves {
    /// Returns curves if they show this bound; `None` if they show another bound or are too long.
    fn showing(
        bound: Duration,
        argument: Argument,
        requested: Vec<(u64, u64)>,
        served: Vec<(u64, u64)>,
        after: Duration,
    ) -> Option<Self> {
        if requested.len().max(served.len()) > STEPS_MAX {
            return None;
        }
        let longest = longest(argument.reading(), &requested, &served)?;
        let steps = |steps: Vec<(u64, u64)>| {
            steps.into_iter().map(|(ns, count)| (Duration::from_ns(ns), count)).collect()
        };
        let curves =
            Self { argument, requested: steps(requested), served: steps(served), longest, after };
        (curves.longest.length().checked_add(after) == Some(bound)).then_some(curves)
    }
}

impl Longest {
    /// Returns the length of the line.
    ///
    /// # Panics
    /// Never: a line does not end before it begins.
    pub fn length(self) -> Duration {
        self.to.checked_sub(self.from).expect("it ends after it begins")
    }
}

/// Returns the line between two curves of (ns, requests) that shows a bound; `None` if the service
/// does not reach the requests, or precedes them.
pub fn longest(
    reading: Reading,
    requested: &[(u64, u64)],
    served: &[(u64, u64)],
) -> Option<Longest> {
    let line = |requests, from, to| Longest {
        requests,
        from: Duration::from_ns(from),
        to: Duration::from_ns(to),
    };
    let closed = match reading {
        Reading::Distance => {
            let line_at = |&(from, requests): &(u64, u64)| {
                let reached = served.partition_point(|&(_, count)| count < requests);
                let &(to, _) = served.get(reached)?;
                (from <= to).then(|| line(requests, from, to))
            };
            let lines = requested.iter().map(line_at).collect::<Option<Vec<_>>>()?;
            // Of equally long lines, the first is returned.
            return lines.into_iter().rev().max_by_key(|line| line.length());
        }
        Reading::Meeting => true,
        Reading::MeetingHalfOpen => false,
    };
    served.iter().find_map(|&(at, count)| {
        let is_before = |&(released, _): &(u64, u64)| released < at || (closed && released == at);
        let seen = requested.partition_point(is_before);
        let wanted = seen.checked_sub(1).map_or(0, |last| requested[last].1);
        (wanted <= count).then(|| line(wanted, 0, at))
    })
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The request and supply curves of bounds.

use serde::{Deserialize, Serialize};
use tidegate_analysis::Assessment;
use tidegate_analysis::curves::{Argument, Curves, Reading, Steps, TaskCurves, curves, longest};
use tidegate_model::{Duration, Workload};

/// Tasks that share one bound, with the curves that show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurvesRecord {
    /// The names of the tasks.
    pub tasks: Vec<String>,
    /// The bound of each of the tasks. If there are no curves, the largest bound; `None` if there
    /// is no bound.
    pub bound_ns: Option<u64>,
    /// The curves; `None` if the bound has none.
    pub drawn: Option<DrawnRecord>,
    /// The reason why there are no curves, as a sentence without its full stop.
    pub reason: Option<String>,
}

/// A pair of curves. `to_ns - from_ns + after_ns + outside_ns` is the bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnRecord {
    /// The argument of the proof that the curves show.
    pub argument: String,
    /// Whether the bound is a `distance` between the curves or the `meeting` of the curves.
    pub shows: Shows,
    /// Pairs of an instant and the number of requests that can be released up to it; both rise.
    pub requested_ns_steps: Vec<(u64, u64)>,
    /// Pairs of an instant and the number of requests that are served by it at the latest; both
    /// rise.
    pub served_ns_steps: Vec<(u64, u64)>,
    /// The height of the line that shows the wait, in requests.
    pub requests: u64,
    /// The instant at which the line begins.
    pub from_ns: u64,
    /// The instant at which the line ends.
    pub to_ns: u64,
    /// The time of the job's own batch, if the curves do not include it.
    pub after_ns: u64,
    /// Jitter, and the host's time around the policy.
    pub outside_ns: u64,
}

/// How curves show a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shows {
    /// As the largest horizontal distance between the curves.
    Distance,
    /// As the instant at which the curves meet.
    Meeting,
}

impl Shows {
    const fn of(reading: Reading) -> Self {
        match reading {
            Reading::Distance => Self::Distance,
            Reading::Meeting | Reading::MeetingHalfOpen => Self::Meeting,
        }
    }
}

impl CurvesRecord {
    /// Returns the curves of every bound of an assessment; empty without bounds.
    ///
    /// # Complexity
    /// The same as [`curves`].
    pub fn all(workload: &Workload, assessment: &Assessment) -> Vec<Self> {
        let record = |group: &TaskCurves| {
            let bound_of = |&task: &usize| assessment.tasks[task].response_max;
            let bound = group.tasks.iter().filter_map(bound_of).map(|(bound, _)| bound).max();
            let name = |&task: &usize| workload.tasks[task].name.clone();
            Self {
                tasks: group.tasks.iter().map(name).collect(),
                bound_ns: bound.map(Duration::ns),
                drawn: group.curves.as_ref().ok().map(|it| DrawnRecord::of(it, group.outside)),
                reason: group.curves.as_ref().err().map(|&reason| reason.to_owned()),
            }
        };
        curves(workload, assessment).iter().map(record).collect()
    }

    /// Checks that the curves show the bound, and the properties on which charts rely.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let Some(drawn) = &self.drawn else { return Ok(()) };
        let wait = drawn.to_ns.checked_sub(drawn.from_ns);
        let parts = [drawn.after_ns, drawn.outside_ns];
        let shown = parts.iter().try_fold(wait.unwrap_or(u64::MAX), |sum, &it| sum.checked_add(it));
        if wait.is_none() || shown != self.bound_ns {
            return Err("curves must show the bound of their tasks");
        }
        let all = [&drawn.requested_ns_steps, &drawn.served_ns_steps];
        if all.iter().any(|steps| !steps.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1)) {
            return Err("the steps of curves must rise");
        }
        drawn.check_line()
    }
}

impl DrawnRecord {
    /// Checks that the line joins the two curves and shows the bound.
    fn check_line(&self) -> Result<(), &'static str> {
        let argument =
            Argument::from_name(&self.argument).ok_or("curves of an unknown argument")?;
        let reading = argument.reading();
        let line = longest(reading, &self.requested_ns_steps, &self.served_ns_steps);
        let line = line.map(|it| (it.requests, it.from.ns(), it.to.ns()));
        let is_shown = line == Some((self.requests, self.from_ns, self.to_ns));
        if is_shown && self.shows == Shows::of(reading) {
            Ok(())
        } else {
            Err("the line of curves must lie where their steps show the wait")
        }
    }

    fn of(curves: &Curves, outside: Duration) -> Self {
        let steps = |steps: &Steps| steps.iter().map(|&(at, count)| (at.ns(), count)).collect();
        Self {
            argument: curves.argument.name().to_owned(),
            shows: Shows::of(curves.argument.reading()),
            requested_ns_steps: steps(&curves.requested),
            served_ns_steps: steps(&curves.served),
            requests: curves.longest.requests,
            from_ns: curves.longest.from.ns(),
            to_ns: curves.longest.to.ns(),
            after_ns: curves.after.ns(),
            outside_ns: outside.ns(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How long a run releases, and how often each source does.

use model::{BestEffort, Duration, Intensity, Task, Time, Workload};

use crate::calendar::{Calendar, Pace};
use crate::params::{Length, RunError};
use crate::source::position;

/// What ends the releases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The last instant at which anything may be released; none where loads without tasks
    /// release a number of requests, and all of these are to be served.
    pub(crate) last: Option<Time>,
    /// How often each task releases at most.
    task_releases_max: u64,
    /// How often each load does.
    pub(crate) load_releases_max: u64,
}

impl Span {
    /// The span of a run of this length.
    pub(crate) fn new(workload: &Workload, length: Length) -> Result<Self, RunError> {
        match length {
            Length::Jobs(0) | Length::Duration(Duration::ZERO) => Err(RunError::LengthZero),
            Length::Jobs(jobs) => Self::of_jobs(workload, jobs),
            Length::Duration(duration) => Ok(Self {
                // The end itself is out: a run of three periods has three releases.
                last: Some(Time::from_ns(duration.ns() - 1)),
                task_releases_max: u64::MAX,
                load_releases_max: u64::MAX,
            }),
        }
    }

    fn of_jobs(workload: &Workload, jobs: u64) -> Result<Self, RunError> {
        let last_of = |task: &Task| {
            let last = task_pace(task).instant(jobs - 1);
            last.ok_or_else(|| RunError::LengthBeyondTime { source_name: task.name.clone() })
        };
        let lasts: Vec<_> = workload.tasks.iter().map(last_of).collect::<Result<_, _>>()?;
        let last = lasts.into_iter().max();
        let load_releases_max = if last.is_some() { u64::MAX } else { jobs };
        Ok(Self { last, task_releases_max: jobs, load_releases_max })
    }

    /// Everything that is released by the clock.
    pub(crate) fn calendar(&self, workload: &Workload) -> Calendar {
        let sources = workload.tasks.len() + workload.best_effort.len();
        let mut calendar = Calendar::new(sources, self.last.unwrap_or(Time::MAX));
        for (task, index) in workload.tasks.iter().zip(0..) {
            calendar.enter(index, task_pace(task), self.task_releases_max);
        }
        for (load, index) in workload.best_effort.iter().zip(position(workload.tasks.len())..) {
            if let Some(pace) = load_pace(load) {
                calendar.enter(index, pace, self.load_releases_max);
            }
        }
        calendar
    }
}

fn task_pace(task: &Task) -> Pace {
    assert!(!task.period.is_zero(), "`{}` has no period", task.name);
    Pace { first: Time::ZERO + task.offset, period: task.period }
}

/// The pace of an open loop; a closed one has none.
fn load_pace(load: &BestEffort) -> Option<Pace> {
    match load.intensity {
        Intensity::Outstanding(_) => None,
        Intensity::Rate(rate) => {
            // Never no time at all: that would be endless load at one instant.
            let period = rate.transfer_time_floor(load.size).max(Duration::from_ns(1));
            Some(Pace { first: Time::ZERO, period })
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `das` keeps of each task: when its next job may come, and which jobs may be dropped.
//!
//! # Quality
//! A task that must have only the share q of its jobs served earns 1 - q with each job; a job
//! that is released when a whole one is earned is excused. The whole one is spent when it is
//! dropped and comes back when it is served after all. No more than one is kept, so that drops
//! are spread: in any k jobs one after the other at most 1 + k (1 - q) are dropped, and of
//! the first k at most k (1 - q).
//!
//! Only jobs of one request are excused: of a larger job some requests may be served already
//! when the others turn out to be too late, and then nothing was gained.

use model::{Duration, Task, Time};

/// One job, in parts per million.
const WHOLE_PPM: u32 = 1_000_000;

#[derive(Debug, Clone)]
struct TaskState {
    period: Duration,
    deadline: Duration,
    requests: u32,
    /// What each job earns.
    excused_ppm: u32,
    earned_ppm: u32,
    last_released: Option<Time>,
    /// Requests that wait and must be served.
    mandatory_count: u32,
}

impl TaskState {
    fn new(task: &Task) -> Self {
        let is_single = task.requests == 1;
        Self {
            period: task.period,
            deadline: task.deadline,
            requests: task.requests,
            excused_ppm: if is_single { WHOLE_PPM.saturating_sub(task.quality_ppm) } else { 0 },
            earned_ppm: 0,
            last_released: None,
            mandatory_count: 0,
        }
    }

    /// The earliest next release; a task that released nothing yet may do so at any time.
    fn next_release(&self) -> Time {
        self.last_released
            .map_or(Time::ZERO, |last| last.checked_add(self.period).unwrap_or(Time::MAX))
    }

    /// What it will have earned when its next job is released.
    fn earned_with_next(&self) -> u32 {
        (self.earned_ppm + self.excused_ppm).min(WHOLE_PPM)
    }

    /// Whether its next job has to be served, and nothing that waits says when it comes.
    fn is_expected(&self) -> bool {
        self.mandatory_count == 0 && self.earned_with_next() < WHOLE_PPM
    }
}

/// The latest instant at which the drive must be free again, and what makes it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slack {
    /// In nanoseconds of the run; it may be past, even before its begin.
    pub(super) latest_ns: i128,
    /// The release that sets the limit. While time passes without one the limit grows from
    /// here on, as fast as time passes.
    pub(super) from: Time,
}

/// The tasks of a plan.
#[derive(Debug)]
pub(super) struct Tasks {
    states: Vec<TaskState>,
    /// Indices by earliest next release.
    by_next_release: Vec<usize>,
}

impl Tasks {
    /// No task released anything yet.
    pub(super) fn new(tasks: &[Task]) -> Self {
        Self {
            states: tasks.iter().map(TaskState::new).collect(),
            by_next_release: (0..tasks.len()).collect(),
        }
    }

    /// From now on these tasks; what is known of those that stay is kept.
    pub(super) fn reconfigure(&mut self, tasks: &[Task]) {
        let mut states: Vec<TaskState> = tasks.iter().map(TaskState::new).collect();
        for (state, known) in states.iter_mut().zip(&self.states) {
            state.last_released = known.last_released;
            state.mandatory_count = known.mandatory_count;
            state.earned_ppm = if state.excused_ppm > 0 { known.earned_ppm } else { 0 };
        }
        self.by_next_release = (0..states.len()).collect();
        self.by_next_release.sort_by_key(|&index| states[index].next_release());
        self.states = states;
    }

    /// Notes a request of a job released at `at`; whether it is excused. O(tasks).
    pub(super) fn released(&mut self, task: usize, at: Time, is_optional: bool) -> bool {
        let Some(state) = self.states.get_mut(task) else { return false };
        let is_new_job = state.last_released.is_none_or(|last| last < at);
        if is_new_job {
            state.last_released = Some(at);
            state.earned_ppm = state.earned_with_next();
        }
        let is_excused = is_new_job && is_optional && state.earned_ppm == WHOLE_PPM;
        if is_excused {
            state.earned_ppm = 0;
        } else {
            state.mandatory_count += 1;
        }
        if is_new_job {
            self.put_in_order(task);
        }
        is_excused
    }

    fn put_in_order(&mut self, task: usize) {
        let key = self.states[task].next_release();
        self.by_next_release.retain(|&index| index != task);
        let place =
            self.by_next_release.partition_point(|&other| self.states[other].next_release() <= key);
        self.by_next_release.insert(place, task);
    }

    /// Notes that a request waits no longer and was not dropped.
    pub(super) fn left(&mut self, task: usize, is_excused: bool) {
        let Some(state) = self.states.get_mut(task) else { return };
        if is_excused {
            state.earned_ppm = WHOLE_PPM;
        } else {
            state.mandatory_count = state.mandatory_count.saturating_sub(1);
        }
    }

    /// How late the drive may become free for jobs that may come from `now` on to be in time,
    /// with `waiting_count` requests ahead of them and `service_max` for each; none where no
    /// job is expected.
    ///
    /// # Bound
    /// Least `r + d_k - C (waiting + sum of e_i over tasks with r_i <= r)`, over the earliest
    /// releases r and the tasks k with r_k <= r.
    ///
    /// # Complexity
    /// O(tasks).
    pub(super) fn slack(
        &self,
        now: Time,
        waiting_count: usize,
        service_max: Duration,
    ) -> Option<Slack> {
        let mut slack: Option<Slack> = None;
        let mut ahead_count = i128::try_from(waiting_count).expect("a count of requests");
        let mut deadline_min = Duration::MAX;
        let expected = self.by_next_release.iter().map(|&index| &self.states[index]);
        for state in expected.filter(|state| state.is_expected()) {
            let from = now.max(state.next_release());
            ahead_count += i128::from(state.requests);
            deadline_min = deadline_min.min(state.deadline);
            let latest_ns = i128::from(from.ns()) + i128::from(deadline_min.ns())
                - ahead_count * i128::from(service_max.ns());
            if slack.is_none_or(|slack| latest_ns < slack.latest_ns) {
                slack = Some(Slack { latest_ns, from });
            }
        }
        slack
    }
}

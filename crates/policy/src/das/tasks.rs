// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state that `das` keeps of each task: its next release, and the jobs that may be dropped.
//!
//! # Quality
//! A task that needs only the share q of its jobs served earns 1 - q with each job. A job that is
//! released when a whole job is earned is excused. The earned job is spent when the excused job is
//! dropped and returned when it is served after all. At most one is kept, so drops are spread: in
//! any k consecutive jobs at most 1 + k (1 - q) are dropped, and among the first k at most
//! k (1 - q).
//!
//! Only jobs of one request are excused. Some requests of a larger job may already be served when
//! the others turn out to be too late; dropping these would gain nothing.
//!
//! # Units
//! Behind `tokens-per-task` the requests of a job may become eligible one by one, because each
//! token returns p after it was taken. A task of e requests is then kept as e units, tasks of one
//! request each; the proof in `tidegate_analysis::das` treats them as any sporadic tasks. A request
//! belongs to the unit that has no waiting request and may release earliest.

use std::ops::Range;

use tidegate_model::{Duration, Plan, RegulatorName, Task, Time};

/// One whole job, in parts per million.
const WHOLE_PPM: u32 = 1_000_000;

#[derive(Debug, Clone)]
struct TaskState {
    period: Duration,
    deadline: Duration,
    requests: u32,
    /// The share of an excused job that each job earns, in parts per million.
    excused_ppm: u32,
    earned_ppm: u32,
    last_released: Option<Time>,
    /// The number of waiting requests that must be served.
    mandatory_count: u32,
}

impl TaskState {
    /// Returns the state of a task, or of one of its units, whose jobs have `requests` requests.
    fn new(task: &Task, requests: u32) -> Self {
        let is_single = task.requests == 1;
        Self {
            period: task.period,
            deadline: task.deadline,
            requests,
            excused_ppm: if is_single { WHOLE_PPM.saturating_sub(task.quality_ppm) } else { 0 },
            earned_ppm: 0,
            last_released: None,
            mandatory_count: 0,
        }
    }

    /// Returns the earliest next release; a task that has not released a job yet may do so at any
    /// time.
    fn next_release(&self) -> Time {
        self.last_released
            .map_or(Time::ZERO, |last| last.checked_add(self.period).unwrap_or(Time::MAX))
    }

    /// Returns the share earned when the task's next job is released.
    fn earned_with_next(&self) -> u32 {
        (self.earned_ppm + self.excused_ppm).min(WHOLE_PPM)
    }

    /// Returns whether the task's next job must be served and no waiting request delays its
    /// release.
    fn is_expected(&self) -> bool {
        self.mandatory_count == 0 && self.earned_with_next() < WHOLE_PPM
    }
}

/// The latest instant at which the drive must be free again, and the release that sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slack {
    /// The instant in ns since the run's start; it can be in the past, even before the start.
    pub(super) latest_ns: i128,
    /// The release that sets the limit. From this instant on, the limit grows at the rate of time
    /// as long as no job is released.
    pub(super) from: Time,
}

/// The owner of a request: a task, and its unit if it has units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    task: usize,
    offset: usize,
}

/// The tasks of a plan, or their units.
///
/// # Invariants
/// - `of_task` holds consecutive ranges of `states`, none of them empty.
#[derive(Debug)]
pub(super) struct Tasks {
    states: Vec<TaskState>,
    /// The range of each task, by its index in the plan.
    of_task: Vec<Range<usize>>,
    /// Indices of `states`, sorted by earliest next release.
    by_next_release: Vec<usize>,
}

impl Tasks {
    /// Returns the tasks of `plan`, none of which has released a job.
    pub(super) fn new(plan: &Plan) -> Self {
        let has_units = plan.regulators.contains(&RegulatorName::TokensPerTask);
        let (mut states, mut of_task) = (Vec::new(), Vec::new());
        for task in &plan.tasks {
            let start = states.len();
            if has_units {
                let unit = TaskState::new(task, 1);
                states.extend(std::iter::repeat_n(unit, task.requests as usize));
            } else {
                states.push(TaskState::new(task, task.requests));
            }
            of_task.push(start..states.len());
        }
        Self { by_next_release: (0..states.len()).collect(), states, of_task }
    }

    /// Replaces the tasks; keeps the state of tasks that remain.
    pub(super) fn reconfigure(&mut self, plan: &Plan) {
        let mut new = Self::new(plan);
        for (places, known) in new.of_task.iter().zip(&self.of_task) {
            for (state, known) in
                new.states[places.clone()].iter_mut().zip(&self.states[known.clone()])
            {
                state.last_released = known.last_released;
                state.mandatory_count = known.mandatory_count;
                state.earned_ppm = if state.excused_ppm > 0 { known.earned_ppm } else { 0 };
            }
        }
        new.by_next_release.sort_by_key(|&index| new.states[index].next_release());
        *self = new;
    }

    /// Records a request of a job released at `at`. Returns its owner, and whether it is excused.
    ///
    /// # Complexity
    /// O(tasks), or O(units) if there are units.
    pub(super) fn released(&mut self, task: usize, at: Time, is_optional: bool) -> (Unit, bool) {
        let Some(places) = self.of_task.get(task).cloned() else {
            return (Unit { task, offset: 0 }, false);
        };
        let start = places.start;
        let first = |&index: &usize| {
            let state = &self.states[index];
            (state.mandatory_count > 0, state.next_release())
        };
        let index = places.min_by_key(first).expect("a task has a request");
        let unit = Unit { task, offset: index - start };
        let state = &mut self.states[index];
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
            self.put_in_order(index);
        }
        (unit, is_excused)
    }

    fn put_in_order(&mut self, moved: usize) {
        let key = self.states[moved].next_release();
        self.by_next_release.retain(|&index| index != moved);
        let place =
            self.by_next_release.partition_point(|&other| self.states[other].next_release() <= key);
        self.by_next_release.insert(place, moved);
    }

    /// Records that a request no longer waits and was not dropped.
    pub(super) fn left(&mut self, Unit { task, offset }: Unit, is_excused: bool) {
        // A later plan may not contain the task any more.
        let place = self.of_task.get(task).and_then(|places| places.clone().nth(offset));
        let Some(state) = place.map(|index| &mut self.states[index]) else { return };
        if is_excused {
            state.earned_ppm = WHOLE_PPM;
        } else {
            state.mandatory_count = state.mandatory_count.saturating_sub(1);
        }
    }

    /// Returns the latest instant at which the drive must be free so that jobs released from `now`
    /// on are on time. `waiting_count` requests are ahead of them, each of which takes
    /// `service_max`. `None` if no job is expected.
    ///
    /// # Bound
    /// The least `r + d_k - C (waiting + sum of e_i over tasks with r_i <= r)`, over the earliest
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

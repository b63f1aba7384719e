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
//!
//! # Units
//! Behind `tokens-per-task` the requests of a job may come one by one, each token back p after it
//! was taken. There a task of e requests is kept as e units, tasks of one request each: the proof
//! in `tidegate_analysis::das` speaks of them as of any sporadic tasks. A request belongs to the unit that
//! waits for nothing and whose next release is the earliest.

use std::ops::Range;

use tidegate_model::{Duration, Plan, RegulatorName, Task, Time};

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
    /// Of a task, or of one of its units, whose jobs have `requests` requests.
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

/// To whom a request belongs: a task, and which of its units where it has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    task: usize,
    offset: usize,
}

/// The tasks of a plan, or their units.
///
/// # Invariants
/// - `of_task` are ranges of `states` one behind the other, none of them empty.
#[derive(Debug)]
pub(super) struct Tasks {
    states: Vec<TaskState>,
    /// Index = task of the plan.
    of_task: Vec<Range<usize>>,
    /// Indices of `states` by earliest next release.
    by_next_release: Vec<usize>,
}

impl Tasks {
    /// No task released anything yet.
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

    /// From now on these tasks; what is known of those that stay is kept.
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

    /// Notes a request of a job released at `at`; where it belongs, and whether it is excused.
    ///
    /// # Complexity
    /// O(tasks), or O(units) where there are units.
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

    /// Notes that a request waits no longer and was not dropped.
    pub(super) fn left(&mut self, Unit { task, offset }: Unit, is_excused: bool) {
        // A later plan may know it no more.
        let place = self.of_task.get(task).and_then(|places| places.clone().nth(offset));
        let Some(state) = place.map(|index| &mut self.states[index]) else { return };
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

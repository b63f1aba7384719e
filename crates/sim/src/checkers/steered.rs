// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate that `mdn` and `mdn-extended` may give best effort, from the events that pass them.
//!
//! - Until the first notice that counts there is no limit.
//! - A notice of a task counts if the task is declared as soft and is not ignored, one of its
//!   requests was late or is overdue since its last notice, and it kept its contract since then. If
//!   a soft task that is not ignored gives a notice that does not count, it is ignored for `mute`.
//! - A notice of a source that is no task, and sends soft requests without deadlines, counts if one
//!   of these was sent or completed since the last notice.
//! - A notice that counts reduces the rate by the share `decrease`, but not below `rate_min`; it
//!   reduces the rate that best effort achieved if that is lower. Nothing changes if best effort
//!   achieved nothing, or if the last decrease is less than `hold` ago.
//! - The rate grows by `increase` at every `interval` after a decrease (`mdn`), or after the end of
//!   a stream that follows it (`mdn-extended`).
//!
//! The achieved rate counts completions in windows of length `window` from the start of the run.
//! From the previous window it takes the share that a sliding window would still cover.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::parameters::MdnParameters;
use tidegate_model::{Class, Plan, Request, RequestId, Task, TaskIndex, Time};
use tidegate_policy::NoticeKind;

use super::supply::{Growth, Supply};

/// The condition under which the rate grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grows {
    Always,
    AfterStreams,
}

/// The state of a task since its last notice.
#[derive(Debug)]
struct TaskReports {
    is_soft: bool,
    was_late: bool,
    broke_contract: bool,
    ignored_until: Time,
    /// The contract in parts: the cost p of one request, the gain e in a nanosecond, and the
    /// largest number of parts that are kept.
    contract: (u128, u128, u128),
    /// The parts left after the task's last release, and the instant of that release.
    left: (u128, Time),
}

impl TaskReports {
    fn of(task: &Task) -> Self {
        let period = u128::from(task.period.ns());
        let jobs = u128::from(task.outstanding_max.unwrap_or(0)) + 1;
        let burst_ns = (period * jobs).min(u128::from(u64::MAX));
        let gain = u128::from(task.requests).max(1);
        Self {
            is_soft: task.class == Class::Soft,
            was_late: false,
            broke_contract: false,
            ignored_until: Time::ZERO,
            contract: (period, gain, gain * burst_ns),
            left: (gain * burst_ns, Time::ZERO),
        }
    }

    fn release(&mut self, at: Time) {
        let ((cost, gain, most), (left, before)) = (self.contract, self.left);
        let left = (left + gain * u128::from(at.since(before).ns())).min(most);
        self.broke_contract |= left < cost;
        self.left = (left.checked_sub(cost).unwrap_or(left), at.max(before));
    }
}

/// A request that passed and is not complete.
#[derive(Debug)]
struct Passed {
    task: TaskIndex,
    due: Option<Time>,
    /// The request's tokens, if it is best effort at a steered rate.
    tokens: Option<u64>,
}

/// Follows the rules of `mdn`; see the module documentation.
#[derive(Debug)]
pub(super) struct Steered {
    grows: Grows,
    params: MdnParameters,
    tasks: Vec<TaskReports>,
    /// The sources that are no tasks and send soft requests, each with whether such a request was
    /// sent or completed since its last notice.
    streams: BTreeMap<TaskIndex, bool>,
    passed: BTreeMap<RequestId, Passed>,
    /// Completions of steered best effort with their tokens, in order of time.
    achieved: VecDeque<(Time, u64)>,
    hold_until: Time,
}

impl Steered {
    pub(super) fn new(grows: Grows, params: MdnParameters, plan: &Plan) -> Self {
        let (streams, passed, achieved) = Default::default();
        let tasks = plan.tasks.iter().map(TaskReports::of).collect();
        Self { grows, params, tasks, streams, passed, achieved, hold_until: Time::ZERO }
    }

    /// Continues after a change of the plan, as after a decrease to the rate that `supply` kept.
    pub(super) fn succeed(&mut self, now: Time, before: Self, supply: &mut Supply) {
        self.passed = before.passed;
        self.begin_growth(now, supply);
    }

    /// Records a request that passed; `tokens` is given if its rate is steered. Requests that
    /// waited for tokens do not count towards their task's contract.
    pub(super) fn pass(&mut self, request: &Request, tokens: Option<u64>, has_waited: bool) {
        let Request { id, task, due, eligible, class, .. } = *request;
        match self.tasks.get_mut(task.index()) {
            Some(reports) if !has_waited => reports.release(eligible),
            None if class == Class::Soft && due.is_none() => {
                self.streams.insert(task, true);
            }
            Some(_) | None => {}
        }
        self.passed.insert(id, Passed { task, due, tokens });
    }

    pub(super) fn drop(&mut self, id: RequestId) {
        self.passed.remove(&id);
    }

    pub(super) fn complete(&mut self, now: Time, id: RequestId) {
        let Some(Passed { task, due, tokens }) = self.passed.remove(&id) else { return };
        if let Some(reports) = self.tasks.get_mut(task.index()) {
            reports.was_late |= due.is_some_and(|due| due < now);
        }
        if let Some(was_active) = self.streams.get_mut(&task) {
            *was_active = true;
        }
        self.achieved.extend(tokens.map(|tokens| (now, tokens)));
    }

    /// Changes the rate by a notice; returns whether it set a limit where there was none.
    pub(super) fn notice(
        &mut self,
        now: Time,
        task: TaskIndex,
        kind: NoticeKind,
        supply: &mut Supply,
    ) -> bool {
        let was_unlimited = supply.per_s.is_none();
        match kind {
            NoticeKind::DeadlineMissed => {
                if self.counts(now, task) {
                    self.decrease(now, supply);
                }
            }
            NoticeKind::StreamEnded => {
                let is_heard = self.is_heard(now, task);
                if is_heard && supply.growth.is_none() && supply.per_s.is_some() {
                    supply.growth = self.growth(now);
                }
            }
            _ => unreachable!("no notice of another kind exists"),
        }
        was_unlimited && supply.per_s.is_some()
    }

    fn is_heard(&self, now: Time, task: TaskIndex) -> bool {
        let of_task = |it: &TaskReports| it.is_soft && it.ignored_until <= now;
        self.tasks.get(task.index()).is_some_and(of_task) || self.streams.contains_key(&task)
    }

    fn counts(&mut self, now: Time, task: TaskIndex) -> bool {
        if !self.is_heard(now, task) {
            return false;
        }
        if let Some(was_active) = self.streams.get_mut(&task) {
            return std::mem::replace(was_active, false);
        }
        let overdue = |it: &Passed| it.task == task && it.due.is_some_and(|due| due < now);
        let is_overdue = self.passed.values().any(overdue);
        let reports = &mut self.tasks[task.index()];
        let counts = (reports.was_late || is_overdue) && !reports.broke_contract;
        if !counts {
            reports.ignored_until = now.checked_add(self.params.mute).unwrap_or(Time::MAX);
        }
        (reports.was_late, reports.broke_contract) = (false, false);
        counts
    }

    fn decrease(&mut self, now: Time, supply: &mut Supply) {
        let achieved = self.achieved_per_s(now);
        if now < self.hold_until || achieved == 0 {
            return;
        }
        let rate = supply.per_s.map_or(achieved, |rate| achieved.min(u128::from(rate)));
        let left = rate * u128::from(1_000_000 - self.params.decrease_ppm) / 1_000_000;
        let left = u64::try_from(left).unwrap_or(u64::MAX).max(self.params.rate_min.per_s);
        supply.per_s = Some(left);
        self.begin_growth(now, supply);
        self.hold_until = now.checked_add(self.params.hold).unwrap_or(Time::MAX);
    }

    /// Begins the growth that follows a decrease.
    fn begin_growth(&self, now: Time, supply: &mut Supply) {
        supply.growth = match self.grows {
            Grows::Always => self.growth(now).filter(|_| supply.per_s.is_some()),
            Grows::AfterStreams => None,
        };
    }

    fn growth(&self, now: Time) -> Option<Growth> {
        let MdnParameters { interval, increase, .. } = self.params;
        let next = now.checked_add(interval)?;
        Some(Growth { next, interval, increase: increase.per_s })
    }

    /// Returns tokens per second, rounded down.
    fn achieved_per_s(&mut self, now: Time) -> u128 {
        let window = self.params.window.ns();
        let elapsed = now.ns() % window;
        let start = now.ns() - elapsed;
        let previous = start.checked_sub(window);
        let is_old = |at: Time| previous.is_some_and(|previous| at.ns() < previous);
        while self.achieved.pop_front_if(|&mut (at, _)| is_old(at)).is_some() {}
        let sum = |is_current: bool| -> u128 {
            let counted = self.achieved.iter().filter(|(at, _)| (at.ns() >= start) == is_current);
            counted.map(|&(_, tokens)| u128::from(tokens)).sum()
        };
        let (current, before) = (sum(true), sum(false));
        let (window, elapsed) = (u128::from(window), u128::from(elapsed));
        let per_s = match previous {
            None => current * 1_000_000_000 / elapsed.max(1),
            Some(_) => (before * (window - elapsed) / window + current) * 1_000_000_000 / window,
        };
        per_s.min(u128::from(u64::MAX))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decides whether to believe a task that reports a miss.
//!
//! A task's reports count if it is declared as soft. A report is believed if two conditions have
//! held since the task's last report. First, one of its requests completed after its deadline or is
//! outstanding past it. Second, the task kept its contract: e_i requests per p_i with a burst of
//! one job, plus as many jobs as it has buffers for catching up. If a layer above holds requests
//! back until the contract allows them, they count from that instant. A task that reports without
//! cause, or while it exceeds its contract, is ignored for some time; reports during that time are
//! not judged and do not prolong it.
//!
//! A stream without figures is a source of soft requests that is not a task of the plan. It states
//! no deadline and no load, so its report is believed if it has sent or received anything since the
//! last one. Whether that is fair to the other sources is up to the user who declares the stream.
//!
//! Source: Wu and Brandt, section 4, mention an anti-cheat feature and cite Banachowski, Wu and
//! Brandt, "Missed deadline notification in best-effort schedulers", MMCN 2004, for it. The rule
//! above is this project's: it uses only what a regulator can observe itself.

use std::collections::BTreeMap;

use tidegate_model::{Class, Duration, Plan, Request, Task, TaskIndex, Time};

use super::bucket::Bucket;

/// The state of one task's reports and contract.
#[derive(Debug, Clone)]
struct TaskReports {
    is_soft: bool,
    /// p_i in nanoseconds: a request has this many parts in `share`, and a nanosecond adds e_i
    /// parts.
    request_parts: u64,
    share: Bucket,
    has_missed: bool,
    has_exceeded: bool,
    mute_until: Time,
}

impl TaskReports {
    fn of(task: &Task) -> Self {
        // Its jobs may be closer together than a period only while it catches up after a delay.
        let jobs = u64::from(task.outstanding_max.unwrap_or(0)) + 1;
        let burst = task.period.checked_mul(jobs).unwrap_or(Duration::MAX);
        Self {
            is_soft: task.class == Class::Soft,
            request_parts: task.period.ns(),
            share: Bucket::full(u64::from(task.requests), burst),
            has_missed: false,
            has_exceeded: false,
            mute_until: Time::ZERO,
        }
    }
}

/// Judges the miss reports of all declared tasks, and of streams without figures.
///
/// # Complexity
/// O(1) for every operation on a task, O(log n) on one of n streams. A stream's first request
/// allocates.
#[derive(Debug)]
pub(crate) struct MissReports {
    tasks: Vec<TaskReports>,
    /// The streams without figures, and whether each was active since its last report.
    streams: BTreeMap<TaskIndex, bool>,
    mute: Duration,
}

impl MissReports {
    /// Returns a state in which every soft task's reports count. A false report is punished by
    /// ignoring the task for `mute`.
    pub(crate) fn new(plan: &Plan, mute: Duration) -> Self {
        let tasks = plan.tasks.iter().map(TaskReports::of).collect();
        Self { tasks, streams: BTreeMap::new(), mute }
    }

    /// Records the release of a request.
    pub(crate) fn release(&mut self, request: &Request) {
        let Some(task) = self.tasks.get_mut(request.task.index()) else {
            if request.class == Class::Soft && request.due.is_none() {
                self.streams.insert(request.task, true);
            }
            return;
        };
        // A request may arrive here after it became eligible, if there was no room for it. Behind
        // tokens a task never exceeds its contract.
        task.share.replenish(request.eligible, 0);
        task.has_exceeded |= !task.share.take(u128::from(task.request_parts));
    }

    /// Records the completion of a request.
    pub(crate) fn complete(&mut self, now: Time, source: TaskIndex, due: Option<Time>) {
        if let Some(task) = self.tasks.get_mut(source.index()) {
            task.has_missed |= due.is_some_and(|due| now > due);
        } else if let Some(is_active) = self.streams.get_mut(&source) {
            *is_active = true;
        }
    }

    /// Returns whether the task's reports count now.
    pub(crate) fn is_heard(&self, now: Time, source: TaskIndex) -> bool {
        match self.tasks.get(source.index()) {
            Some(task) => task.is_soft && now >= task.mute_until,
            None => self.streams.contains_key(&source),
        }
    }

    /// Returns whether to act on a reported miss. `is_overdue` says whether a request of that task
    /// is outstanding past its deadline.
    pub(crate) fn judge(&mut self, now: Time, source: TaskIndex, is_overdue: bool) -> bool {
        if !self.is_heard(now, source) {
            return false;
        }
        if let Some(is_active) = self.streams.get_mut(&source) {
            return std::mem::take(is_active);
        }
        let task = &mut self.tasks[source.index()];
        let is_true = (task.has_missed || is_overdue) && !task.has_exceeded;
        if !is_true {
            task.mute_until = now.checked_add(self.mute).unwrap_or(Time::MAX);
        }
        (task.has_missed, task.has_exceeded) = (false, false);
        is_true
    }
}

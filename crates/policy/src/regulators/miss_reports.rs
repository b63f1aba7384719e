// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether to believe a task that reports a miss.
//!
//! A task has a say when it is declared as soft. It is believed when, since its last report, a
//! request of its own completed after its due or is still outstanding past it, and it asked
//! for no more than its contract: e_i requests per p_i, with a burst of one job, and of as
//! many more as it has buffers to catch up with. One that reports without cause, or while it
//! takes more than its share, loses its say for a while; what it reports meanwhile is not
//! heard and does not prolong the while.
//!
//! Source: Wu and Brandt, section 4, name an anti-cheat feature and cite Banachowski, Wu and
//! Brandt, "Missed deadline notification in best-effort schedulers", MMCN 2004, for it. The
//! rule above is ours: this is what a regulator can see of its own.

use tidegate_model::{Class, Duration, Plan, Request, Task, TaskIndex, Time};

use super::bucket::Bucket;

/// What is known of one task.
#[derive(Debug, Clone)]
struct Standing {
    is_soft: bool,
    /// p_i in nanoseconds: so many parts has a request in `share`, of which a nanosecond brings
    /// e_i.
    request_parts: u64,
    share: Bucket,
    has_missed: bool,
    has_exceeded: bool,
    mute_until: Time,
}

impl Standing {
    fn of(task: &Task) -> Self {
        // It may ask for jobs closer than a period only while it makes good a delay.
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

/// The standing of all declared tasks.
///
/// # Complexity
/// O(1) for everything.
#[derive(Debug)]
pub(crate) struct Witness {
    tasks: Vec<Standing>,
    mute: Duration,
}

impl Witness {
    /// Everyone who is declared soft has a say; who cheats loses it for `mute`.
    pub(crate) fn new(plan: &Plan, mute: Duration) -> Self {
        Self { tasks: plan.tasks.iter().map(Standing::of).collect(), mute }
    }

    /// A request was released.
    pub(crate) fn release(&mut self, request: &Request) {
        let Some(task) = self.tasks.get_mut(request.task.index()) else { return };
        // By the instant of release: it may come late here when there was no room for it.
        task.share.replenish(request.released, 0);
        task.has_exceeded |= !task.share.take(u128::from(task.request_parts));
    }

    /// A request came back.
    pub(crate) fn complete(&mut self, now: Time, source: TaskIndex, due: Option<Time>) {
        if let Some(task) = self.tasks.get_mut(source.index()) {
            task.has_missed |= due.is_some_and(|due| now > due);
        }
    }

    /// Whether the task has a say now.
    pub(crate) fn is_heard(&self, now: Time, source: TaskIndex) -> bool {
        self.tasks.get(source.index()).is_some_and(|task| task.is_soft && now >= task.mute_until)
    }

    /// Whether to act on a reported miss; `is_overdue` says whether a request of that task is
    /// outstanding past its due.
    pub(crate) fn judge(&mut self, now: Time, source: TaskIndex, is_overdue: bool) -> bool {
        if !self.is_heard(now, source) {
            return false;
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

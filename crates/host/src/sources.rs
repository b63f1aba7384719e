// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All sources of a workload at run time: which one releases next, and when they stop.
//!
//! Tasks and open-loop loads have one timer each; a closed-loop load releases again for each of its
//! requests that completes. A timer starts such a load if it has a start time. At one instant tasks
//! release first, then open-loop loads, both in file order, then closed-loop loads in the order of
//! their completions.
//!
//! Each nominal instant is computed from the previous one, never from the time at which the host
//! handled it. So nothing drifts, and a host that wakes up late releases all jobs that became due
//! meanwhile, each at its nominal instant, regardless of earlier jobs (dissertation 9.3.2). Only a
//! source with a limit on its outstanding jobs waits for them, by the rule of `source`.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use tidegate_model::{BestEffort, Task, TaskIndex, Time};

use crate::params::{HostParams, Length};
use crate::source::{JobEnd, Source};

/// The rules for when sources stop.
#[derive(Debug)]
struct Ending {
    /// No source releases from this instant on.
    until: Time,
    /// Best effort releases nothing from this instant on: see [`best_effort_until`].
    best_effort_until: Time,
    /// Whether best effort ends with the last release of a task.
    is_led_by_tasks: bool,
    tasks_open_count: usize,
    last_task_release: Option<Time>,
}

impl Ending {
    fn new(params: &HostParams) -> Self {
        let until = match params.length {
            Length::Jobs(_) => Time::MAX,
            Length::Duration(length) => Time::ZERO + length,
        };
        Self {
            until,
            best_effort_until: best_effort_until(params).unwrap_or(until),
            is_led_by_tasks: params.is_led_by_tasks(),
            tasks_open_count: 0,
            last_task_release: None,
        }
    }

    fn best_effort_may_release(&self, at: Time) -> bool {
        let is_led_out = self.is_led_by_tasks
            && self.tasks_open_count == 0
            && self.last_task_release != Some(at);
        at < self.until.min(self.best_effort_until) && !is_led_out
    }

    fn note_task_release(&mut self, at: Time, is_last: bool) {
        self.last_task_release = Some(at);
        if is_last {
            self.tasks_open_count -= 1;
        }
    }
}

/// Returns the instant at which best effort ends although tasks still have jobs to release: twice
/// the time that the slowest task needs for its jobs at one per period, or at one per deadline if
/// it has no period.
///
/// This limit applies only if a task waits for its earlier jobs (`outstanding`): under overload
/// each of its jobs would wait for more best effort than the one before, and a run measured in jobs
/// would never end.
fn best_effort_until(params: &HostParams) -> Option<Time> {
    let Length::Jobs(jobs) = params.length else { return None };
    let tasks = &params.workload.tasks;
    if tasks.iter().all(|task| task.outstanding_max.is_none()) {
        return None;
    }
    let span = |task: &Task| {
        let each = task.period_stated().unwrap_or(task.deadline);
        let all = each.checked_mul(jobs)?.checked_add(task.offset)?;
        Time::ZERO.checked_add(all.checked_mul(2)?)
    };
    tasks.iter().map(span).collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// A job that must be released now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) source: TaskIndex,
    /// The instant of the job's release.
    pub(crate) at: Time,
}

/// All sources of a workload.
///
/// # Invariants
/// - A source with a timer is in `timers` at most once, and not while a job of it waits for
///   another to complete.
#[derive(Debug)]
pub(crate) struct Sources {
    /// Tasks first, then loads; indexed by source.
    all: Vec<Source>,
    task_count: usize,
    timers: BinaryHeap<Reverse<(Time, TaskIndex)>>,
    /// Closed-loop sources that must release now, once per entry.
    owed: VecDeque<TaskIndex>,
    ending: Ending,
}

impl Sources {
    /// Makes the sources of a run, before the first release.
    pub(crate) fn new(params: &HostParams) -> Self {
        let workload = params.workload;
        let mut sources = Self {
            all: Vec::new(),
            task_count: workload.tasks.len(),
            timers: BinaryHeap::new(),
            owed: VecDeque::new(),
            ending: Ending::new(params),
        };
        for task in &workload.tasks {
            sources.add_task(task, params);
        }
        for load in &workload.best_effort {
            sources.add_load(load, params);
        }
        sources
    }

    fn add_task(&mut self, task: &Task, params: &HostParams) {
        let mut source = Source::of_task(task, self.next_index(), params);
        let first = source.first_job(task.offset);
        if source.is_open_at(first) && first < self.ending.until {
            self.timers.push(Reverse((source.seen_at(first), source.index())));
            self.ending.tasks_open_count += 1;
        }
        self.all.push(source);
    }

    fn add_load(&mut self, load: &BestEffort, params: &HostParams) {
        let source = Source::of_load(load, self.next_index(), params);
        match source.closed_loop() {
            Some(count) if load.start.is_zero() => {
                self.owed.extend((0..count).map(|_| source.index()));
            }
            _ if source.is_open() => {
                self.timers.push(Reverse((Time::ZERO + load.start, source.index())));
            }
            _ => {}
        }
        self.all.push(source);
    }

    fn next_index(&self) -> TaskIndex {
        TaskIndex(u32::try_from(self.all.len()).expect("fewer sources than 2^32"))
    }

    /// Returns the source with that index.
    pub(crate) fn source(&mut self, index: TaskIndex) -> &mut Source {
        &mut self.all[index.index()]
    }

    /// Returns the next instant at which a source's timer releases a job.
    pub(crate) fn next_release(&self) -> Option<Time> {
        if self.ending.is_led_by_tasks && self.ending.tasks_open_count == 0 {
            return None;
        }
        self.timers.peek().map(|Reverse((at, _))| *at)
    }

    /// Returns and counts the earliest job whose nominal instant has come.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Due> {
        self.pop_timed(now).or_else(|| self.pop_owed(now))
    }

    fn pop_timed(&mut self, now: Time) -> Option<Due> {
        loop {
            let top = self.timers.peek_mut()?;
            let Reverse((at, index)) = *top;
            if at > now {
                return None;
            }
            let source = &mut self.all[index.index()];
            if let Some(count) = source.closed_loop() {
                // The closed loop starts now.
                self.owed.extend((0..count).map(|_| index));
                PeekMut::pop(top);
                continue;
            }
            let (seen, at) = (at, source.nominal(at));
            if source.must_wait(at) {
                PeekMut::pop(top);
                continue;
            }
            let released = source.release_of(at);
            let is_task = index.index() < self.task_count;
            if is_task && (released >= self.ending.until || !source.is_open_at(released)) {
                // The job waited until the run's releases had ended.
                source.end();
                PeekMut::pop(top);
                self.ending.tasks_open_count -= 1;
                continue;
            }
            let may_release =
                source.is_open_at(released) && self.ending.best_effort_may_release(released);
            if !(is_task || may_release) {
                PeekMut::pop(top);
                continue;
            }
            source.begin_job();
            let next = source.next_job(at, released, self.ending.until);
            set_timer(top, next.map(|next| source.seen_at(next)));
            if next.is_none() {
                source.end();
            }
            if is_task {
                self.ending.note_task_release(seen, next.is_none());
            }
            return Some(Due { source: index, at: released });
        }
    }

    fn pop_owed(&mut self, now: Time) -> Option<Due> {
        while let Some(index) = self.owed.pop_front() {
            let source = &mut self.all[index.index()];
            if source.is_open_at(now) && self.ending.best_effort_may_release(now) {
                source.begin_job();
                return Some(Due { source: index, at: now });
            }
        }
        None
    }

    /// Ends a job of this source; returns whether it was the source's last.
    pub(crate) fn end_job(&mut self, now: Time, index: TaskIndex) -> bool {
        let source = self.source(index);
        let JobEnd { is_next_freed, is_next_too_late, is_last } = source.end_job(now);
        if source.closed_loop().is_some() {
            self.owed.push_back(index);
        }
        if is_next_freed {
            self.timers.push(Reverse((now, index)));
        }
        if is_next_too_late && index.index() < self.task_count {
            self.ending.tasks_open_count -= 1;
        }
        is_last
    }

    /// Returns whether the workload has tasks and no source releases from `now` on.
    pub(crate) fn is_real_time_over(&self, now: Time) -> bool {
        let ending = &self.ending;
        self.task_count > 0
            && ending.tasks_open_count == 0
            && (ending.is_led_by_tasks || now >= ending.until)
    }
}

fn set_timer(mut top: PeekMut<Reverse<(Time, TaskIndex)>>, next: Option<Time>) {
    match next {
        Some(next) => top.0.0 = next,
        None => {
            PeekMut::pop(top);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sections and thieves: when they come, and what they do to whoever has the processor.

use tidegate_cpu_model::{CpuServer, CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::{Duration, Time};

use super::{Before, Processor, Running};
use crate::ready::Urgency;
use crate::{CpuObserver, Timing};

/// Whether any thread may be blocked.
pub(super) fn is_blocking(workload: &CpuWorkload) -> bool {
    let of_tasks = workload.tasks.iter().map(|task| task.blocking);
    of_tasks.chain(workload.servers.iter().map(|server| server.blocking)).any(|it| !it.is_zero())
}

/// The longest that a thief goes on at a stretch: several of the longest deadlines, in which what it
/// hits is most often complete.
pub(super) fn patience(workload: &CpuWorkload) -> Duration {
    let of_tasks = workload.tasks.iter().map(|task| task.deadline);
    let longest = of_tasks.chain(workload.servers.iter().map(|server| server.params.period)).max();
    longest.unwrap_or_default().checked_mul(4).unwrap_or(Duration::MAX)
}

/// The longest section of a task, or without one of an outsider, that keeps waiting everything more
/// urgent than its owner up to the thread `victim`, tasks numbered before servers.
fn section_max(workload: &CpuWorkload, owner: Option<&CpuTask>, victim: usize) -> Duration {
    let ceiling = priority_of(workload, victim);
    let is_waiting = |priority: Priority, deadline: Option<Duration>| match workload.scheduling {
        Scheduling::FixedPriority => {
            priority <= ceiling && owner.is_none_or(|owner| priority > owner.priority)
        }
        // Whoever may be due before the owner; of a server nothing less is known.
        Scheduling::Edf => {
            owner.zip(deadline).is_none_or(|(owner, deadline)| deadline < owner.deadline)
        }
    };
    let of_task = |task: &CpuTask| {
        let from_release = task.deadline.checked_sub(task.jitter).unwrap_or_default();
        is_waiting(task.priority, Some(from_release)).then_some(task.blocking)
    };
    let of_server = |it: &CpuServer| is_waiting(it.priority, None).then_some(it.blocking);
    let of_tasks = workload.tasks.iter().filter_map(of_task);
    of_tasks.chain(workload.servers.iter().filter_map(of_server)).min().unwrap_or_default()
}

fn priority_of(workload: &CpuWorkload, thread: usize) -> Priority {
    match workload.tasks.get(thread) {
        Some(task) => task.priority,
        None => workload.servers[thread - workload.tasks.len()].priority,
    }
}

impl<O: CpuObserver> Processor<'_, O> {
    /// Something is about to be released: who disturbs at critical instants may do so now.
    pub(super) fn strike(&mut self) {
        if self.timing != Timing::Critical {
            return;
        }
        self.block();
        for index in 0..self.thieves.len() {
            if self.thieves[index].is_lurking(self.now) && self.random.below(2) == 0 {
                self.steal(index);
            }
        }
    }

    /// The thread that had the processor before this instant has just begun a section, if it may.
    pub(super) fn block(&mut self) {
        if !self.has_sections {
            return;
        }
        let workload = self.workload;
        let victim = self.random.index(workload.tasks.len() + workload.servers.len());
        let Some(owner) = self.section_owner() else { return };
        let longest = section_max(workload, workload.tasks.get(owner), victim);
        if longest.is_zero() {
            return;
        }
        let length = match self.timing {
            Timing::Random => Duration::from_ns(1 + self.random.below(longest.ns())),
            Timing::Critical | Timing::Never => longest,
        };
        // Before all that is as urgent, and under EDF before everything.
        let ceiling = match workload.scheduling {
            Scheduling::FixedPriority => Urgency::of_priority(priority_of(workload, victim), 0),
            Scheduling::Edf => Urgency::of_deadline(Time::ZERO, 0),
        };
        self.enter_section(owner, length, ceiling);
    }

    /// Who may have begun a section: a task that executes and is in none, or where nobody does the
    /// outsider, whose number is that behind the tasks.
    fn section_owner(&mut self) -> Option<usize> {
        let outsider = self.workload.tasks.len();
        match self.before? {
            Before::Idle => self.running.is_none().then_some(outsider),
            Before::Thread(thread) if thread < outsider && self.is_running(thread) => {
                self.account();
                let is_executing = self.running?.switch_left.is_zero();
                (is_executing && !self.tasks[thread].1.is_in_section()).then_some(thread)
            }
            Before::Thread(_) => None,
        }
    }

    fn enter_section(&mut self, owner: usize, length: Duration, ceiling: Urgency) {
        let (_, task) = &mut self.tasks[owner];
        if self.running.is_none() {
            task.begin_outside(self.now, length);
            self.running = Some(Running {
                thread: owner,
                since: self.now.max(self.stolen_until),
                switch_left: Duration::ZERO,
                enforced_at: Time::MAX,
                stop_at: Time::MAX,
            });
        }
        let length = length.min(task.remaining);
        task.enter(length, ceiling);
        self.run.sections += 1;
        self.run.section_max = self.run.section_max.max(length);
        self.set_stop();
    }

    /// When the next section begins at random.
    pub(super) fn set_next_section(&mut self) {
        let shortest = self.workload.tasks.iter().map(|task| task.period).min();
        let source = self.work.len() + self.tasks.len() + self.servers.len() + self.thieves.len();
        let at = match (self.has_sections && self.timing == Timing::Random, shortest) {
            (true, Some(shortest)) => {
                self.now + Duration::from_ns(1 + self.random.below(2 * shortest.ns()))
            }
            _ => Time::MAX,
        };
        self.timeline.set(source, at);
    }

    /// A thief that strikes at critical instants lets an idle processor be, to have its whole
    /// burst for the next.
    pub(super) fn go_on_stealing(&mut self, index: usize) {
        if self.timing == Timing::Critical && self.running.is_none() {
            self.thieves[index].rest(self.now);
            self.set_next_theft(index);
        } else {
            self.steal(index);
        }
    }

    fn steal(&mut self, index: usize) {
        let stolen = self.thieves[index].steal(self.now);
        self.set_next_theft(index);
        if stolen.is_zero() {
            return;
        }
        self.account();
        let from = self.stolen_until.max(self.now);
        self.stolen_until = from + stolen;
        self.run.stolen += stolen;
        self.observer.stolen(from, self.stolen_until);
        if let Some(running) = &mut self.running {
            running.since = self.stolen_until;
            let later = |at: Time| at.checked_add(stolen).unwrap_or(Time::MAX);
            running.stop_at = later(running.stop_at);
            running.enforced_at = later(running.enforced_at);
        }
    }

    fn set_next_theft(&mut self, index: usize) {
        let source = self.work.len() + self.tasks.len() + self.servers.len() + index;
        self.timeline.set(source, self.thieves[index].next);
    }
}

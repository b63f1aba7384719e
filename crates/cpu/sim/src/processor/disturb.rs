// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sections and stolen time: when they occur, and their effect on the running thread.

use tidegate_cpu_model::Scheduling;
use tidegate_model::{Duration, Time};

use super::sections::{priority_of, section_max};
use super::{Before, Processor, Running};
use crate::observer::CpuObserver;
use crate::ready::Urgency;
use crate::timing::Timing;

impl<O: CpuObserver> Processor<'_, O> {
    /// Disturbs the processor just before a release, if disturbances come at critical instants.
    pub(super) fn disturb_release(&mut self) {
        if self.timing != Timing::Critical {
            return;
        }
        self.block();
        for index in 0..self.stolen.len() {
            if self.stolen[index].is_lurking(self.now) && self.random.below(2) == 0 {
                self.steal(index);
            }
        }
    }

    /// Begins a section of the thread that was running before this instant, if possible.
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
        // The ceiling is above every thread as urgent as the victim; under EDF it is above all
        // threads.
        let ceiling = match workload.scheduling {
            Scheduling::FixedPriority => Urgency::of_priority(priority_of(workload, victim), 0),
            Scheduling::Edf => Urgency::of_deadline(Time::ZERO, 0),
        };
        self.enter_section(owner, length, ceiling);
    }

    /// Returns the thread that can have begun a section: a running task that is in no section or,
    /// if the processor is idle, the outsider, whose number follows the tasks.
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

    /// Sets the instant of the next random section.
    pub(super) fn set_next_section(&mut self) {
        let shortest = self.workload.tasks.iter().map(|task| task.period).min();
        let source = self.work.len() + self.tasks.len() + self.servers.len() + self.stolen.len();
        let at = match (self.has_sections && self.timing == Timing::Random, shortest) {
            (true, Some(shortest)) => {
                self.now + Duration::from_ns(1 + self.random.below(2 * shortest.ns()))
            }
            _ => Time::MAX,
        };
        self.timeline.set(source, at);
    }

    /// Continues stealing. A source that steals at critical instants stops while the processor is
    /// idle, so that its whole burst is available at the next release.
    pub(super) fn continue_stealing(&mut self, index: usize) {
        if self.timing == Timing::Critical && self.running.is_none() {
            self.stolen[index].rest(self.now);
            self.set_next_theft(index);
        } else {
            self.steal(index);
        }
    }

    fn steal(&mut self, index: usize) {
        let stolen = self.stolen[index].steal(self.now);
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
        self.timeline.set(source, self.stolen[index].next);
    }
}

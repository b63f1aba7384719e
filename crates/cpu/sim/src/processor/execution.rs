// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The running thread: its execution so far, and when it stops if nothing interferes.

use tidegate_cpu_model::Scheduling;
use tidegate_cpu_servers::ServerEvent;
use tidegate_model::{Duration, Time};

use super::Processor;
use crate::observer::{CpuObserver, Thread};
use crate::ready::Urgency;
use crate::server_state::{Mode, ServerState};

impl<O: CpuObserver> Processor<'_, O> {
    /// Accounts the running thread's execution up to now.
    pub(super) fn account(&mut self) {
        let Some(running) = &mut self.running else { return };
        // The elapsed time is zero while time is stolen.
        let elapsed = self.now.since(running.since);
        let switching = elapsed.min(running.switch_left);
        let from = running.since + switching;
        running.switch_left = running.switch_left - switching;
        running.since = running.since.max(self.now);
        self.run.busy += elapsed;
        self.run.switching += switching;
        let executed = elapsed - switching;
        if executed.is_zero() {
            return;
        }
        if let Some((_, task)) = self.tasks.get_mut(running.thread) {
            task.execute(executed);
            if running.thread < self.workload.tasks.len() {
                self.observer.executed(Thread::Task(running.thread), from, self.now, true);
            }
            return;
        }
        let index = running.thread - self.tasks.len();
        let state = &mut self.servers[index];
        let job = state.jobs.front_mut().expect("a server that executes has a job");
        job.remaining = job.remaining - executed;
        let metrics = &mut self.run.servers[index];
        let in_budget = state.mode == Mode::InBudget;
        if in_budget {
            state.unreported += executed;
            metrics.executed += executed;
            metrics.window.record(from, self.now);
        } else {
            metrics.background += executed;
        }
        self.observer.executed(Thread::Server(index), from, self.now, in_budget);
    }

    /// Handles the end of the running thread's job or budget.
    pub(super) fn stop(&mut self) {
        self.account();
        self.run.events += 1;
        let Some(running) = self.running else { return };
        if let Some((_, task)) = self.tasks.get(running.thread) {
            if task.remaining.is_zero() {
                self.complete_of_task(running.thread);
            } else {
                // The job's section has ended.
                self.set_stop();
            }
            return;
        }
        let index = running.thread - self.tasks.len();
        let is_complete =
            |state: &ServerState<'_>| state.jobs.front().is_some_and(|job| job.remaining.is_zero());
        if is_complete(&self.servers[index]) {
            self.complete_of_server(index);
        } else {
            self.tell(index, ServerEvent::Alarm);
        }
    }

    fn complete_of_task(&mut self, index: usize) {
        let (_, task) = &mut self.tasks[index];
        let arrival = task.complete();
        if let Some(metrics) = self.run.tasks.get_mut(index) {
            metrics.complete(self.now - arrival);
            self.observer.completed(Thread::Task(index), arrival, self.now);
        }
        let Some(&next) = task.jobs.front() else {
            task.urgency = None;
            self.running = None;
            return;
        };
        if self.scheduling == Scheduling::Edf {
            let due = next + task.deadline;
            let turn = self.next_turn();
            self.tasks[index].1.urgency = Some(Urgency::of_deadline(due, turn));
        }
        self.set_stop();
    }

    fn complete_of_server(&mut self, index: usize) {
        let state = &mut self.servers[index];
        let job = state.jobs.pop_front().expect("the job that is complete");
        self.run.work[job.work].complete(self.now - job.arrival);
        self.observer.completed(Thread::Server(index), job.arrival, self.now);
        if state.jobs.is_empty() {
            self.tell(index, ServerEvent::Block);
        } else if self.running.is_some_and(|running| running.enforced_at <= self.now) {
            self.tell(index, ServerEvent::Alarm);
        } else {
            self.set_stop_of_job();
        }
    }

    /// Sets when the running thread stops; a server's status must be current.
    pub(super) fn set_stop(&mut self) {
        let Some(running) = &mut self.running else { return };
        running.enforced_at = Time::MAX;
        if let Some(index) = running.thread.checked_sub(self.tasks.len()) {
            let state = &self.servers[index];
            if !state.status.budget.is_zero() {
                let starts = running.since + running.switch_left;
                // A server that the caller supplies can return any budget. A budget that ends
                // beyond `Time::MAX` is not enforced.
                let executes = state.status.budget.checked_add(self.timer_latency);
                let ends = executes.and_then(|executes| starts.checked_add(executes));
                running.enforced_at = ends.unwrap_or(Time::MAX);
            }
        }
        self.set_stop_of_job();
    }

    /// Sets when the running thread stops; `enforced_at` must be set.
    fn set_stop_of_job(&mut self) {
        let Some(running) = &mut self.running else { return };
        let remaining = if let Some((_, task)) = self.tasks.get(running.thread) {
            task.until_change()
        } else {
            let jobs = &self.servers[running.thread - self.tasks.len()].jobs;
            jobs.front().map_or(Duration::ZERO, |job| job.remaining)
        };
        running.stop_at =
            (running.since + running.switch_left + remaining).min(running.enforced_at);
    }
}

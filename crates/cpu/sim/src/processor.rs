// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The event loop: time jumps to the next event, then the most urgent thread executes.
//!
//! Threads are numbered in this order: tasks, the outsider (the thread outside the workload),
//! servers. Event sources are numbered in this order: work, tasks, servers, stolen time, sections.
//! Execution is accounted only at events of the running thread.

mod disturb;
mod execution;
mod sections;

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_cpu_model::{Background, CpuWorkload, Priority, Scheduling};
use tidegate_cpu_servers::{Server, ServerEvent};
use tidegate_model::{Duration, Random, Time};

use super::arrivals::WorkArrivals;
use super::disturbance::Disturbance;
use super::metrics::{CpuRun, CpuRunEnd};
use super::observer::{CpuObserver, ServerCall};
use super::params::CpuParams;
use super::ready::{Ready, Urgency};
use super::server_state::{Mode, ServerJob, ServerState};
use super::stolen_time::StolenTimeState;
use super::task_state::TaskState;
use super::timeline::Timeline;
use super::timing::Timing;

/// The running thread.
#[derive(Debug, Clone, Copy)]
struct Running {
    thread: usize,
    /// The instant up to which execution is accounted; in the future while time is stolen.
    since: Time,
    /// The time left of the context switch.
    switch_left: Duration,
    /// The instant at which the thread's budget is enforced; [`Time::MAX`] without a budget.
    enforced_at: Time,
    /// The instant at which the thread stops if nothing interferes.
    stop_at: Time,
}

/// A run in progress.
pub(super) struct Processor<'a, O> {
    workload: &'a CpuWorkload,
    scheduling: Scheduling,
    switch: Duration,
    timer_latency: Duration,
    timing: Timing,
    has_sections: bool,
    work: Vec<(usize, WorkArrivals)>,
    tasks: Vec<(Priority, TaskState)>,
    servers: Vec<ServerState<'a>>,
    stolen: Vec<StolenTimeState>,
    /// The end of the time stolen so far.
    stolen_until: Time,
    /// The state just before the current instant; `None` if a thread stopped at this instant.
    before: Option<Before>,
    timeline: Timeline,
    ready: Ready,
    running: Option<Running>,
    now: Time,
    end: Time,
    interrupted: Option<&'a AtomicBool>,
    turn: u64,
    random: Random,
    run: CpuRun,
    observer: &'a mut O,
}

/// The state of the processor just before an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Idle,
    /// This thread was running and did not stop.
    Thread(usize),
}

impl<'a, O: CpuObserver> Processor<'a, O> {
    pub(super) fn new(
        params: &CpuParams<'a>,
        servers: Vec<Box<dyn Server + 'a>>,
        observer: &'a mut O,
    ) -> Self {
        let workload = params.workload;
        let mut streams = (1..).map(|stream| Random::new(params.seed, stream));
        let mut random = || streams.next().expect("there is always another stream");
        let tasks = workload.tasks.iter();
        let mut tasks: Vec<_> =
            tasks.map(|task| (task.priority, TaskState::new(task, random()))).collect();
        let work = workload.work.iter();
        let work: Vec<_> =
            work.map(|work| (work.server, WorkArrivals::new(work, random()))).collect();
        let described = workload.servers.iter().zip(servers);
        let servers: Vec<_> =
            described.map(|(server, rules)| ServerState::new(server, rules)).collect();
        tasks.push((Priority(0), TaskState::outsider(random())));
        let Disturbance { timing, stolen, grain } = params.disturbance;
        let patience = sections::patience(workload);
        let state = |it| StolenTimeState::new(it, (timing, grain), patience, random());
        let stolen: Vec<_> = stolen.iter().map(state).collect();
        let random = random();
        let scheduled = work.len() + tasks.len() + servers.len();
        let mut timeline = Timeline::new(scheduled + stolen.len() + 1);
        for (source, (_, arrivals)) in work.iter().enumerate() {
            timeline.set(source, arrivals.next());
        }
        for (source, (_, task)) in (work.len()..).zip(&tasks) {
            timeline.set(source, task.releases.next());
        }
        for (source, it) in (scheduled..).zip(&stolen) {
            timeline.set(source, it.next);
        }
        let mut processor = Self {
            workload,
            scheduling: workload.scheduling,
            switch: workload.switch,
            timer_latency: workload.timer_latency,
            timing,
            has_sections: timing != Timing::Never && sections::is_blocking(workload),
            ready: Ready::with_room(tasks.len() + servers.len()),
            work,
            tasks,
            servers,
            stolen,
            stolen_until: Time::ZERO,
            before: Some(Before::Idle),
            timeline,
            running: None,
            now: Time::ZERO,
            end: Time::ZERO + params.duration,
            interrupted: params.interrupted,
            turn: 0,
            random,
            run: CpuRun::new(workload),
            observer,
        };
        processor.set_next_section();
        processor
    }

    pub(super) fn run(mut self) -> CpuRun {
        loop {
            let (event_at, _) = self.timeline.first();
            let stop_at = self.running.map_or(Time::MAX, |running| running.stop_at);
            let next = event_at.min(stop_at);
            if next >= self.end {
                self.now = self.end;
                break;
            }
            if self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                self.run.end = CpuRunEnd::Interrupted;
                break;
            }
            self.now = next;
            self.before = match self.running {
                None => Some(Before::Idle),
                Some(running) => (stop_at > next).then_some(Before::Thread(running.thread)),
            };
            if stop_at <= next {
                self.stop();
            }
            if !self.handle_events() {
                self.run.end = CpuRunEnd::Overloaded;
                break;
            }
            self.choose();
            self.report_levels();
        }
        self.finish()
    }

    /// Handles all external events of the current instant; returns false if a task's queue is full.
    fn handle_events(&mut self) -> bool {
        loop {
            let (at, source) = self.timeline.first();
            if at > self.now {
                return true;
            }
            self.run.events += 1;
            let task = source.wrapping_sub(self.work.len());
            let server = task.wrapping_sub(self.tasks.len());
            let stolen = server.wrapping_sub(self.servers.len());
            if source < self.work.len() {
                self.arrive(source);
            } else if task < self.tasks.len() {
                if !self.release(task) {
                    return false;
                }
            } else if server < self.servers.len() {
                self.alarm(server);
            } else if stolen < self.stolen.len() {
                self.continue_stealing(stolen);
            } else {
                self.block();
                self.set_next_section();
            }
        }
    }

    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    fn release(&mut self, task: usize) -> bool {
        self.disturb_release();
        let turn = self.next_turn();
        let (priority, state) = &mut self.tasks[task];
        let has_room = state.release();
        self.timeline.set(self.work.len() + task, state.releases.next());
        if state.urgency.is_none() {
            let due = state.jobs[0] + state.deadline;
            let urgency = match self.scheduling {
                Scheduling::FixedPriority => Urgency::of_priority(*priority, turn),
                Scheduling::Edf => Urgency::of_deadline(due, turn),
            };
            state.urgency = Some(urgency);
            self.ready.insert(urgency, task);
        }
        has_room
    }

    fn arrive(&mut self, work: usize) {
        self.disturb_release();
        let (server, arrivals) = &mut self.work[work];
        let index = *server;
        let state = &mut self.servers[index];
        for _ in 0..arrivals.take() {
            let remaining = arrivals.draw_execution();
            let job = ServerJob { work, arrival: self.now, remaining };
            if !state.push(job) {
                self.run.work[work].lose();
            }
        }
        self.timeline.set(work, arrivals.next());
        if state.mode == Mode::Blocked {
            self.tell(index, ServerEvent::Unblock);
        }
    }

    fn alarm(&mut self, index: usize) {
        let source = self.work.len() + self.tasks.len() + index;
        self.timeline.set(source, Time::MAX);
        if self.is_running(self.tasks.len() + index) {
            self.account();
        }
        self.tell(index, ServerEvent::Alarm);
    }

    fn is_running(&self, thread: usize) -> bool {
        self.running.is_some_and(|running| running.thread == thread)
    }

    /// Reports an event to a server, and applies the server's status.
    fn tell(&mut self, index: usize, event: ServerEvent) {
        let state = &mut self.servers[index];
        let executed = std::mem::take(&mut state.unreported);
        state.server.observe(self.now, executed, event);
        state.status = state.server.status(self.now);
        self.observer.observed(&ServerCall {
            index,
            now: self.now,
            executed,
            event,
            status: state.status,
            server: &*state.server,
        });
        // An alarm for the current instant is moved to the next ns; a server without work gets no
        // alarm.
        let soonest = self.now + Duration::from_ns(1);
        let wanted = state.status.alarm.filter(|_| !state.jobs.is_empty());
        let alarm = wanted.map_or(Time::MAX, |alarm| alarm.max(soonest));
        self.timeline.set(self.work.len() + self.tasks.len() + index, alarm);
        self.follow(index);
    }

    /// Moves a server to the mode that its status allows.
    fn follow(&mut self, index: usize) {
        let thread = self.tasks.len() + index;
        let is_running = self.is_running(thread);
        if is_running {
            self.set_stop();
        }
        let turn = self.next_turn();
        let state = &mut self.servers[index];
        let mode = state.mode_now();
        if state.mode == Mode::InBudget && matches!(mode, Mode::Out | Mode::Background) {
            self.run.servers[index].exhaustions += 1;
        }
        state.mode = mode;
        let was = state.urgency;
        let rank = match (mode, self.scheduling, state.background) {
            (Mode::Blocked | Mode::Out, ..) => None,
            (Mode::Background, _, Background::At(priority)) => {
                Some(Urgency::of_priority(priority, turn))
            }
            (_, Scheduling::FixedPriority, _) => Some(Urgency::of_priority(state.priority, turn)),
            (_, Scheduling::Edf, _) => Some(Urgency::of_deadline(state.status.due, turn)),
        };
        // A thread whose urgency is unchanged keeps its position among its equals.
        if was.zip(rank).is_some_and(|(was, rank)| was.is_equal_rank(rank)) {
            return;
        }
        state.urgency = rank;
        match (is_running, was, rank) {
            (true, _, None) => self.running = None,
            (true, _, Some(_)) => {}
            (false, was, rank) => {
                if let Some(was) = was {
                    self.ready.remove(was);
                }
                if let Some(rank) = rank {
                    self.ready.insert(rank, thread);
                }
            }
        }
    }

    fn urgency(&self, thread: usize) -> Urgency {
        let urgency = match self.tasks.get(thread) {
            Some((_, task)) => task.urgency,
            None => self.servers[thread - self.tasks.len()].urgency,
        };
        urgency.expect("a thread that is ready or executes is urgent")
    }

    /// Returns whether no thread, ready or running, is more urgent than this one.
    fn is_next(&self, thread: usize) -> bool {
        let is_above_running =
            |urgency| self.running.is_none_or(|running| self.urgency(running.thread) > urgency);
        self.ready
            .first()
            .is_some_and(|(urgency, first)| first == thread && is_above_running(urgency))
    }

    /// Gives the processor to the most urgent thread.
    fn choose(&mut self) {
        while let Some((urgency, thread)) = self.ready.first() {
            let preempted = self.running.map(|running| running.thread);
            if preempted.is_some_and(|running| self.urgency(running) <= urgency) {
                return;
            }
            // A server is charged before it preempts, which can leave it without budget.
            if let Some(index) = thread.checked_sub(self.tasks.len())
                && self.servers[index].mode == Mode::InBudget
            {
                self.pay(index, preempted.is_some());
                if !self.is_next(thread) {
                    continue;
                }
            }
            self.ready.pop();
            if preempted.is_some() {
                self.preempt();
            }
            self.run.switches += 1;
            self.running = Some(Running {
                thread,
                since: self.now.max(self.stolen_until),
                switch_left: self.switch,
                enforced_at: Time::MAX,
                stop_at: Time::MAX,
            });
            self.set_stop();
        }
    }

    /// Reports to servers that their priority levels became active or idle; EDF has no levels.
    fn report_levels(&mut self) {
        if self.scheduling == Scheduling::Edf {
            return;
        }
        let running = self.running.map(|running| self.urgency(running.thread));
        for state in &mut self.servers {
            let own = Urgency::of_priority(state.priority, u64::MAX);
            state.set_level(self.now, running.is_some_and(|running| running <= own));
        }
    }

    /// Reports to a server that it takes the processor, and counts the charge if it preempts.
    fn pay(&mut self, index: usize, preempts: bool) {
        if preempts {
            let metrics = &mut self.run.servers[index];
            metrics.preemptions += 1;
            metrics.charged += self.servers[index].preemption_charge;
        }
        self.tell(index, ServerEvent::Dispatch { preempts });
    }

    /// Preempts the running thread, which keeps its position among its equals.
    fn preempt(&mut self) {
        self.account();
        self.run.events += 1;
        let Some(running) = self.running.take() else { return };
        let urgency = self.urgency(running.thread);
        self.ready.insert(urgency, running.thread);
        if let Some(index) = running.thread.checked_sub(self.tasks.len())
            && self.servers[index].mode == Mode::InBudget
        {
            self.tell(index, ServerEvent::Preempt);
        }
    }

    /// Ends the run: an incomplete job is a miss if its deadline has passed.
    fn finish(mut self) -> CpuRun {
        self.account();
        for (metrics, (_, task)) in self.run.tasks.iter_mut().zip(&self.tasks) {
            for &arrival in &task.jobs {
                metrics.abandon(self.now.since(arrival));
            }
        }
        for job in self.servers.iter().flat_map(|server| &server.jobs) {
            self.run.work[job.work].abandon(self.now.since(job.arrival));
        }
        self.run.stolen = self.run.stolen - self.stolen_until.since(self.now);
        self.run.duration = self.now - Time::ZERO;
        self.run
    }
}

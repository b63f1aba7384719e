// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Watches a run and checks the invariants as it goes.

use std::collections::VecDeque;

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::{Replenishment, ServerEvent};
use tidegate_cpu_sim::{CpuObserver, CpuRun, ServerCall, Thread};
use tidegate_model::{Duration, Time};

use crate::case::{Case, Outcome};
use crate::invariants::{Invariant, QueueFault, Violation};
use crate::trace::TraceLine;

/// Stretches of execution that windows are made of: those of the last dozens of periods. The
/// window from the first of all is looked at beside them.
const STRETCHES_MAX: usize = 64;

/// What the server took in one go: it executed, or was charged.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: Time,
    to: Time,
    taken: Duration,
}

/// The invariants of one run.
pub(crate) struct Watch<'a> {
    case: &'a Case,
    params: ServerParams,
    /// One enforcement delay, and one preemption that the budget did not cover.
    overrun: Duration,
    /// Nobody is above the server: I2 holds then.
    is_top: bool,
    /// Of tasks below the server: I3.
    bounds: Vec<Option<Duration>>,
    stretches: VecDeque<Stretch>,
    /// All that it took since it first executed: an excess may grow slowly.
    since_first: Option<Stretch>,
    replenishments: Vec<Replenishment>,
    /// Their sum and number after the last call.
    before: Option<(Duration, usize)>,
    is_recorded: bool,
    outcome: Outcome,
}

impl<'a> Watch<'a> {
    /// A watch over a case whose tasks below the server have their bounds as deadlines.
    pub(crate) fn new(case: &'a Case, bounds: Vec<Option<Duration>>, is_recorded: bool) -> Self {
        let (tasks, server) = (&case.workload.tasks, &case.workload.servers[0]);
        Self {
            case,
            params: server.params,
            overrun: case.workload.timer_latency + server.params.preemption_charge,
            is_top: tasks.iter().all(|task| task.priority < server.priority),
            bounds,
            stretches: VecDeque::with_capacity(STRETCHES_MAX + 1),
            since_first: None,
            replenishments: Vec::new(),
            before: None,
            is_recorded,
            outcome: Outcome {
                violations: [const { None }; 5],
                checks: [0; 5],
                events: 0,
                trace: Vec::new(),
                executed: Vec::new(),
            },
        }
    }

    /// The run is over: jobs below the server that never answered are found in its misses.
    pub(crate) fn into_outcome(mut self, run: &CpuRun) -> Outcome {
        self.outcome.events = run.events;
        for (index, bound) in self.bounds.clone().into_iter().enumerate() {
            let Some(bound) = bound.filter(|_| run.tasks[index].misses > 0) else { continue };
            let task = run.tasks[index].name.clone();
            self.found(Invariant::Response, Some(Violation::Unanswered { task, bound }));
        }
        self.outcome
    }

    /// An invariant was looked at, and held or not.
    fn found(&mut self, invariant: Invariant, violation: Option<Violation>) {
        let index = invariant.index();
        self.outcome.checks[index] += 1;
        let first = &mut self.outcome.violations[index];
        if first.is_none() {
            *first = violation;
        }
    }

    /// I2: windows from the start of each stretch to the end of the last. Among the windows with
    /// so much execution these are the shortest, and the bound grows with the window.
    fn check_windows(&mut self) {
        let Some(last) = self.stretches.back().copied() else { return };
        let excess = |from: Time, executed: Duration| {
            let (to, allowed) = (last.to, allowed(&self.params, last.to - from) + self.overrun);
            (executed > allowed).then_some(Violation::Window { from, to, executed, allowed })
        };
        let mut taken = Duration::ZERO;
        let mut windows = self.stretches.iter().rev();
        let recent = windows.find_map(|stretch| {
            taken += stretch.taken;
            excess(stretch.from, taken)
        });
        let long = || self.since_first.and_then(|all| excess(all.from, all.taken));
        let violation = recent.or_else(long);
        self.found(Invariant::Window, violation);
    }

    fn take(&mut self, stretch: Stretch) {
        let all = self.since_first.get_or_insert(Stretch { taken: Duration::ZERO, ..stretch });
        all.to = stretch.to;
        all.taken += stretch.taken;
        match self.stretches.back_mut() {
            Some(last) if last.to == stretch.from => {
                last.to = stretch.to;
                last.taken += stretch.taken;
            }
            _ => self.stretches.push_back(stretch),
        }
        if self.stretches.len() > STRETCHES_MAX {
            self.stretches.pop_front();
        }
        if self.is_top {
            self.check_windows();
        }
    }

    /// I1, I4 and I5, where the server tells its replenishments.
    fn check_replenishments(&mut self, at: Time) {
        let known = std::mem::take(&mut self.replenishments);
        // Beyond all time it stays there: too much in any case.
        let add =
            |sum: Duration, it: &Replenishment| sum.checked_add(it.amount).unwrap_or(Duration::MAX);
        let sum = known.iter().fold(Duration::ZERO, add);
        let budget = self.params.budget;
        self.found(
            Invariant::Budget,
            (sum != budget).then_some(Violation::Budget { at, sum, budget }),
        );
        let fault = queue_fault(&known, at, self.params.replenishments_max);
        self.found(Invariant::Queue, fault.map(|what| Violation::Queue { at, what }));
        if let Some((before, count)) = self.before
            && known.len() < count
        {
            let violation = Violation::Merging { at, before, after: sum };
            self.found(Invariant::Merging, (sum != before).then_some(violation));
        }
        self.before = Some((sum, known.len()));
        self.replenishments = known;
    }
}

/// What a periodic task may execute in a window: `jC + min(C, D − jT)`, `j = ⌊D/T⌋`. What is
/// charged takes no time here, and so is not limited by the length of the window.
fn allowed(params: &ServerParams, window: Duration) -> Duration {
    let whole = window.ns() / params.period.ns();
    let rest = Duration::from_ns(window.ns() % params.period.ns());
    let is_charged = !params.preemption_charge.is_zero();
    let last = if is_charged { params.budget } else { rest.min(params.budget) };
    params.budget * whole + last
}

fn queue_fault(known: &[Replenishment], now: Time, max: u32) -> Option<QueueFault> {
    if !known.is_sorted_by_key(|it| it.at) {
        return Some(QueueFault::Unsorted);
    }
    if known.iter().any(|it| it.amount.is_zero()) {
        return Some(QueueFault::Zero);
    }
    // POSIX counts those to come alone; what is available is one more at most.
    let count = known.iter().filter(|it| it.at > now).count();
    (u32::try_from(count).unwrap_or(u32::MAX) > max).then_some(QueueFault::TooMany { count, max })
}

impl CpuObserver for Watch<'_> {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        if self.is_recorded {
            self.outcome.executed.push((thread, from, to));
        }
        if thread == Thread::Server(0) && in_budget {
            self.take(Stretch { from, to, taken: to - from });
        }
    }

    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        let Thread::Task(index) = thread else { return };
        let Some(bound) = self.bounds[index] else { return };
        let response = now - arrival;
        let task = || self.case.workload.tasks[index].name.clone();
        let violation = (response > bound).then(|| Violation::Response {
            task: task(),
            arrival,
            response,
            bound,
        });
        self.found(Invariant::Response, violation);
    }

    /// # Panics
    /// When a server with work wants to be told again at once: it would be, for ever.
    fn observed(&mut self, call: &ServerCall<'_>) {
        let (now, alarm) = (call.now, call.standing.alarm);
        let is_over = call.event != ServerEvent::Block && alarm.is_some_and(|alarm| alarm <= now);
        assert!(
            !is_over,
            "the alarm of the server under test is not after now: {alarm:?}, {now:?}"
        );
        if self.is_recorded {
            self.outcome.trace.push(TraceLine::of(call));
        }
        call.server.replenishments(&mut self.replenishments);
        if !self.replenishments.is_empty() {
            self.check_replenishments(call.now);
        }
        let charge = self.params.preemption_charge;
        if call.event == (ServerEvent::Dispatch { preempts: true }) && !charge.is_zero() {
            self.take(Stretch { from: call.now, to: call.now, taken: charge });
        }
    }
}

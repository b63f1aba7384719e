// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Observes a run and checks the invariants during it.

use std::collections::VecDeque;

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::{Replenishment, ServerEvent};
use tidegate_cpu_sim::{CpuObserver, CpuRun, ServerCall, Thread};
use tidegate_model::{Duration, Time};

use crate::case::{Case, Outcome};
use crate::invariants::{Invariant, QueueFault, Violation};
use crate::liveness::Liveness;
use crate::trace::TraceLine;

/// The maximum number of recent execution intervals from which windows are built. They cover the
/// last few dozen periods. The window that starts with the very first interval is also checked.
const STRETCHES_MAX: usize = 64;

/// An interval in which the server executed or was charged.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: Time,
    to: Time,
    taken: Duration,
}

/// The checks of the invariants in one run.
pub(crate) struct Watch<'a> {
    case: &'a Case,
    params: ServerParams,
    /// The largest overrun: one enforcement delay, and one preemption charge that the budget did
    /// not cover.
    overrun: Duration,
    /// Whether no task is above the server, so that I2 applies.
    is_top: bool,
    /// The response-time bound of each task below the server, for I3.
    bounds: Vec<Option<Duration>>,
    stretches: VecDeque<Stretch>,
    /// All execution since the server first executed, because an excess can grow slowly.
    since_first: Option<Stretch>,
    replenishments: Vec<Replenishment>,
    /// The sum and the number of replenishments after the last call.
    before: Option<(Duration, usize)>,
    liveness: Liveness,
    is_recorded: bool,
    outcome: Outcome,
}

impl<'a> Watch<'a> {
    /// Creates a watch for a case. In the simulated run, tasks below the server have their bounds
    /// as deadlines.
    pub(crate) fn new(case: &'a Case, bounds: Vec<Option<Duration>>, is_recorded: bool) -> Self {
        let (tasks, server) = (&case.workload.tasks, &case.workload.servers[0]);
        let overrun = case.workload.timer_latency + server.params.preemption_charge;
        let is_top = tasks.iter().all(|task| task.priority < server.priority);
        Self {
            case,
            params: server.params,
            overrun,
            is_top,
            bounds,
            stretches: VecDeque::with_capacity(STRETCHES_MAX + 1),
            since_first: None,
            replenishments: Vec::new(),
            before: None,
            liveness: Liveness::new(&server.params, overrun, is_top),
            is_recorded,
            outcome: Outcome {
                violations: [const { None }; Invariant::COUNT],
                checks: [0; Invariant::COUNT],
                events: 0,
                trace: Vec::new(),
                executed: Vec::new(),
            },
        }
    }

    /// Ends the run, and reports the jobs below the server that missed their bound.
    pub(crate) fn into_outcome(mut self, run: &CpuRun) -> Outcome {
        self.outcome.events = run.events;
        let end = Time::ZERO + self.case.duration;
        if let Some(checked) = self.liveness.check(end) {
            self.found(Invariant::Liveness, checked.err());
        }
        for (index, bound) in self.bounds.clone().into_iter().enumerate() {
            let Some(bound) = bound.filter(|_| run.tasks[index].misses > 0) else { continue };
            let task = run.tasks[index].name.clone();
            self.found(Invariant::Response, Some(Violation::Unanswered { task, bound }));
        }
        self.outcome
    }

    /// Counts a check of an invariant, and records a violation.
    fn found(&mut self, invariant: Invariant, violation: Option<Violation>) {
        let index = invariant.index();
        self.outcome.checks[index] += 1;
        let first = &mut self.outcome.violations[index];
        if first.is_none() {
            *first = violation;
        }
    }

    /// Checks I2 in the windows from the start of each interval to the end of the last interval.
    /// These are the shortest windows with their amount of execution, and the bound grows with the
    /// window.
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
        self.liveness.take(stretch.to, stretch.taken);
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

    /// Checks I1, I4 and I5, if the server reports its replenishments.
    fn check_replenishments(&mut self, at: Time) {
        let known = std::mem::take(&mut self.replenishments);
        // A sum beyond `Duration::MAX` saturates, which is above every budget.
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

/// Returns the longest time that a periodic task with budget C and period T can execute in a window
/// of length D: `jC + min(C, D − jT)` with `j = ⌊D/T⌋`. If preemptions are charged, the last job
/// counts in full, because a charge is recorded at one instant and not over its duration.
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
    // POSIX limits only pending replenishments; the available budget is at most one more.
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
    /// If a server with work requests an alarm that is not in the future: the calls would never
    /// end.
    fn observed(&mut self, call: &ServerCall<'_>) {
        let (now, alarm) = (call.now, call.status.alarm);
        let is_over = call.event != ServerEvent::Block && alarm.is_some_and(|alarm| alarm <= now);
        assert!(
            !is_over,
            "the alarm of the server under test is not after now: {alarm:?}, {now:?}"
        );
        if let Some(checked) = self.liveness.observe(now, call.event, &call.status) {
            self.found(Invariant::Liveness, checked.err());
        }
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

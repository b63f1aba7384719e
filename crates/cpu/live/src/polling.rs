// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decides when to raise and lower a thread behind a polling server.

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::{Server, ServerEvent, build};
use tidegate_model::{Duration, Time};

use super::keeper::{KeeperCounts, KeeperLimits, Order, Sample};
use super::window::WindowMax;

/// The rules of one thread: at each multiple of the period, a thread with work is raised until it
/// has used up its budget, has no more work, or has rested.
///
/// The manager cannot tell whether a thread that did not execute was blocked or had to wait for a
/// more urgent one. Both lose the budget: otherwise the thread could execute at the end of one
/// period and again at the beginning of the next.
///
/// # Invariants
/// - The thread is raised for at most the budget's length plus the tolerance from the beginning of
///   a period. If it was lowered later, [`KeeperCounts::overrun_max`] shows by how much.
/// - A check that is late at the beginning of a period shortens that period's budget by the delay.
pub struct PollingKeeper {
    server: Box<dyn Server + Send>,
    params: ServerParams,
    limits: KeeperLimits,
    seen: Duration,
    looked_at: Time,
    /// The instant at which the current period began.
    began: Time,
    /// Whether the thread's work was reported to the server.
    has_work: bool,
    /// The time since the period's first check in which the thread did not execute.
    rested: Duration,
    /// The instant by which the thread must be lowered; `None` if it is lowered.
    raised_until: Option<Time>,
    window: WindowMax,
    counts: KeeperCounts,
}

impl PollingKeeper {
    /// Creates a server whose first period begins with the first check, for a thread whose
    /// execution so far is in `first`.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn new(params: &ServerParams, limits: KeeperLimits, first: Sample) -> Self {
        Self {
            server: build(params),
            params: *params,
            limits,
            seen: first.executed,
            looked_at: first.now,
            began: Time::ZERO,
            has_work: false,
            rested: Duration::ZERO,
            raised_until: Some(first.now + params.budget),
            window: WindowMax::new(params.period, first.now),
            counts: KeeperCounts::default(),
        }
    }

    /// Processes a sample and returns what to do. O(1).
    pub fn look(&mut self, sample: Sample) -> Order {
        let executed = sample.executed.checked_sub(self.seen).unwrap_or(Duration::ZERO);
        // The kernel measures execution by another clock: limit it to the elapsed time.
        let elapsed = sample.now.since(self.looked_at);
        let executed = executed.min(elapsed);
        (self.seen, self.looked_at) = (sample.executed, sample.now);
        self.counts.looks += 1;
        self.rested += elapsed - executed;
        let charged = self.account(sample.now, executed);
        let periods = sample.now.since(self.began).ns() / self.params.period.ns();
        // The first check also begins a period.
        if periods > 0 || self.counts.looks == 1 {
            self.began += self.params.period * periods;
            self.begin(sample, charged);
        } else {
            self.go_on(sample, charged);
        }
        self.order(sample.now)
    }

    /// Counts execution; returns how much of it is charged to the budget.
    ///
    /// Execution after `raised_until` is owed to the next period even if the thread executed for
    /// less than its budget because it rested. Otherwise a window could begin with one period that
    /// ends late and end with another. The bound includes a rest within the tolerance.
    fn account(&mut self, now: Time, executed: Duration) -> Duration {
        let Some(until) = self.raised_until else {
            self.window.add(now, Duration::ZERO);
            self.counts.background += executed;
            return Duration::ZERO;
        };
        self.window.add(now, executed);
        if now <= until {
            return executed;
        }
        let overrun = now.since(until).min(executed);
        self.counts.overrun_max = self.counts.overrun_max.max(overrun);
        if self.rested <= self.limits.tolerance {
            return executed;
        }
        executed.max(self.server.status(until).budget + overrun)
    }

    /// Begins a period: the thread is raised if it has work.
    fn begin(&mut self, sample: Sample, executed: Duration) {
        let found = match (self.has_work, sample.has_work) {
            (false, true) => ServerEvent::Unblock,
            (true, true) => ServerEvent::Alarm,
            (_, false) => ServerEvent::Block,
        };
        self.has_work = sample.has_work;
        self.rested = Duration::ZERO;
        self.server.observe(self.began, executed, found);
        if self.has_work {
            let takes = ServerEvent::Dispatch { preempts: true };
            self.server.observe(self.began, Duration::ZERO, takes);
            // The budget begins with the period, even if this check is late.
            let left = self.server.status(self.began).budget;
            let late = sample.now.since(self.began).min(left);
            self.server.observe(sample.now, late, ServerEvent::Alarm);
        }
    }

    /// Continues a period: a thread without work, or one that rested, loses its budget.
    fn go_on(&mut self, sample: Sample, executed: Duration) {
        self.server.observe(sample.now, executed, ServerEvent::Alarm);
        let is_resting = !sample.has_work || self.rested > self.limits.tolerance;
        if self.raised_until.is_some() && is_resting {
            self.lose(sample.now);
        }
    }

    /// Gives up the rest of the budget until the next period.
    fn lose(&mut self, now: Time) {
        self.has_work = false;
        self.server.observe(now, Duration::ZERO, ServerEvent::Block);
    }

    fn order(&mut self, now: Time) -> Order {
        let left = self.server.status(now).budget;
        let is_raised = self.has_work && left >= self.limits.grain;
        if self.has_work && !is_raised {
            self.counts.exhaustions += u64::from(self.raised_until.is_some());
            if !left.is_zero() {
                // The remaining budget would be used up before the next check, so it is given up.
                self.lose(now);
            }
        }
        self.raised_until = is_raised.then(|| now + left);
        let next = self.began + self.params.period;
        let look_at = self.raised_until.map_or(next, |until| until.min(next));
        Order { is_raised, look_at }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> KeeperCounts {
        let (executed, window_max) = (self.window.executed(), self.window.highest());
        KeeperCounts { executed, window_max, ..self.counts }
    }
}

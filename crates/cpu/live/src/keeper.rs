// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decides when to raise and lower a thread, from samples of its execution.

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::{Server, ServerEvent, build};
use tidegate_model::{Duration, Time};

use super::window::WindowMax;

/// A sample of the thread, taken while the thread is not executing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The instant of the sample.
    pub now: Time,
    /// The thread's total execution from its start until that instant.
    pub executed: Duration,
    /// Whether the thread has more to execute.
    pub has_work: bool,
}

/// The instruction for the thread until the next check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Whether the thread has its real-time priority.
    pub is_raised: bool,
    /// The latest instant for the next check.
    pub look_at: Time,
}

/// Counts since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeeperCounts {
    /// The number of checks of the thread.
    pub looks: u64,
    /// The number of times that the budget was used up.
    pub exhaustions: u64,
    /// The thread's execution while it was raised.
    pub executed: Duration,
    /// The thread's execution while it was lowered.
    pub background: Duration,
    /// The longest execution at its priority in any window of at most one period that begins and
    /// ends at a check.
    pub window_max: Duration,
    /// The enforcement delay: the most execution beyond its budget before it was lowered.
    pub overrun_max: Duration,
}

/// The time resolution of a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeeperLimits {
    /// The least time between two checks, which lengthens the enforcement delay by as much.
    pub grain: Duration,
    /// The longest time for which a thread that has work at every check can go without executing
    /// before it counts as having blocked in between, and is activated again. A window can exceed
    /// its bound by this time.
    pub tolerance: Duration,
}

/// An interval in which the thread had work at all checks.
#[derive(Debug, Clone, Copy)]
struct Busy {
    since: Time,
    executed: Duration,
}

/// The least execution that a thread without work is allowed, so that it never counts as out of
/// budget.
const LEAST: Duration = Duration::from_ns(1);

/// The rules of one thread.
///
/// # Invariants
/// - While the thread is raised, the server has budget, or [`KeeperCounts::overrun_max`] shows how
///   late the keeper noticed that it has none.
/// - The next check is no later than the budget's earliest exhaustion, or the grain if that is
///   later.
pub struct Keeper {
    server: Box<dyn Server + Send>,
    limits: KeeperLimits,
    seen: Duration,
    looked_at: Time,
    has_work: bool,
    is_raised: bool,
    /// The execution allowed from the last check on.
    allowed: Duration,
    /// The execution not yet reported to the server.
    held: Duration,
    /// The charge to the budget each time the thread takes the processor.
    charge: Duration,
    busy: Busy,
    window: WindowMax,
    counts: KeeperCounts,
}

impl Keeper {
    /// Creates a keeper with a full budget, for a thread whose execution so far is in `first`.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]), or the kind loses its budget
    /// without work or can execute more than a periodic task;
    /// [`tidegate_cpu_model::ServerKind::Sporadic`] and the hybrids are accepted.
    pub fn new(params: &ServerParams, limits: KeeperLimits, first: Sample) -> Self {
        use tidegate_cpu_model::ServerKind::{HybridGradual, HybridImmediate, Sporadic};
        let is_kept = matches!(params.kind, Sporadic | HybridImmediate | HybridGradual);
        assert!(is_kept, "the server must be sporadic or a hybrid");
        Self {
            server: build(params),
            limits,
            seen: first.executed,
            looked_at: first.now,
            has_work: false,
            is_raised: true,
            allowed: params.budget,
            held: Duration::ZERO,
            charge: params.preemption_charge,
            busy: Busy { since: first.now, executed: Duration::ZERO },
            window: WindowMax::new(params.period, first.now),
            counts: KeeperCounts::default(),
        }
    }

    /// Processes a sample and returns what to do. O(replenishments).
    pub fn look(&mut self, sample: Sample) -> Order {
        let executed = sample.executed.checked_sub(self.seen).unwrap_or(Duration::ZERO);
        // The kernel measures execution with another clock, so limit it to the elapsed time.
        let executed = executed.min(sample.now.since(self.looked_at));
        (self.seen, self.looked_at) = (sample.executed, sample.now);
        self.counts.looks += 1;
        if self.is_raised {
            let overrun = executed.checked_sub(self.allowed).unwrap_or(Duration::ZERO);
            self.counts.overrun_max = self.counts.overrun_max.max(overrun);
            self.window.add(sample.now, executed);
            self.account(sample, executed);
        } else {
            self.window.add(sample.now, Duration::ZERO);
            self.counts.background += executed;
            self.server.observe(sample.now, Duration::ZERO, ServerEvent::Alarm);
            self.settle(sample);
            if self.has_work && !self.server.status(sample.now).budget.is_zero() {
                // The thread takes the processor from other threads again, which is charged each
                // time.
                let takes = ServerEvent::Dispatch { preempts: true };
                self.server.observe(sample.now, Duration::ZERO, takes);
            }
        }
        self.order(sample.now)
    }

    /// Accounts for execution at the thread's priority. It is reported to the server in one piece,
    /// when the thread blocks or has used up its budget.
    fn account(&mut self, sample: Sample, executed: Duration) {
        self.busy.executed += executed;
        self.held += executed;
        // If the execution were reported in several pieces, with an activation after each rest, the
        // budget would split into chunks and a hybrid would wait for the last chunk: half of its
        // budget would be lost.
        let left = self.allowed.checked_sub(executed).unwrap_or(Duration::ZERO);
        if sample.has_work && left >= self.limits.grain {
            return;
        }
        if self.has_work || !self.held.is_zero() {
            // The remaining budget will be used up before the next check, so it counts as executed;
            // otherwise each budget would end with an overrun.
            let forgone = if sample.has_work { left } else { Duration::ZERO };
            self.tell(sample.now, forgone);
            self.settle(sample);
        }
    }

    /// Reports to the server the execution since the last report, and the forgone budget.
    fn tell(&mut self, now: Time, forgone: Duration) {
        let held = std::mem::take(&mut self.held);
        if !held.is_zero() && (!self.has_work || self.has_rested(now)) {
            // If the thread unblocked since then, it did so at `began` or earlier, because its
            // execution must fit in. So no ns was executed later than in one interval from `began`
            // on. The server gets no event for the earlier blocking: that would split off as a
            // separate chunk the budget that an overrun borrowed, and a hybrid would wait for that
            // chunk.
            let began = Time::from_ns(now.ns() - held.ns());
            self.has_work = true;
            self.busy = Busy { since: began, executed: held };
            self.server.observe(began, Duration::ZERO, ServerEvent::Unblock);
            let took = ServerEvent::Dispatch { preempts: true };
            self.server.observe(began, Duration::ZERO, took);
        }
        if self.has_work {
            self.server.observe(now, held + forgone, ServerEvent::Alarm);
        }
    }

    /// Returns whether a thread with work and the highest priority has not executed for longer than
    /// the tolerance.
    fn has_rested(&self, now: Time) -> bool {
        now.since(self.busy.since) > self.busy.executed + self.limits.tolerance
    }

    /// Reports to the server that no work is left, unless the server waits for a replenishment,
    /// which must be reported with or without work.
    fn settle(&mut self, sample: Sample) {
        let has_budget = !self.server.status(sample.now).budget.is_zero();
        if has_budget && self.has_work && !sample.has_work {
            self.has_work = false;
            self.server.observe(sample.now, Duration::ZERO, ServerEvent::Block);
        }
    }

    /// Merges everything replenished while the thread rests, as if it had unblocked and blocked
    /// again. Later checks are then as rare as the full budget allows, not as frequent as the
    /// remnant would require.
    /// This is safe, because nothing was executed, and moving an activation to a later instant
    /// makes no replenishment earlier.
    fn renew(&mut self, now: Time) {
        if !self.has_work && self.held.is_zero() {
            self.server.observe(now, Duration::ZERO, ServerEvent::Unblock);
            self.server.observe(now, Duration::ZERO, ServerEvent::Block);
        }
    }

    fn order(&mut self, now: Time) -> Order {
        self.renew(now);
        let status = self.server.status(now);
        // `held` is below the budget, or it would have been reported. A thread that rests will be
        // charged for taking the processor, and can begin with any budget left.
        let (charge, least) =
            if self.has_work { (Duration::ZERO, Duration::ZERO) } else { (self.charge, LEAST) };
        let spoken_for = self.held + charge;
        self.allowed = status.budget.checked_sub(spoken_for).unwrap_or(Duration::ZERO).max(least);
        let was_raised = self.is_raised;
        self.is_raised = !self.allowed.is_zero();
        if was_raised && !self.is_raised {
            self.counts.exhaustions += 1;
        }
        let look_at = if self.is_raised {
            now + self.allowed.max(self.limits.grain)
        } else {
            // A budget replenished at the alarm counts as activated then, even if the check is
            // late.
            let alarm = status.alarm.unwrap_or(now + self.limits.grain).max(now);
            self.busy = Busy { since: alarm, executed: Duration::ZERO };
            alarm
        };
        Order { is_raised: self.is_raised, look_at }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> KeeperCounts {
        let (executed, window_max) = (self.window.executed(), self.window.highest());
        KeeperCounts { executed, window_max, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidegate_cpu_model::ServerKind;

    use super::*;
    use crate::ThreadKeeper;

    const NS: fn(u64) -> Duration = Duration::from_ns;

    /// A simulated thread whose work arrives at given instants. Between the manager's checks only
    /// this thread is simulated.
    struct Thread {
        /// Pairs of an instant and the work that arrives then, descending.
        work: Vec<(u64, u64)>,
        pending: u64,
        executed: u64,
        is_raised: bool,
        /// Whether the thread executed at its priority, for each ns.
        foreground: Vec<bool>,
    }

    impl Thread {
        /// Executes up to `end`. In the background it gets only every other nanosecond, because
        /// other threads use the processor too.
        fn run_until(&mut self, end: u64) {
            for now in self.foreground.len() as u64..end {
                self.release(now);
                let runs = self.pending > 0 && (self.is_raised || now % 2 == 0);
                self.foreground.push(runs && self.is_raised);
                self.pending -= u64::from(runs);
                self.executed += u64::from(runs);
            }
        }

        fn release(&mut self, now: u64) {
            while self.work.last().is_some_and(|work| work.0 <= now) {
                self.pending += self.work.pop().map_or(0, |work| work.1);
            }
        }

        fn sample(&mut self, now: u64) -> Sample {
            self.run_until(now);
            self.release(now);
            Sample {
                now: Time::from_ns(now),
                executed: NS(self.executed),
                has_work: self.pending > 0,
            }
        }
    }

    /// Runs the thread under a keeper whose checks are late by each element of `lateness` in turn.
    /// Returns, for each unit of time, whether the thread executed at its own priority, and the
    /// counts.
    fn keep(
        params: &ServerParams,
        (grain, tolerance): (u64, u64),
        mut work: Vec<(u64, u64)>,
        lateness: &[u64],
        until: u64,
    ) -> (Vec<bool>, KeeperCounts) {
        let limits = KeeperLimits { grain: NS(grain), tolerance: NS(tolerance) };
        work.sort_unstable_by(|a, b| b.cmp(a));
        let mut thread =
            Thread { work, pending: 0, executed: 0, is_raised: true, foreground: Vec::new() };
        let mut keeper = ThreadKeeper::new(params, limits, thread.sample(0)).unwrap();
        let (mut now, mut late) = (0, lateness.iter().cycle());
        while now < until {
            let order = keeper.look(thread.sample(now));
            thread.is_raised = order.is_raised;
            now = order.look_at.ns() + late.next().unwrap();
        }
        thread.run_until(until);
        (thread.foreground, keeper.counts())
    }

    /// Returns by how much the worst window exceeds the execution of a periodic task with this
    /// budget and period.
    fn excess(foreground: &[bool], budget: u64, period: u64) -> u64 {
        let mut until = vec![0_u64];
        for &runs in foreground {
            until.push(until[until.len() - 1] + u64::from(runs));
        }
        let mut worst = 0;
        for begin in 0..foreground.len() {
            for end in begin + 1..=foreground.len() {
                let length = (end - begin) as u64;
                let allowed = length / period * budget + (length % period).min(budget);
                worst = worst.max((until[end] - until[begin]).saturating_sub(allowed));
            }
        }
        worst
    }

    fn params(kind: ServerKind, budget: u64, period: u64) -> ServerParams {
        ServerParams::new(kind, NS(budget), NS(period))
    }

    #[test]
    fn work_without_end_gets_its_budget_each_period() {
        let params = params(ServerKind::HybridGradual, 10, 50);
        let (foreground, counts) = keep(&params, (1, 0), vec![(3, 10_000)], &[0], 1_003);
        // The first check is at 10. The budget was used from 3 on, so it is replenished at 60.
        assert_eq!(excess(&foreground, 10, 50), 0);
        assert_eq!(counts.overrun_max, Duration::ZERO);
        assert_eq!((counts.window_max, counts.exhaustions), (NS(10), 20));
        assert!(foreground[3..10].iter().all(|&runs| runs), "at once");
    }

    /// Returns the intervals in which a thread executed at its priority.
    fn intervals(foreground: &[bool]) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (now, _) in foreground.iter().enumerate().filter(|(_, runs)| **runs) {
            match found.last_mut() {
                Some((_, end)) if *end == now => *end += 1,
                _ => found.push((now, now + 1)),
            }
        }
        found
    }

    /// Goal: a polling server of 10 in every 50 looks for work only at 0, 50 and 100, loses budget
    /// that is not used immediately, and counts a budget that begins late from the start of its
    /// period.
    #[test]
    fn a_polling_server_looks_once_a_period() {
        let params = params(ServerKind::Polling, 10, 50);
        for (case, work, late, expected) in [
            ("later work waits", vec![(3, 100)], 0, vec![(50, 60), (100, 110)]),
            ("a thread that rests", vec![(0, 4), (6, 30)], 0, vec![(0, 4), (6, 10), (50, 56)]),
            ("one that blocks", vec![(0, 4), (12, 30)], 0, vec![(0, 4), (50, 60)]),
            // Each check is late by 3: the next budget owes 3, and another 3 of it have passed.
            ("late checks", vec![(0, 900)], 3, vec![(0, 13), (53, 60), (103, 110)]),
            // The thread executed for less than its budget, but until 13. The execution after 10 is
            // owed: otherwise two periods could end late, and a window could exceed its bound by
            // two delays.
            ("late end", vec![(0, 1), (5, 100)], 3, vec![(0, 1), (5, 13), (53, 60), (103, 110)]),
        ] {
            let (foreground, _) = keep(&params, (1, 0), work, &[late], 130);
            assert_eq!(intervals(&foreground), expected, "{case}");
        }
    }

    #[test]
    fn little_work_is_never_lowered() {
        let params = params(ServerKind::Sporadic, 10, 50);
        let work = (0..40).map(|job| (job * 50 + 7, 4)).collect();
        let (foreground, counts) = keep(&params, (1, 0), work, &[0], 2_000);
        assert_eq!(counts.exhaustions, 0);
        assert_eq!(foreground.iter().filter(|&&runs| runs).count(), 160);
    }

    #[test]
    fn a_late_look_is_an_overrun_that_is_told_and_paid_back() {
        let params = params(ServerKind::Sporadic, 10, 50);
        let (foreground, counts) = keep(&params, (1, 0), vec![(0, 10_000)], &[3], 1_000);
        assert_eq!(counts.overrun_max, NS(3));
        assert!(excess(&foreground, 10, 50) <= 3);
    }

    /// Canary: the same assertion detects a keeper that does not check in time.
    #[test]
    fn looking_too_rarely_is_detected() {
        let params = params(ServerKind::HybridGradual, 10, 50);
        let (foreground, counts) = keep(&params, (1, 0), vec![(3, 10_000)], &[30], 1_000);
        assert!(excess(&foreground, 10, 50) > 3);
        assert!(counts.overrun_max > NS(3));
    }

    /// Goal: the manager costs little. Once the budget is back, a sleeping thread that used most of
    /// its budget is checked less often than the remnant would require.
    #[test]
    fn a_thread_that_rests_is_looked_at_once_a_budget() {
        let params = params(ServerKind::HybridGradual, 1_000, 10_000);
        let (_, counts) = keep(&params, (1, 0), vec![(0, 999)], &[0], 200_000);
        // For at most a period, the checks are 1 apart, as the remnant of 1 requires; after that,
        // they are a budget apart.
        assert!(counts.looks <= 10_000 + 200, "{counts:?}");
    }

    /// Runs an arbitrary thread: while raised it can execute in any ns, whether or not it has work
    /// at a check.
    fn bound_by_nothing(
        params: &ServerParams,
        (grain, tolerance): (u64, u64),
        (steps, until): (&[(u64, bool, u64)], u64),
    ) -> (Vec<bool>, KeeperCounts) {
        let limits = KeeperLimits { grain: NS(grain), tolerance: NS(tolerance) };
        let (mut foreground, mut executed) = (Vec::new(), 0);
        let sample = |now, executed, has_work| Sample {
            now: Time::from_ns(now),
            executed: NS(executed),
            has_work,
        };
        let mut keeper = ThreadKeeper::new(params, limits, sample(0, 0, false)).unwrap();
        let mut order = keeper.look(sample(0, 0, false));
        for &(pattern, has_work, late) in steps.iter().cycle() {
            let begin = foreground.len() as u64;
            let look_at = order.look_at.ns().max(begin) + late;
            for now in begin..look_at {
                // Three ns at a time: a thread that executes single ns would rest too often to test
                // the bound.
                let runs = pattern >> ((now - begin) / 3 % 64) & 1 == 1;
                foreground.push(runs && order.is_raised);
                executed += u64::from(runs);
            }
            order = keeper.look(sample(look_at, executed, has_work));
            if look_at > until {
                return (foreground, keeper.counts());
            }
        }
        unreachable!("the steps are repeated")
    }

    /// Goal: under every kind of server, a thread that always has work gets its budget, even if
    /// checks are late and other threads take part of its time. The hybrids once gave it only half.
    #[test]
    fn work_without_end_gets_its_budget_on_any_host() {
        for kind in [ServerKind::Sporadic, ServerKind::HybridImmediate, ServerKind::HybridGradual] {
            let params = params(kind, 2_000, 20_000);
            for (lost, late) in [
                (0, 0),
                (0, 60),
                (1, 0),
                (3, 0),
                (6, 0),
                (1, 40),
                (1, 60),
                (3, 30),
                (3, 60),
                (3, 300),
            ] {
                let steps = [(u64::MAX << lost, true, late)];
                let (_, counts) = bound_by_nothing(&params, (50, 100), (&steps, 2_000_000));
                let share = counts.executed.ns() / 2_000;
                assert!((95..=101).contains(&share), "{kind} {lost} {late}: {share} {counts:?}");
            }
        }
    }

    /// Goal: each time the thread takes the processor from another, its budget is charged.
    #[test]
    fn each_time_it_takes_the_processor_is_charged() {
        let kind = ServerKind::HybridGradual;
        let params = ServerParams { preemption_charge: NS(200), ..params(kind, 2_000, 20_000) };
        let steps = [(u64::MAX, true, 0)];
        let (_, counts) = bound_by_nothing(&params, (50, 100), (&steps, 2_000_000));
        assert!((85..=91).contains(&(counts.executed.ns() / 2_000)), "{counts:?}");
    }

    fn kinds() -> impl Strategy<Value = ServerKind> {
        prop::sample::select(vec![
            ServerKind::Sporadic,
            ServerKind::HybridImmediate,
            ServerKind::HybridGradual,
            ServerKind::Polling,
        ])
    }

    proptest! {
        /// I2 with a manager that checks rarely: in no window does any thread execute more than a
        /// periodic task, plus one enforcement delay.
        #[test]
        fn no_window_has_more_than_a_periodic_task_and_one_delay(
            kind in kinds(), budget in 2_u64..12, more in 2_u64..30, grain in 1_u64..3,
            tolerance in 0_u64..4,
            work in prop::collection::vec((0_u64..400, 1_u64..30), 0..25),
            lateness in prop::collection::vec(0_u64..4, 1..6),
        ) {
            let period = budget + more;
            let params = params(kind, budget, period);
            let (foreground, counts) = keep(&params, (grain, tolerance), work, &lateness, 420);
            let late = lateness.iter().max().unwrap();
            let allowed = late + grain - 1;
            let above = excess(&foreground, budget, period);
            prop_assert!(above <= allowed + tolerance, "{} above {}", above, allowed + tolerance);
            prop_assert!(counts.overrun_max <= NS(allowed));
            prop_assert!(counts.window_max <= NS(budget + allowed + tolerance));
            let executed = foreground.iter().filter(|&&runs| runs).count() as u64;
            prop_assert!(counts.executed <= NS(executed));
        }

        /// I2 for an arbitrary thread: preempted, blocked between checks, or awake only between
        /// checks.
        #[test]
        fn no_window_has_more_whatever_the_thread_does(
            kind in kinds(), budget in 2_u64..30, more in 0_u64..60, grain in 1_u64..8,
            tolerance in 0_u64..12, replenishments in 1_u32..6, charge in 0_u64..2,
            steps in prop::collection::vec(
                (prop_oneof![Just(0_u64), Just(u64::MAX), any::<u64>(), (0_u32..64).prop_map(|by| u64::MAX << by)],
                 any::<bool>(), prop_oneof![4 => Just(0_u64), 1 => 0_u64..40]),
                1..24,
            ),
        ) {
            let period = budget + more;
            let params =
                ServerParams { replenishments_max: replenishments, ..params(kind, budget, period) };
            let params = ServerParams { preemption_charge: NS(charge), ..params };
            let limits = (grain, tolerance);
            let (foreground, counts) = bound_by_nothing(&params, limits, (&steps, 900));
            let above = excess(&foreground, budget, period);
            let late = steps.iter().map(|step| step.2).max().unwrap_or(0);
            prop_assert!(above <= late + grain - 1 + tolerance, "{}", above);
            // The excess is also bounded by the counts alone.
            let told = counts.overrun_max.ns() + tolerance;
            prop_assert!(above <= told, "{} above, told {}", above, told);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SCHED_SPORADIC as POSIX specifies it, and the original sporadic server (SpSL) that it derives
//! from, with their defects, for comparison.
//!
//! The POSIX server has one capacity, one activation time for all of it, and a list of pending
//! replenishments. So budget that is replenished during a busy interval is replenished again
//! together with the budget activated at the interval's start, which is too early (premature
//! replenishment). And the capacity never goes below zero, while an overrun is replenished like
//! other execution, so the budget grows (amplification).
//!
//! SpSL has the first defect only. It activates its capacity when its *priority level* becomes
//! active: when a thread of its priority or above begins to execute after a time without such
//! threads. It assumes that budgets are enforced exactly. Here a late enforcement is charged to the
//! next replenishment, so that any excess execution comes from the rules of SpSL.
//!
//! # Source
//! SpSL: Sprunt, Sha and Lehoczky, "Aperiodic task scheduling for hard-real-time systems",
//! Real-Time Systems 1(1), 1989, section 3; dissertation, 6.2. Own addition: the charge of an
//! overrun, and a limit on replenishments. POSIX: IEEE Std 1003.1, System Interfaces, 2.8.4 "SCHED_SPORADIC"; Stanovich, dissertation, 6.4.

use std::collections::VecDeque;

use tidegate_cpu_model::ServerParams;
use tidegate_model::{Duration, Time};

use super::{Replenishment, Server, ServerEvent, ServerStatus};

/// How to carry out a replenishment that is already due when it is scheduled, at exhaustion. The
/// standard has it "carried out immediately", which can be read in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtExhaustion {
    /// The thread continues with the old activation time. The dissertation's simulator must have
    /// done this, because only this reading yields figure 6.9.
    KeepActivation,
    /// The thread was out of capacity for an instant: a new activation time is set.
    PostActivation,
}

/// The rules to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// Sprunt, Sha and Lehoczky.
    Original,
    /// The standard.
    Posix(AtExhaustion),
}

/// The sporadic server of POSIX, or the original one.
#[derive(Debug, Clone)]
pub struct Posix {
    params: ServerParams,
    rules: Rules,
    /// The available execution capacity.
    capacity: Duration,
    /// The execution since the activation time.
    used: Duration,
    /// SpSL: execution beyond the capacity, owed to the next replenishments.
    overrun: Duration,
    activation: Time,
    /// Pending replenishments in order of time, at most `replenishments_max`.
    pending: VecDeque<Replenishment>,
    has_work: bool,
    /// SpSL: whether the host has reported that the priority level is active.
    is_level_active: bool,
}

impl Posix {
    /// Creates the original sporadic server with its full capacity.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn original(params: ServerParams) -> Self {
        Self::with_rules(params, Rules::Original)
    }

    /// Creates a server with its full capacity.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn new(params: ServerParams, at_exhaustion: AtExhaustion) -> Self {
        Self::with_rules(params, Rules::Posix(at_exhaustion))
    }

    fn with_rules(params: ServerParams, rules: Rules) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        let room = usize::try_from(params.replenishments_max).expect("a u32 is a usize");
        Self {
            rules,
            capacity: params.budget,
            used: Duration::ZERO,
            overrun: Duration::ZERO,
            activation: Time::ZERO,
            pending: VecDeque::with_capacity(room),
            has_work: false,
            is_level_active: false,
            params,
        }
    }

    /// Returns whether the server executes at its own priority: it needs capacity, and room for one
    /// more replenishment.
    fn is_foreground(&self) -> bool {
        let room = usize::try_from(self.params.replenishments_max).expect("a u32 is a usize");
        !self.capacity.is_zero() && self.pending.len() < room
    }

    /// "If the available execution capacity would become negative [..] it shall be set to zero":
    /// POSIX forgives the overrun but still replenishes it. SpSL owes it.
    fn consume(&mut self, executed: Duration) {
        let paid = executed.min(self.capacity);
        self.capacity = self.capacity - paid;
        match self.rules {
            Rules::Posix(_) => self.used += executed,
            Rules::Original => {
                self.used += paid;
                self.overrun += executed - paid;
            }
        }
    }

    /// Schedules the replenishment of all used capacity, one period after the activation time.
    fn schedule(&mut self, now: Time) {
        if self.used.is_zero() {
            return;
        }
        let replenishment =
            Replenishment { at: self.activation + self.params.period, amount: self.used };
        self.used = Duration::ZERO;
        if replenishment.at <= now {
            self.add(replenishment.amount);
            self.activation = match self.rules {
                Rules::Posix(AtExhaustion::KeepActivation) => self.activation,
                Rules::Posix(AtExhaustion::PostActivation) | Rules::Original => now,
            };
            if self.pay() && self.capacity.is_zero() {
                self.schedule(now);
            }
            return;
        }
        let later =
            self.pending.iter().rev().take_while(|known| known.at > replenishment.at).count();
        self.pending.insert(self.pending.len() - later, replenishment);
    }

    /// Adds capacity. "If [..] the execution capacity would become larger than
    /// sched_ss_init_budget, it shall be rounded down."
    fn add(&mut self, amount: Duration) {
        self.capacity = (self.capacity + amount).min(self.params.budget);
    }

    /// Pays owed overrun from the capacity, as if it were executed now; returns whether any was
    /// owed.
    fn pay(&mut self) -> bool {
        let owed = std::mem::take(&mut self.overrun);
        self.consume(owed);
        !owed.is_zero()
    }

    /// Carries out due replenishments. They set an activation time only if the thread was out of
    /// capacity.
    fn replenish(&mut self, now: Time) {
        while let Some(first) = self.pending.front().filter(|first| first.at <= now) {
            let (at, amount) = (first.at, first.amount);
            let was_foreground = self.is_foreground();
            self.pending.pop_front();
            self.add(amount);
            let is_activated = (self.has_work || self.is_level_active) && self.is_foreground();
            if !was_foreground && (self.pay() || is_activated) {
                self.activation = at.max(self.activation);
            }
            if self.capacity.is_zero() {
                self.schedule(now);
            }
        }
    }
}

impl Server for Posix {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.consume(executed);
        match event {
            ServerEvent::Unblock => {
                self.replenish(now);
                self.has_work = true;
                if self.is_foreground() && !self.is_level_active {
                    self.activation = now;
                }
                return;
            }
            ServerEvent::Dispatch { preempts } => {
                if preempts {
                    self.consume(self.params.preemption_charge);
                }
            }
            ServerEvent::Preempt | ServerEvent::Alarm => {}
            ServerEvent::Block => {
                self.has_work = false;
                self.schedule(now);
            }
        }
        if self.capacity.is_zero() {
            self.schedule(now);
        }
        self.replenish(now);
    }

    fn level(&mut self, now: Time, is_active: bool) {
        match self.rules {
            Rules::Posix(_) => {}
            Rules::Original => {
                self.replenish(now);
                // Capacity that is partly used already has its activation time.
                if is_active && !self.is_level_active && self.used.is_zero() {
                    self.activation = now;
                }
                self.is_level_active = is_active;
            }
        }
    }

    fn status(&self, _now: Time) -> ServerStatus {
        let budget = if self.is_foreground() { self.capacity } else { Duration::ZERO };
        let first = self.pending.front().map(|first| first.at);
        let alarm = first.filter(|_| self.has_work);
        let due = if budget.is_zero() { first.unwrap_or(self.activation) } else { self.activation };
        ServerStatus { budget, alarm, due: due + self.params.period }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
        let amount = self.capacity + self.used;
        if !amount.is_zero() {
            out.push(Replenishment { at: self.activation, amount });
        }
        out.extend(&self.pending);
    }
}

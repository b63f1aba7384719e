// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SCHED_SPORADIC as POSIX specifies it, with its defects, for comparison.
//!
//! It has one capacity, one activation time for all of it, and a list of pending replenishments.
//! So budget that is replenished during a busy interval is replenished again with the budget
//! activated at its start, which is too early (premature replenishment). And the capacity never
//! goes below zero, while an overrun is replenished like other execution: the budget grows
//! (amplification).
//!
//! # Source
//! IEEE Std 1003.1, System Interfaces, 2.8.4 "SCHED_SPORADIC"; Stanovich, dissertation, 6.4.

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

/// The sporadic server of POSIX.
#[derive(Debug, Clone)]
pub struct Posix {
    params: ServerParams,
    at_exhaustion: AtExhaustion,
    /// The available execution capacity.
    capacity: Duration,
    /// Executed since the activation time.
    used: Duration,
    activation: Time,
    /// Pending replenishments in order of time, at most `replenishments_max`.
    pending: VecDeque<Replenishment>,
    has_work: bool,
}

impl Posix {
    /// Creates a server with its full capacity.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn new(params: ServerParams, at_exhaustion: AtExhaustion) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        let room = usize::try_from(params.replenishments_max).expect("a u32 is a usize");
        Self {
            at_exhaustion,
            capacity: params.budget,
            used: Duration::ZERO,
            activation: Time::ZERO,
            pending: VecDeque::with_capacity(room),
            has_work: false,
            params,
        }
    }

    /// Returns whether it executes at its own priority: with capacity, and with room for one more
    /// replenishment.
    fn is_foreground(&self) -> bool {
        let room = usize::try_from(self.params.replenishments_max).expect("a u32 is a usize");
        !self.capacity.is_zero() && self.pending.len() < room
    }

    /// "If the available execution capacity would become negative [..] it shall be set to zero":
    /// the overrun is forgiven but still replenished.
    fn consume(&mut self, executed: Duration) {
        self.used += executed;
        self.capacity = self.capacity.checked_sub(executed).unwrap_or_default();
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
            if self.at_exhaustion == AtExhaustion::PostActivation {
                self.activation = now;
            }
            return;
        }
        let later =
            self.pending.iter().rev().take_while(|known| known.at > replenishment.at).count();
        self.pending.insert(self.pending.len() - later, replenishment);
    }

    /// "If [..] the execution capacity would become larger than sched_ss_init_budget, it shall be
    /// rounded down."
    fn add(&mut self, amount: Duration) {
        self.capacity = (self.capacity + amount).min(self.params.budget);
    }

    /// Carries out due replenishments. They activate only a thread that was out of capacity.
    fn replenish(&mut self, now: Time) {
        while let Some(first) = self.pending.front().filter(|first| first.at <= now) {
            let (at, amount) = (first.at, first.amount);
            let was_foreground = self.is_foreground();
            self.pending.pop_front();
            self.add(amount);
            if self.has_work && !was_foreground && self.is_foreground() {
                self.activation = at.max(self.activation);
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
                if self.is_foreground() {
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Servers whose budget is full again at every multiple of the period: polling and deferrable.
//!
//! A *polling* server looks for work at every multiple of the period, and executes what it finds.
//! It is a periodic task. Work that comes a moment too late waits for a period, and what is left
//! of the budget when the work runs out is lost. Work that comes at the instant at which it looks
//! is found.
//!
//! A *deferrable* server waits for work until the period ends. Simple and quick to answer, but no
//! periodic task: a budget kept to the end of one period and the next one's can follow each other
//! without a break.
//!
//! Both owe an overrun to the periods to come.
//!
//! # Source
//! Polling: Sprunt, Sha and Lehoczky, "Aperiodic task scheduling for hard-real-time systems",
//! Real-Time Systems, 1989; dissertation, section 6.3 (periodic server). Deferrable: Strosnider,
//! Lehoczky and Sha, "The Deferrable Server Algorithm for Enhanced Aperiodic Responsiveness in
//! Hard Real-Time Environments", IEEE Trans. Computers, 1995.

use tidegate_cpu_model::ServerParams;
use tidegate_model::{Duration, Time};

use super::{Replenishment, Server, ServerEvent, Standing};

/// What becomes of the budget while there is no work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutWork {
    /// It is lost until the next period: a polling server.
    Lost,
    /// It is kept to the end of the period: a deferrable server.
    Kept,
}

/// A server with one budget a period.
#[derive(Debug, Clone)]
pub struct PerPeriod {
    params: ServerParams,
    without_work: WithoutWork,
    /// What is left of the period's budget.
    left: Duration,
    /// Executed beyond the budget: owed to the periods to come.
    overrun: Duration,
    /// The first instant of the period that runs.
    start: Time,
    has_work: bool,
}

impl PerPeriod {
    /// A server that has all its budget, and whose first period begins with the run.
    ///
    /// # Panics
    /// When there is no such server ([`ServerParams::checked`]).
    pub fn new(params: ServerParams, without_work: WithoutWork) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        Self {
            without_work,
            left: params.budget,
            overrun: Duration::ZERO,
            start: Time::ZERO,
            has_work: false,
            params,
        }
    }

    fn end(&self) -> Time {
        self.start + self.params.period
    }

    /// Takes from what is left; what is too much is owed.
    fn consume(&mut self, executed: Duration) {
        if let Some(left) = self.left.checked_sub(executed) {
            self.left = left;
        } else {
            self.overrun += executed - self.left;
            self.left = Duration::ZERO;
        }
    }

    /// Moves to the period of `now`, which if it is another one has its own budget.
    fn advance(&mut self, now: Time) {
        let periods = now.since(self.start).ns() / self.params.period.ns();
        if periods == 0 {
            return;
        }
        self.start += self.params.period * periods;
        let budget = self.params.budget;
        // The periods that went by in between paid their whole budget. Saturation is meant.
        let paid = budget.ns().saturating_mul(periods - 1);
        let owed = Duration::from_ns(self.overrun.ns().saturating_sub(paid));
        let now_paid = owed.min(budget);
        self.overrun = owed - now_paid;
        self.left = budget - now_paid;
    }

    /// There was no work, before now or from now on.
    fn idle(&mut self) {
        if self.without_work == WithoutWork::Lost {
            self.left = Duration::ZERO;
        }
    }
}

impl Server for PerPeriod {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.consume(executed);
        self.advance(now);
        match event {
            ServerEvent::Unblock => {
                self.has_work = true;
                if now > self.start {
                    self.idle();
                }
            }
            ServerEvent::Dispatch { preempts: true } => self.consume(self.params.preemption_charge),
            ServerEvent::Block => {
                self.has_work = false;
                self.idle();
            }
            ServerEvent::Dispatch { .. } | ServerEvent::Preempt | ServerEvent::Alarm => {}
        }
    }

    fn standing(&self, _now: Time) -> Standing {
        let end = self.end();
        Standing { budget: self.left, alarm: self.has_work.then_some(end), due: end }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Servers whose budget is full again at every multiple of the period: polling and deferrable.
//!
//! A *polling* server looks for work at every multiple of the period, and executes the work that it
//! finds. It is a periodic task. Work that arrives later waits for the next period, and the budget
//! left when the work runs out is lost. Work that arrives exactly at a multiple is found.
//!
//! A *deferrable* server waits for work until the period ends. It is simple and responds quickly,
//! but is not a periodic task: the budget kept to the end of one period and the budget of the next
//! can be used without interruption.
//!
//! Both charge an overrun to later periods.
//!
//! # Source
//! Polling: Sprunt, Sha and Lehoczky, "Aperiodic task scheduling for hard-real-time systems",
//! Real-Time Systems, 1989; dissertation, section 6.3 (periodic server). Deferrable: Strosnider,
//! Lehoczky and Sha, "The Deferrable Server Algorithm for Enhanced Aperiodic Responsiveness in
//! Hard Real-Time Environments", IEEE Trans. Computers, 1995.

use tidegate_cpu_model::ServerParams;
use tidegate_model::{Duration, Time};

use super::{Replenishment, Server, ServerEvent, ServerStatus};

/// Whether a server keeps its budget while there is no work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutWork {
    /// The budget is lost until the next period: a polling server.
    Lost,
    /// The budget is kept to the end of the period: a deferrable server.
    Kept,
}

/// A server with one budget per period.
#[derive(Debug, Clone)]
pub struct PerPeriod {
    params: ServerParams,
    without_work: WithoutWork,
    /// The remaining budget of the current period.
    left: Duration,
    /// Execution beyond the budget, owed to later periods.
    overrun: Duration,
    /// The first instant of the current period.
    start: Time,
    has_work: bool,
}

impl PerPeriod {
    /// Creates a server with its full budget, whose first period begins with the run.
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
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

    /// Charges execution to the remaining budget; any excess is owed to later periods.
    fn consume(&mut self, executed: Duration) {
        if let Some(left) = self.left.checked_sub(executed) {
            self.left = left;
        } else {
            self.overrun += executed - self.left;
            self.left = Duration::ZERO;
        }
    }

    /// Advances to the period of `now`; a new period has its own budget.
    fn advance(&mut self, now: Time) {
        let periods = now.since(self.start).ns() / self.params.period.ns();
        if periods == 0 {
            return;
        }
        self.start += self.params.period * periods;
        let budget = self.params.budget;
        // The periods in between paid with their whole budgets. Saturation is intended.
        let paid = budget.ns().saturating_mul(periods - 1);
        let owed = Duration::from_ns(self.overrun.ns().saturating_sub(paid));
        let now_paid = owed.min(budget);
        self.overrun = owed - now_paid;
        self.left = budget - now_paid;
    }

    /// Records that there was no work until now, or that there is none from now on.
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

    fn status(&self, _now: Time) -> ServerStatus {
        let end = self.end();
        ServerStatus { budget: self.left, alarm: self.has_work.then_some(end), due: end }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
    }
}

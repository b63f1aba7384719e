// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A budget that is full again at every multiple of the period: what polling and deferrable
//! servers share.

use model::cpu::ServerParams;
use model::{Duration, Time};

/// What is left of a period's budget.
#[derive(Debug, Clone)]
pub(super) struct PerPeriod {
    budget: Duration,
    period: Duration,
    left: Duration,
    /// Executed beyond the budget: owed to the periods to come.
    overrun: Duration,
    /// The first instant of the period that runs.
    start: Time,
}

impl PerPeriod {
    pub(super) fn new(params: &ServerParams) -> Self {
        Self {
            budget: params.budget,
            period: params.period,
            left: params.budget,
            overrun: Duration::ZERO,
            start: Time::ZERO,
        }
    }

    pub(super) fn left(&self) -> Duration {
        self.left
    }

    pub(super) fn start(&self) -> Time {
        self.start
    }

    pub(super) fn end(&self) -> Time {
        self.start + self.period
    }

    /// Takes from what is left; what is too much is owed.
    pub(super) fn consume(&mut self, executed: Duration) {
        if let Some(left) = self.left.checked_sub(executed) {
            self.left = left;
        } else {
            self.overrun += executed - self.left;
            self.left = Duration::ZERO;
        }
    }

    /// What is left is lost.
    pub(super) fn forfeit(&mut self) {
        self.left = Duration::ZERO;
    }

    /// Moves to the period of `now`; whether that is another one, which has its own budget.
    pub(super) fn advance(&mut self, now: Time) -> bool {
        let periods = now.since(self.start).ns() / self.period.ns();
        if periods == 0 {
            return false;
        }
        self.start += self.period * periods;
        // The periods that went by in between paid their whole budget. Saturation is meant.
        let paid = self.budget.ns().saturating_mul(periods - 1);
        let owed = Duration::from_ns(self.overrun.ns().saturating_sub(paid));
        let now_paid = owed.min(self.budget);
        self.overrun = owed - now_paid;
        self.left = self.budget - now_paid;
        true
    }
}

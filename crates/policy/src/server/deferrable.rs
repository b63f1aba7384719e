// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A deferrable server: its budget is full again at every multiple of the period, and waits for
//! work until then.
//!
//! Simple and quick to answer, but no periodic task: a budget kept to the end of one period and
//! the next one's can follow each other without a break. An overrun is owed to the next period.
//!
//! # Source
//! Strosnider, Lehoczky and Sha, "The Deferrable Server Algorithm for Enhanced Aperiodic
//! Responsiveness in Hard Real-Time Environments", IEEE Trans. Computers, 1995.

use model::cpu::ServerParams;
use model::{Duration, Time};

use super::per_period::PerPeriod;
use super::{Replenishment, Server, ServerEvent, Standing};

/// A deferrable server.
#[derive(Debug, Clone)]
pub struct Deferrable {
    budget: PerPeriod,
    preemption_charge: Duration,
    has_work: bool,
}

impl Deferrable {
    /// A server that has all its budget.
    ///
    /// # Panics
    /// When there is no such server ([`ServerParams::checked`]).
    pub fn new(params: ServerParams) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        let budget = PerPeriod::new(&params);
        Self { budget, preemption_charge: params.preemption_charge, has_work: false }
    }
}

impl Server for Deferrable {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.budget.consume(executed);
        self.budget.advance(now);
        match event {
            ServerEvent::Unblock => self.has_work = true,
            ServerEvent::Dispatch { preempts: true } => self.budget.consume(self.preemption_charge),
            ServerEvent::Block => self.has_work = false,
            ServerEvent::Dispatch { .. } | ServerEvent::Preempt | ServerEvent::Alarm => {}
        }
    }

    fn standing(&self, _now: Time) -> Standing {
        let end = self.budget.end();
        Standing { budget: self.budget.left(), alarm: self.has_work.then_some(end), due: end }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
    }
}

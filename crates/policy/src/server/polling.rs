// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A polling server: it looks for work at every multiple of the period, and executes what it
//! finds, within its budget.
//!
//! It is a periodic task. Work that comes a moment too late waits for a period, and so does what
//! is left of the budget when the work runs out: that is lost. An overrun is owed to the next
//! period. Work that comes at the instant at which it looks is found.
//!
//! # Source
//! Sprunt, Sha and Lehoczky, "Aperiodic task scheduling for hard-real-time systems", Real-Time
//! Systems, 1989; dissertation, section 6.3 (periodic server).

use model::cpu::ServerParams;
use model::{Duration, Time};

use super::per_period::PerPeriod;
use super::{Replenishment, Server, ServerEvent, Standing};

/// A polling server.
#[derive(Debug, Clone)]
pub struct Polling {
    budget: PerPeriod,
    preemption_charge: Duration,
    has_work: bool,
}

impl Polling {
    /// A server that looks for work first at the start of the run.
    ///
    /// # Panics
    /// When there is no such server ([`ServerParams::checked`]).
    pub fn new(params: ServerParams) -> Self {
        let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
        let budget = PerPeriod::new(&params);
        Self { budget, preemption_charge: params.preemption_charge, has_work: false }
    }
}

impl Server for Polling {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        self.budget.consume(executed);
        self.budget.advance(now);
        match event {
            ServerEvent::Unblock => {
                self.has_work = true;
                if now > self.budget.start() {
                    self.budget.forfeit();
                }
            }
            ServerEvent::Dispatch { preempts: true } => self.budget.consume(self.preemption_charge),
            ServerEvent::Block => {
                self.has_work = false;
                self.budget.forfeit();
            }
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

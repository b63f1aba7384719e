// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No server: work executes at its priority whenever there is any, like a SCHED_FIFO thread.
//!
//! It is the baseline to which the servers are compared. It guarantees nothing to the threads below
//! it.
//!
//! # Source
//! Stanovich, dissertation, figures 6.10 and 6.11 ("SCHED_FIFO") and sections 5.5 and 6.6.

use tidegate_model::{Duration, Time};

use super::{Replenishment, Server, ServerEvent, ServerStatus};

/// Work at a fixed priority without a budget.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedPriority;

impl FixedPriority {
    /// Creates the rules, which have no parameters.
    pub const fn new() -> Self {
        Self
    }
}

impl Server for FixedPriority {
    fn observe(&mut self, _now: Time, _executed: Duration, _event: ServerEvent) {}

    fn status(&self, _now: Time) -> ServerStatus {
        ServerStatus { budget: Duration::MAX, alarm: None, due: Time::ZERO }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
    }
}

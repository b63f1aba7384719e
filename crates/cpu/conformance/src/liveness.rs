// SPDX-License-Identifier: Apache-2.0 OR MIT
//! I6: a server with work gets its budget. Without I6, a server that never executes would conform.

use std::collections::VecDeque;

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::{ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

use crate::invariants::Violation;

/// The maximum number of recent ends of execution that are kept. Checked windows begin at these.
const ENDS_MAX: usize = 64;

/// An instant, and the total that the server was given until then.
#[derive(Debug, Clone, Copy)]
struct Given {
    at: Time,
    total: Duration,
}

/// The lower bound on the service of one server in one run.
///
/// # Bound
/// A server that had work throughout a window of length `D`, and has no budget at its end, was
/// given at least `nC - O` in the window, with `n = ⌊(D - T) / (T + 2 O)⌋`, where `O` is one
/// enforcement delay and one preemption charge. If no task is above the server, this is true for
/// every `n`. Otherwise the tasks above can take the processor while the server has budget, and `n`
/// is at most 1.
///
/// # Source
/// Own derivation, docs/theory/sporadic-servers.md, section 25. Budget that is missing at the end
/// was used. A unit that is used comes back one period after its activation. It is later only by
/// the amount that is borrowed (`O`), by the amount that merging moves (`O`), and by `T` in total
/// when chunks coalesce. A debt from before the window is at most `O`.
#[derive(Debug)]
pub(crate) struct Liveness {
    period: Duration,
    budget: Duration,
    overrun: Duration,
    windows_max: u64,
    /// The instant at which the present work began, and the recent ends of execution since then.
    ends: VecDeque<Given>,
    total: Duration,
    has_work: bool,
    is_out: bool,
}

impl Liveness {
    /// Creates the check for a server with these parameters and an overrun of at most `overrun`.
    pub(crate) fn new(params: &ServerParams, overrun: Duration, is_top: bool) -> Self {
        Self {
            period: params.period,
            budget: params.budget,
            overrun,
            windows_max: if is_top { u64::MAX } else { 1 },
            ends: VecDeque::with_capacity(ENDS_MAX + 1),
            total: Duration::ZERO,
            has_work: false,
            is_out: false,
        }
    }

    /// Counts execution or a charge that ends at `to` as given to the server.
    pub(crate) fn take(&mut self, to: Time, taken: Duration) {
        self.total += taken;
        if !self.has_work {
            return;
        }
        self.ends.push_back(Given { at: to, total: self.total });
        if self.ends.len() > ENDS_MAX {
            self.ends.pop_front();
        }
    }

    /// Processes an event; returns the result of a check if the server was out of budget until now.
    pub(crate) fn observe(
        &mut self,
        now: Time,
        event: ServerEvent,
        status: &ServerStatus,
    ) -> Option<Result<(), Violation>> {
        let checked = self.check(now);
        match event {
            ServerEvent::Unblock => {
                self.has_work = true;
                self.ends.clear();
                self.ends.push_back(Given { at: now, total: self.total });
            }
            ServerEvent::Block => self.has_work = false,
            ServerEvent::Dispatch { .. } | ServerEvent::Preempt | ServerEvent::Alarm => {}
        }
        self.is_out = self.has_work && status.budget.is_zero();
        checked
    }

    /// Checks the windows that end now, if the server has been out of budget until now.
    ///
    /// Only windows that begin at an end of execution are checked: each is the longest with its
    /// amount of execution.
    pub(crate) fn check(&self, now: Time) -> Option<Result<(), Violation>> {
        if !self.is_out {
            return None;
        }
        let cycle = self.period + self.overrun * 2;
        let violation = self.ends.iter().rev().find_map(|from| {
            let after_first = now.since(from.at).ns().saturating_sub(self.period.ns());
            let cycles = (after_first / cycle.ns()).min(self.windows_max);
            let due = (self.budget * cycles).checked_sub(self.overrun)?;
            let executed = self.total - from.total;
            let (from, to) = (from.at, now);
            (executed < due).then_some(Violation::Liveness { from, to, executed, due })
        });
        Some(violation.map_or(Ok(()), Err))
    }
}

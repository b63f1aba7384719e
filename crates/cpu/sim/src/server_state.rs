// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server in a run: its rules, its queued jobs, and whether it may execute.

use std::collections::VecDeque;

use tidegate_cpu_model::{Background, CpuServer, Priority};
use tidegate_cpu_servers::{Server, ServerStatus};
use tidegate_model::{Duration, Time};

use super::ready::Urgency;

/// A job queued at a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerJob {
    pub(super) work: usize,
    pub(super) arrival: Time,
    pub(super) remaining: Duration,
}

/// Whether a server may execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The server has no work.
    Blocked,
    /// The server can execute at its priority.
    InBudget,
    /// The server can execute at its background priority.
    Background,
    /// The server cannot execute before its next replenishment.
    Out,
}

/// A server in a run.
pub(super) struct ServerState<'a> {
    pub(super) server: Box<dyn Server + 'a>,
    pub(super) priority: Priority,
    pub(super) background: Background,
    pub(super) preemption_charge: Duration,
    pub(super) jobs: VecDeque<ServerJob>,
    jobs_max: usize,
    pub(super) mode: Mode,
    pub(super) status: ServerStatus,
    /// The server's urgency; `None` while it may not execute.
    pub(super) urgency: Option<Urgency>,
    /// Whether a thread of its priority or above is executing.
    is_level_active: bool,
    /// The server's execution within its budget since the last report.
    pub(super) unreported: Duration,
}

impl<'a> ServerState<'a> {
    pub(super) fn new(described: &CpuServer, server: Box<dyn Server + 'a>) -> Self {
        let params = &described.params;
        Self {
            status: server.status(Time::ZERO),
            server,
            priority: described.priority,
            background: described.background,
            preemption_charge: if params.kind.has_budget() {
                params.preemption_charge
            } else {
                Duration::ZERO
            },
            jobs: VecDeque::new(),
            jobs_max: usize::try_from(described.queued_max).expect("a u32 is a usize"),
            mode: Mode::Blocked,
            urgency: None,
            is_level_active: false,
            unreported: Duration::ZERO,
        }
    }

    /// Queues a job if there is room.
    pub(super) fn push(&mut self, job: ServerJob) -> bool {
        let has_room = self.jobs.len() < self.jobs_max;
        if has_room {
            self.jobs.push_back(job);
        }
        has_room
    }

    /// Reports to the rules whether a thread of its priority or above executes, if that changed.
    pub(super) fn set_level(&mut self, now: Time, is_active: bool) {
        if self.is_level_active != is_active {
            self.is_level_active = is_active;
            self.server.level(now, is_active);
            self.status = self.server.status(now);
        }
    }

    /// Returns the mode that its status allows.
    pub(super) fn mode_now(&self) -> Mode {
        if self.jobs.is_empty() {
            return Mode::Blocked;
        }
        match (self.status.budget.is_zero(), self.background) {
            (false, _) => Mode::InBudget,
            (true, Background::At(_)) => Mode::Background,
            (true, Background::Never) => Mode::Out,
        }
    }
}

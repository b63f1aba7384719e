// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server in a run: its rules, the jobs that wait for it, and whether it may execute.

use std::collections::VecDeque;

use tidegate_cpu_model::{Background, CpuServer, Priority};
use tidegate_cpu_servers::{Server, Standing};
use tidegate_model::{Duration, Time};

use super::ready::Urgency;

/// A job that waits for a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerJob {
    pub(super) work: usize,
    pub(super) arrival: Time,
    pub(super) remaining: Duration,
}

/// Whether a server may execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It has no work.
    Blocked,
    /// At its priority.
    InBudget,
    /// At its background priority.
    Background,
    /// Not before its next replenishment.
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
    pub(super) standing: Standing,
    /// While it may execute.
    pub(super) urgency: Option<Urgency>,
    /// Executed in its budget since it was last told.
    pub(super) unreported: Duration,
}

impl<'a> ServerState<'a> {
    pub(super) fn new(described: &CpuServer, server: Box<dyn Server + 'a>) -> Self {
        Self {
            standing: server.standing(Time::ZERO),
            server,
            priority: described.priority,
            background: described.background,
            preemption_charge: described.params.preemption_charge,
            jobs: VecDeque::new(),
            jobs_max: usize::try_from(described.queued_max).expect("a u32 is a usize"),
            mode: Mode::Blocked,
            urgency: None,
            unreported: Duration::ZERO,
        }
    }

    /// Takes a job, if there is room.
    pub(super) fn push(&mut self, job: ServerJob) -> bool {
        let has_room = self.jobs.len() < self.jobs_max;
        if has_room {
            self.jobs.push_back(job);
        }
        has_room
    }

    /// The mode that its standing allows.
    pub(super) fn mode_now(&self) -> Mode {
        if self.jobs.is_empty() {
            return Mode::Blocked;
        }
        match (self.standing.budget.is_zero(), self.background) {
            (false, _) => Mode::InBudget,
            (true, Background::At(_)) => Mode::Background,
            (true, Background::Never) => Mode::Out,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The threads of a workload as sources of demand, including the cost of context switches.

use tidegate_cpu_model::{CpuServer, CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::Duration;

use super::demand::Source;
use super::edf::{EdfSource, EdfVerdict, processor_demand};
use super::interference::MeasuredDemand;
use super::level::Level;
use super::objection::Objection;
use super::overhead;
use super::response::{STEPS_MAX, response_and_window};
use super::served::{ServedWork, Supply, queued_max};
use super::server::{ServerLoad, background_objection};
use super::thread_assessment::{CpuBound, CpuThreadAssessment};

/// All threads of a workload.
pub(super) struct Threads<'a> {
    workload: &'a CpuWorkload,
    measured: &'a [MeasuredDemand],
    /// The demand of each task as others see it; `None` on overflow.
    tasks: Vec<Option<Source>>,
    servers: Vec<Result<ServerLoad, Objection>>,
}

impl<'a> Threads<'a> {
    pub(super) fn of(workload: &'a CpuWorkload, measured: &'a [MeasuredDemand]) -> Self {
        let of_task = |task: &CpuTask| {
            let execution = overhead::to_others(task.execution, workload.switch)?;
            Some(Source { execution, period: task.period, jitter: task.jitter })
        };
        Self {
            workload,
            measured,
            tasks: workload.tasks.iter().map(of_task).collect(),
            servers: workload.servers.iter().map(|it| ServerLoad::of(it, workload)).collect(),
        }
    }

    /// Returns the reason why a thread of this priority cannot be assessed, if there is one; `own`
    /// is the thread's own server.
    pub(super) fn objection(&self, priority: Priority, own: Option<usize>) -> Option<Objection> {
        for (index, (server, load)) in self.workload.servers.iter().zip(&self.servers).enumerate() {
            if own == Some(index) {
                continue;
            }
            if let (true, Err(reason)) = (server.priority >= priority, load) {
                return Some(reason.clone());
            }
            if let Some(reason) = background_objection(server, priority) {
                return Some(reason);
            }
        }
        None
    }

    /// Returns a task as its own response time counts it, and everything else that is at least as
    /// urgent; `None` on overflow.
    pub(super) fn task_level(&self, task: &CpuTask) -> Option<(Source, Level<'a>)> {
        let execution = overhead::to_others(task.execution, self.workload.switch)?;
        let as_others_see_it = Source { execution, period: task.period, jitter: task.jitter };
        let mut level = self.level(task.priority, None)?;
        level.remove(&as_others_see_it);
        let execution = overhead::own(task.execution, self.workload.switch)?;
        Some((Source { execution, ..as_others_see_it }, level))
    }

    /// Returns everything that is at least as urgent as this priority, except the server `own`;
    /// `None` on overflow.
    fn level(&self, priority: Priority, own: Option<usize>) -> Option<Level<'a>> {
        let mut level = Level::new(self.measured);
        for (task, source) in self.workload.tasks.iter().zip(&self.tasks) {
            if task.priority >= priority {
                level.add((*source)?, 1);
            }
        }
        for (index, (server, load)) in self.workload.servers.iter().zip(&self.servers).enumerate() {
            if own != Some(index) && server.priority >= priority {
                let load = load.as_ref().ok()?;
                level.add(load.source, 1);
                level.delay_once(load.overrun);
            }
        }
        Some(level)
    }

    /// Returns everything that is at least as urgent as a server, and its blocking; `None` on
    /// overflow.
    fn server_level(&self, index: usize) -> Option<Level<'a>> {
        let server = &self.workload.servers[index];
        let mut level = self.level(server.priority, Some(index))?;
        level.delay_once(server.blocking);
        Some(level)
    }

    /// Assesses whether a server gets its budget, and the time that its activations cost, within
    /// each period.
    pub(super) fn server(&self, index: usize) -> CpuThreadAssessment {
        let server = &self.workload.servers[index];
        let deadline = Some(server.params.period);
        let load = match &self.servers[index] {
            Err(reason) => return CpuThreadAssessment::unknown(reason.clone(), deadline),
            Ok(load) => load,
        };
        if let Some(reason) = self.objection(server.priority, Some(index)) {
            return CpuThreadAssessment::unknown(reason, deadline);
        }
        let verdict = || {
            let execution = load.source.execution.checked_add(load.overrun)?;
            // A server's own back-to-back budgets do not delay each other.
            let own = Source::new(execution, server.params.period);
            Some(response_and_window(&self.server_level(index)?, &own))
        };
        let Some((verdict, window)) = verdict() else {
            return CpuThreadAssessment::of_bound(None, deadline);
        };
        CpuThreadAssessment { window, ..CpuThreadAssessment::of_bound(verdict.bound(), deadline) }
    }

    /// Returns the response bound of all work behind a server, whose own assessment is `row`.
    pub(super) fn served(&self, index: usize, row: &CpuThreadAssessment) -> CpuThreadAssessment {
        let mut window = Duration::ZERO;
        let bound = self.served_bound(index, row, &mut window);
        CpuThreadAssessment { bound, window, ..CpuThreadAssessment::of_bound(None, None) }
    }

    /// Returns the bound, and raises `window` to the longest window whose demand the bound depends
    /// on.
    fn served_bound(
        &self,
        index: usize,
        row: &CpuThreadAssessment,
        window: &mut Duration,
    ) -> CpuBound {
        let server = &self.workload.servers[index];
        let works = self.workload.work.iter().filter(|work| work.server == index);
        let works: Vec<ServedWork> = match works.map(ServedWork::of).collect() {
            Err(reason) => return CpuBound::NotApplicable(reason),
            Ok(works) => works,
        };
        let supply = match self.supply(server, row) {
            Err(reason) => return CpuBound::NotApplicable(reason),
            Ok(supply) => supply,
        };
        let level = self.server_level(index);
        let mut steps = STEPS_MAX;
        let last = |execution_ns: u64| match self.workload.scheduling {
            Scheduling::FixedPriority => {
                let completion = level.as_ref()?.completion_ns(execution_ns, 0, &mut steps)?;
                *window = (*window).max(Duration::from_ns(completion));
                Some(completion)
            }
            Scheduling::Edf => Some(server.params.period.ns()),
        };
        let Some(response_ns) = supply.response_ns(&works, last) else { return CpuBound::NoBound };
        match queued_max(&works, response_ns) {
            Some(queued) if queued <= u64::from(server.queued_max) => {
                CpuBound::Bounded(Duration::from_ns(response_ns))
            }
            _ => CpuBound::NotApplicable(Objection::QueueTooShort {
                server: server.name.clone(),
                queued_max: server.queued_max,
            }),
        }
    }

    fn supply(&self, server: &CpuServer, row: &CpuThreadAssessment) -> Result<Supply, Objection> {
        let supply = Supply::of(server, self.workload)?;
        match &row.bound {
            CpuBound::NotApplicable(reason) => Err(reason.clone()),
            CpuBound::Bounded(_) if row.is_deadline_met() => Ok(supply),
            CpuBound::Bounded(_) | CpuBound::NoBound => {
                Err(Objection::ServerLate { server: server.name.clone() })
            }
        }
    }

    /// Applies the processor demand criterion to all tasks and servers.
    pub(super) fn edf(&self) -> Result<EdfVerdict, Objection> {
        let mut sources = Vec::new();
        for (task, source) in self.workload.tasks.iter().zip(&self.tasks) {
            let Some(source) = *source else { return Ok(EdfVerdict::Unbounded) };
            let (deadline, blocking) = (task.deadline, task.blocking);
            sources.push(EdfSource { source, deadline, blocking });
        }
        let mut once = Duration::ZERO;
        for (server, load) in self.workload.servers.iter().zip(&self.servers) {
            let kind = server.params.kind;
            if kind == tidegate_cpu_model::ServerKind::Deferrable {
                return Err(Objection::EdfServer { kind });
            }
            let load = load.clone()?;
            once = once.checked_add(load.overrun).unwrap_or(Duration::MAX);
            let (source, deadline) = (load.source, server.params.period);
            sources.push(EdfSource { source, deadline, blocking: server.blocking });
        }
        Ok(processor_demand(&sources, once, self.measured))
    }
}

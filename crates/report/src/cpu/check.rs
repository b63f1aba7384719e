// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate cpu check`: the proof for a processor.

mod limit;
mod text;

use serde::Serialize;
use tidegate_cpu_analysis::{
    CpuAnswer, CpuAssessment, CpuBound, CpuThreadAssessment, Load, MeasuredDemand, assess,
};
use tidegate_cpu_model::{CpuServer, CpuTask, CpuWork, CpuWorkload};
use tidegate_model::{Grade, Premises};

use crate::check::Verdict;
use crate::ns::Ns;

/// The proof for a processor.
#[derive(Debug, Serialize)]
pub struct CpuReport<'a> {
    scheduling: &'static str,
    switch_ns: Ns,
    timer_latency_ns: Ns,
    verdict: Verdict,
    grade: Option<Grade>,
    reason: Option<String>,
    schedulable: bool,
    tasks: Vec<TaskReport<'a>>,
    servers: Vec<ServerReport<'a>>,
    work: Vec<WorkReport<'a>>,
    interference: Vec<InterferenceReport<'a>>,
    limited_by: Option<String>,
    /// Changes with which every deadline would be proven.
    would_fit: Vec<String>,
    premises: Premises,
    #[serde(skip)]
    workload: &'a CpuWorkload,
    /// One entry for each interference in the workload.
    #[serde(skip)]
    measured: &'a [MeasuredDemand],
    #[serde(skip)]
    assessment: CpuAssessment,
}

#[derive(Debug, Serialize)]
struct TaskReport<'a> {
    name: &'a str,
    priority: u32,
    period_ns: Ns,
    execution_ns: Ns,
    deadline_ns: Ns,
    loads: LoadsReport,
    #[serde(flatten)]
    bound: BoundReport,
}

/// Loads up to the deadline, in parts per million.
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Debug, Serialize)]
struct LoadsReport {
    ceil_ppm: Option<u64>,
    refined_ppm: Option<u64>,
    hyperbolic_ppm: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ServerReport<'a> {
    name: &'a str,
    kind: &'static str,
    priority: u32,
    budget_ns: Ns,
    period_ns: Ns,
    #[serde(flatten)]
    bound: BoundReport,
}

#[derive(Debug, Serialize)]
struct WorkReport<'a> {
    name: &'a str,
    server: &'a str,
    deadline_ns: Option<Ns>,
    #[serde(flatten)]
    bound: BoundReport,
}

/// The bound of a thread.
#[derive(Debug, Serialize)]
struct BoundReport {
    response_ns_max: Option<Ns>,
    not_applicable: Option<String>,
    meets_deadline: bool,
}

#[derive(Debug, Serialize)]
struct InterferenceReport<'a> {
    file: &'a str,
    name: &'a str,
    bound: &'static str,
    margin_ns: Ns,
    utilization_ppm: Option<u64>,
    interval_ns_max: Ns,
}

impl<'a> CpuReport<'a> {
    /// Assesses `workload` with the interference in `measured`.
    pub fn of(workload: &'a CpuWorkload, measured: &'a [MeasuredDemand]) -> Self {
        let assessment = assess(workload, measured);
        let (verdict, reason) = match &assessment.answer {
            CpuAnswer::Proven => (Verdict::Proven, None),
            CpuAnswer::NotProven => (Verdict::NotProven, None),
            CpuAnswer::NotApplicable { reason } => {
                (Verdict::NotApplicable, Some(reason.to_string()))
            }
        };
        let tasks = workload.tasks.iter().zip(&assessment.tasks).map(TaskReport::of);
        let servers = workload.servers.iter().zip(&assessment.servers).map(ServerReport::of);
        let work = workload.work.iter().zip(&assessment.work);
        let work = work.map(|(work, row)| WorkReport::of(work, &workload.servers, row));
        let interference = workload.interference.iter().zip(measured);
        let interference = interference.map(|(interference, measured)| InterferenceReport {
            file: &interference.file,
            name: measured.name(),
            bound: interference.bound.name(),
            margin_ns: interference.margin.into(),
            utilization_ppm: measured.utilization().ppm_of(1),
            interval_ns_max: measured.longest().into(),
        });
        Self {
            scheduling: workload.scheduling.name(),
            switch_ns: workload.switch.into(),
            timer_latency_ns: workload.timer_latency.into(),
            verdict,
            grade: assessment.grade(),
            reason,
            schedulable: verdict == Verdict::Proven,
            tasks: tasks.collect(),
            servers: servers.collect(),
            work: work.collect(),
            interference: interference.collect(),
            limited_by: limit::limited_by(workload, &assessment),
            would_fit: limit::would_fit(workload, measured, &assessment),
            premises: assessment.premises.clone(),
            workload,
            measured,
            assessment,
        }
    }

    /// Returns whether every deadline is proven.
    pub fn is_proven(&self) -> bool {
        self.schedulable
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub(crate) fn grade(&self) -> Option<Grade> {
        self.grade
    }

    pub(crate) fn premises(&self) -> &Premises {
        &self.premises
    }
}

impl<'a> TaskReport<'a> {
    fn of((task, row): (&'a CpuTask, &CpuThreadAssessment)) -> Self {
        let [ceil_ppm, refined_ppm, hyperbolic_ppm] = row.loads.map(|it| it.and_then(Load::ppm));
        Self {
            name: &task.name,
            priority: task.priority.0,
            period_ns: task.period.into(),
            execution_ns: task.execution.into(),
            deadline_ns: task.deadline.into(),
            loads: LoadsReport { ceil_ppm, refined_ppm, hyperbolic_ppm },
            bound: BoundReport::of(row),
        }
    }
}

impl<'a> ServerReport<'a> {
    fn of((server, row): (&'a CpuServer, &CpuThreadAssessment)) -> Self {
        Self {
            name: &server.name,
            kind: server.params.kind.name(),
            priority: server.priority.0,
            budget_ns: server.params.budget.into(),
            period_ns: server.params.period.into(),
            bound: BoundReport::of(row),
        }
    }
}

impl<'a> WorkReport<'a> {
    fn of(work: &'a CpuWork, servers: &'a [CpuServer], row: &CpuThreadAssessment) -> Self {
        Self {
            name: &work.name,
            server: &servers[work.server].name,
            deadline_ns: Ns::of(work.deadline),
            bound: BoundReport::of(row),
        }
    }
}

impl BoundReport {
    fn of(row: &CpuThreadAssessment) -> Self {
        let reason = match &row.bound {
            CpuBound::NotApplicable(reason) => Some(reason.to_string()),
            CpuBound::Bounded(_) | CpuBound::NoBound => None,
        };
        Self {
            response_ns_max: Ns::of(row.response_max()),
            not_applicable: reason,
            meets_deadline: row.is_deadline_met(),
        }
    }
}

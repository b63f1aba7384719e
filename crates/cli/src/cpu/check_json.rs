// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What was proved of a processor, for programs: names end in their unit.

use serde_json::{Value, json};
use tidegate_cpu_analysis::{CpuAnswer, CpuBound, CpuThreadAssessment, Load};
use tidegate_cpu_model::{CpuServer, CpuTask, CpuWork};
use tidegate_model::Duration;

use super::check::CpuReport;

impl CpuReport {
    /// The object that `--json` prints.
    pub(crate) fn to_json(&self) -> Value {
        let (workload, assessment) = (&self.processor.workload, &self.assessment);
        let reason = match &assessment.answer {
            CpuAnswer::NotApplicable { reason } => Some(reason.to_string()),
            CpuAnswer::Proven | CpuAnswer::NotProven => None,
        };
        let tasks = workload.tasks.iter().zip(&assessment.tasks).map(task_json);
        let servers = workload.servers.iter().zip(&assessment.servers).map(server_json);
        let work = workload
            .work
            .iter()
            .zip(&assessment.work)
            .map(|(work, row)| work_json(work, &workload.servers[work.server], row));
        let measured = workload.interference.iter().zip(&self.processor.measured);
        let measured = measured.map(|(interference, measured)| {
            json!({
                "file": interference.file,
                "name": measured.name(),
                "bound": interference.bound.name(),
                "margin_ns": interference.margin.ns(),
                "utilization_ppm": measured.utilization().ppm_of(1),
                "interval_ns_max": measured.longest().ns(),
            })
        });
        json!({
            "scheduling": workload.scheduling.name(),
            "switch_ns": workload.switch.ns(),
            "timer_latency_ns": workload.timer_latency.ns(),
            "verdict": self.verdict(),
            "reason": reason,
            "schedulable": self.is_proven(),
            "tasks": tasks.collect::<Vec<_>>(),
            "servers": servers.collect::<Vec<_>>(),
            "work": work.collect::<Vec<_>>(),
            "interference": measured.collect::<Vec<_>>(),
            "limited_by": self.limited_by(),
            "assumptions": assessment.assumptions,
        })
    }
}

fn task_json((task, row): (&CpuTask, &CpuThreadAssessment)) -> Value {
    let ppm = |index: usize| row.loads[index].and_then(Load::ppm);
    with_bound(
        json!({
            "name": task.name,
            "priority": task.priority.0,
            "period_ns": task.period.ns(),
            "execution_ns": task.execution.ns(),
            "deadline_ns": task.deadline.ns(),
            "loads": { "ceil_ppm": ppm(0), "refined_ppm": ppm(1), "hyperbolic_ppm": ppm(2) },
        }),
        row,
    )
}

fn server_json((server, row): (&CpuServer, &CpuThreadAssessment)) -> Value {
    with_bound(
        json!({
            "name": server.name,
            "kind": server.params.kind.name(),
            "priority": server.priority.0,
            "budget_ns": server.params.budget.ns(),
            "period_ns": server.params.period.ns(),
        }),
        row,
    )
}

fn work_json(work: &CpuWork, server: &CpuServer, row: &CpuThreadAssessment) -> Value {
    with_bound(
        json!({
            "name": work.name,
            "server": server.name,
            "deadline_ns": work.deadline.map(Duration::ns),
        }),
        row,
    )
}

fn with_bound(mut value: Value, row: &CpuThreadAssessment) -> Value {
    let reason = match &row.bound {
        CpuBound::NotApplicable(reason) => Some(reason.to_string()),
        CpuBound::Bounded(_) | CpuBound::NoBound => None,
    };
    value["response_ns_max"] = json!(row.response_max().map(Duration::ns));
    value["not_applicable"] = json!(reason);
    value["meets_deadline"] = json!(row.is_deadline_met());
    value
}

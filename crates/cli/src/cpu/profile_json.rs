// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `tidegate cpu profile --json` prints: one object, names end in their unit.

use serde_json::{Value, json};
use tidegate_cpu_measure::fit::{self, FittedTask};
use tidegate_cpu_measure::{CpuMeasurement, CpuProfileEnd};
use tidegate_model::Duration;

use super::calibration::{Calibration, Coverage};

/// The object of a measurement; `toml` is in it unless it was `written`.
pub(super) fn of(
    measured: &CpuMeasurement,
    calibration: Option<&Calibration>,
    written: Option<&str>,
    toml: &str,
) -> Value {
    let CpuMeasurement { profile, tally, host, .. } = measured;
    let conditions = serde_json::to_value(&profile.conditions).expect("conditions are plain data");
    let ns = |of: &dyn Fn(usize) -> Duration| -> Vec<u64> {
        (0..profile.points.len()).map(|index| of(index).ns()).collect()
    };
    let raised = profile.running_max();
    json!({
        "name": profile.name,
        "end": match measured.end {
            CpuProfileEnd::Complete => "complete",
            CpuProfileEnd::TimeOver => "time over",
            CpuProfileEnd::Cancelled => "interrupted",
        },
        "written": written,
        "toml": written.is_none().then_some(toml),
        "conditions": conditions,
        "interval_ns": ns(&|index| profile.points[index].interval),
        "stolen_ns_max": ns(&|index| profile.points[index].stolen_max),
        "demand_ns": ns(&|index| raised[index].stolen_max),
        "demand_fit": profile.demand_fit.map(|it| json!({
            "utilization_ppb": it.utilization_ppb,
            "offset_ns": it.offset_ns,
            "task": task(fit::task_of_demand(it)),
        })),
        "load_fit": profile.load_fit.map(|it| json!({
            "utilization_ppb": it.utilization_ppb,
            "period_ns": it.period_ns,
            "task": task(fit::task_of_load(it)),
        })),
        "trials": tally.trials(),
        "gaps": tally.gaps(),
        "gap_ns_max": tally.gap_max().ns(),
        "wake_up_ns_max": tally.wake_up_max().ns(),
        "measured_ns": tally.measured().ns(),
        "stolen_ns": tally.stolen().ns(),
        "waited_ns": host.waited.map(Duration::ns),
        "hypervisor_ns": host.steal.map(|it| it.stolen().ns()),
        "gap_step_ns": measured.steps.gap.ns(),
        "wall_ns": measured.took.ns(),
        "warnings": measured.warnings,
        "calibration": calibration.map(|it| json!({
            "thief": task(Some((it.thief.execution, it.thief.period))),
            "is_thief_above": it.is_above,
            "idle_ns": it.idle.iter().map(|point| point.stolen_max.ns()).collect::<Vec<_>>(),
            "lines": coverage(it.lines),
            "linear": coverage(it.linear),
            "refined": coverage(it.refined),
        })),
    })
}

fn task(thief: FittedTask) -> Value {
    thief.map_or(
        Value::Null,
        |(execution, period)| json!({ "execution_ns": execution.ns(), "period_ns": period.ns() }),
    )
}

fn coverage(coverage: Coverage) -> Value {
    json!({
        "covered": coverage.covered,
        "points": coverage.all,
        "by_any": coverage.by_any,
        "excess_ns_max": coverage.excess_max.ns(),
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `tidegate profile --json` prints: one object, names end in their unit. What each says is in
//! docs/reference/json.md; `null` is what was not measured or does not apply.

use serde_json::{Value, json};
use tidegate_measure::{Finding, Kind, Profile, StartTimes, Step, Warning};
use tidegate_model::drive_file::{MeasuredTable, SingleTimes, Throughput};
use tidegate_model::{Bytes, CostModel, DriveFile, Duration, Op};
use tidegate_stats::drift::{Change, Shift};
use tidegate_stats::independence::Dependence;

/// Where a profile went, and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The drive file; none where none was asked for, or it could not be written.
    pub(crate) written: Option<String>,
    /// The journal, if it is still there.
    pub(crate) samples_file: Option<String>,
    /// What is to be said of the file that was added to.
    pub(crate) said: Option<String>,
    /// The drive file itself where it is not written.
    pub(crate) toml: Option<String>,
}

/// The object of a measurement; `stated` is the drive file as it is written or printed, which may
/// have more than was measured now.
pub(crate) fn of_profile(profile: &Profile, stated: &DriveFile, outcome: &Outcome) -> Value {
    let file = &profile.file;
    let added = outcome.said.iter().map(|text| json!({ "kind": "added_costs", "text": text }));
    let warnings = profile.warnings.iter().map(warning).chain(added);
    json!({
        "drive": stated.name,
        "end": if profile.is_cancelled { "interrupted" } else { "complete" },
        "written": outcome.written,
        "samples_file": outcome.samples_file,
        "toml": outcome.toml,
        "identity": plain(&stated.identity),
        "depth": stated.depth,
        "batch": file.batch.iter().map(table).collect::<Vec<_>>(),
        "drain": file.drain.iter().map(table).collect::<Vec<_>>(),
        "drain_starts": profile.starts.iter().map(start).collect::<Vec<_>>(),
        "priority": file.priority.iter().map(table).collect::<Vec<_>>(),
        "single": file.single.iter().map(single).collect::<Vec<_>>(),
        "throughput": file.throughput.iter().map(throughput).collect::<Vec<_>>(),
        "starvation_ns_max": stated.starvation_max.map(Duration::ns),
        "flush_ns_max": stated.flush_max.map(Duration::ns),
        "is_endless": profile.is_endless,
        "cost": file.cost.as_ref().map(cost),
        "has_mechanics": stated.mechanics.is_some(),
        "fit": plain(&file.fit),
        "findings": profile.findings.iter().map(finding).collect::<Vec<_>>(),
        "warnings": warnings.collect::<Vec<_>>(),
    })
}

/// The object of a plan.
pub(crate) fn of_plan(steps: &[Step], together: Duration) -> Value {
    let step = |step: &Step| {
        let mut value = of_kind(step.kind);
        value["experiment"] = step.experiment.name().into();
        value["samples"] = step.trials.into();
        value["requests"] = step.requests.into();
        value["time_ns"] = step.time.ns().into();
        value
    };
    json!({
        "plan": steps.iter().map(step).collect::<Vec<_>>(),
        "time_ns": together.ns(),
    })
}

/// `op` and `size_bytes`, null where there are several.
fn of_kind(kind: Option<Kind>) -> Value {
    of(kind.map(|kind| kind.op), kind.map(|kind| kind.size))
}

fn of(op: Option<Op>, size: Option<Bytes>) -> Value {
    json!({ "op": op.map(Op::name), "size_bytes": size.map(Bytes::get) })
}

fn table(table: &MeasuredTable) -> Value {
    let mut value = of(table.op, table.size);
    value["samples"] = table.samples.into();
    value["confidence"] = table.confidence.clone().into();
    value["ns_max"] = json!(table.ns_max);
    for (name, list) in QUANTILES.iter().zip(&table.quantiles_ns) {
        value[*name] = json!(list);
    }
    value
}

/// In the order of [`MeasuredTable::LEVELS_PPM`], as in drive files.
const QUANTILES: [&str; 6] = ["ns_min", "ns_p10", "ns_p50", "ns_p90", "ns_p99", "ns_p999"];

fn start(times: &StartTimes) -> Value {
    let mut value = of_kind(Some(times.kind));
    value["start"] = times.start.name().into();
    value["ns_max"] = times.longest.iter().map(|it| it.ns()).collect();
    value
}

fn single(single: &SingleTimes) -> Value {
    let mut value = of(Some(single.op), Some(single.size));
    value["samples"] = single.samples.into();
    value["ns_max"] = single.ns_max.into();
    for (name, ns) in QUANTILES.iter().zip(single.ns_quantiles) {
        value[*name] = ns.into();
    }
    value["slow"] = plain(&single.slow);
    value
}

fn throughput(flow: &Throughput) -> Value {
    let mut value = of(Some(flow.op), Some(flow.size));
    value["place"] = flow.place.name().into();
    value["samples"] = flow.samples.into();
    value["depth"] = json!(flow.depth);
    value["bytes_per_s"] = json!(flow.bytes_per_s);
    value["bytes_per_s_min"] = json!(flow.bytes_per_s_min);
    value
}

fn cost(cost: &CostModel) -> Value {
    let requests = cost.requests.iter().map(|request| {
        let mut value = of(Some(request.op), Some(request.size));
        value["ns_max"] = request.time_max.ns().into();
        value
    });
    json!({
        "positioning_ns_max": cost.positioning_max.ns(),
        "batch_max": cost.batch_max,
        "samples": cost.samples,
        "how": cost.how,
        "request": requests.collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    let Finding { disturbance, drift, independence, .. } = finding;
    let mut value = of_kind(finding.kind);
    value["experiment"] = finding.experiment.name().into();
    value["samples"] = disturbance.samples.into();
    value["samples_disturbed"] = disturbance.disturbed.into();
    value["held_up_ns_max"] = disturbance.held_up_max.ns().into();
    value["excess_ns_max"] = disturbance.excess_max.ns().into();
    value["drift"] = drift.shifts.iter().map(shift).collect();
    value["dependent"] = independence.dependent.iter().map(dependence).collect();
    value["p99_ns_max"] = finding.quantile.map(|it| it.time_max.ns()).into();
    value["tail"] = finding.tail.as_ref().map(ToString::to_string).into();
    value
}

/// Entries and ways count from 1, as tables do.
fn shift(shift: &Shift) -> Value {
    json!({
        "entry": shift.cell.entry + 1,
        "way": shift.cell.way + 1,
        "of": match shift.change { Change::Samples => "median", Change::Longest => "p95" },
        "first_ns": shift.first.ns(),
        "last_ns": shift.last.ns(),
    })
}

fn dependence(dependence: &Dependence) -> Value {
    json!({
        "entry": dependence.cell.entry + 1,
        "way": dependence.cell.way + 1,
        "correlation": dependence.correlation,
        "samples": dependence.samples,
        "samples_effective": dependence.effective(),
    })
}

fn warning(warning: &Warning) -> Value {
    json!({ "kind": warning.kind(), "text": warning.to_string() })
}

/// A part of the file as the file has it.
fn plain(part: &impl serde::Serialize) -> Value {
    serde_json::to_value(part).expect("a drive file is plain data")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is answered: names end in their unit, a qualifier behind it.

use std::borrow::Cow;

use host::Distribution;
use model::{Beyond, Duration, ExportContract, ExportSpec};
use serde_json::{Value, json};

use crate::service::{ExportStatistics, View};

/// Why something is not done, and what to do instead.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: Cow<'static, str>,
    pub(super) help: &'static str,
}

impl Fault {
    pub(super) fn new(error: impl Into<Cow<'static, str>>, help: &'static str) -> Self {
        Self { error: error.into(), help }
    }
}

pub(super) fn failed(fault: &Fault) -> Value {
    json!({ "ok": false, "error": fault.error, "help": fault.help })
}

fn no_answer() -> Fault {
    Fault::new("the service does not answer", "it ended, or its store keeps it: see its log")
}

fn ns(time: Option<Duration>) -> Option<u64> {
    time.map(Duration::ns)
}

/// What is offered, and whether what was proved still stands.
pub(super) fn status(view: &View) -> Result<Value, Fault> {
    let seen = view.statistics().ok_or_else(no_answer)?;
    let real_time = view.real_time();
    let exports = view.exports().iter().zip(view.bounds()).enumerate();
    let exports: Vec<Value> = exports
        .map(|(index, (export, bound))| {
            export_status(export, *bound, view.is_export_degraded(index, &seen))
        })
        .collect();
    Ok(json!({
        "ok": true,
        "version": env!("CARGO_PKG_VERSION"),
        "policy": view.policy().name(),
        "hears_notices": view.hears_notices(),
        "uptime_ns": view.uptime().ns(),
        "real_time": { "is_granted": real_time.is_complete(), "text": real_time.to_string() },
        "is_degraded": view.is_degraded(&seen),
        "exports": exports,
    }))
}

fn export_status(export: &ExportSpec, bound: Option<Duration>, is_degraded: bool) -> Value {
    json!({
        "name": export.name,
        "size_bytes": export.size.get(),
        "is_read_only": export.is_read_only,
        "contract": export.contract.as_ref().map(contract),
        "bound_ns": ns(bound),
        "weight": export.share.weight,
        "limit_bytes_per_s": export.share.limit.map(model::Bandwidth::bytes_per_s),
        "is_degraded": is_degraded,
    })
}

fn contract(contract: &ExportContract) -> Value {
    let ExportContract { requests, period, deadline, size_max, op, beyond } = contract;
    json!({
        "requests": requests,
        "period_ns": period.ns(),
        "deadline_ns": deadline.ns(),
        "size_bytes_max": size_max.get(),
        "op": op.map(model::Op::name),
        "beyond": match beyond { Beyond::Wait => "wait", Beyond::BestEffort => "best-effort" },
    })
}

/// What was seen so far.
pub(super) fn statistics(view: &View) -> Result<Value, Fault> {
    let seen = view.statistics().ok_or_else(no_answer)?;
    let exports = view.exports().iter().zip(view.bounds()).enumerate();
    let exports: Vec<Value> = exports
        .map(|(index, (export, bound))| {
            let is_degraded = view.is_export_degraded(index, &seen);
            export_statistics(export, *bound, &seen.exports[index], is_degraded)
        })
        .collect();
    Ok(json!({
        "ok": true,
        "uptime_ns": seen.now.ns(),
        "is_degraded": view.is_degraded(&seen),
        "exports": exports,
        "drive": {
            "in_flight": seen.in_flight,
            "batches": seen.batches,
            "batch_ns_p50": ns(seen.batch_time.quantile(P50)),
            "batch_ns_max": ns(seen.batch_time.max()),
            "overruns": seen.overruns,
            "overrun_ns_sum": seen.overrun_sum.ns(),
            "overrun_ns_max": seen.overrun_max.ns(),
            "stalls": seen.stalls,
        },
    }))
}

/// Shares in parts per million.
const P50: u32 = 500_000;
const P99: u32 = 990_000;
const P999: u32 = 999_000;

/// Responses are those that the contract's bound speaks of; of best effort, all.
fn export_statistics(
    export: &ExportSpec,
    bound: Option<Duration>,
    seen: &ExportStatistics,
    is_degraded: bool,
) -> Value {
    let contract = export.contract.as_ref();
    let responses: &Distribution = if contract.is_some() { &seen.bounded } else { &seen.responses };
    json!({
        "name": export.name,
        "requests": seen.bounded_counts.count() + seen.best_effort_counts.count(),
        "requests_best_effort": seen.best_effort_counts.count(),
        "misses": seen.misses,
        "beyond": seen.beyond,
        "failed": seen.failed,
        "outstanding": seen.outstanding,
        "tokens": seen.tokens,
        "tokens_max": contract.map_or(0, |contract| contract.requests),
        "transferred_bytes": seen.bytes,
        "flushes": seen.flushes,
        "response_ns_min": ns(responses.min()),
        "response_ns_mean": ns(responses.mean()),
        "response_ns_p50": ns(responses.quantile(P50)),
        "response_ns_p99": ns(responses.quantile(P99)),
        "response_ns_p999": ns(responses.quantile(P999)),
        "response_ns_max": ns(responses.max()),
        "bound_ns": ns(bound),
        "deadline_ns": ns(contract.map(|contract| contract.deadline)),
        "is_degraded": is_degraded,
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the replies from the service's view.

use std::borrow::Cow;

use tidegate_model::{Beyond, Duration, ExportContract, ExportSpec};
use tidegate_stats::Distribution;

use super::wire::{
    AdmittedExport, ContractStatus, Distributions, DriveFigures, ExportBound, ExportDistribution,
    ExportFigures, ExportStatus, Failed, RealTimeStatus, RemovedExport, Statistics, Status,
};
use crate::service::{
    Admitted, ChangeError, ExportStatistics, Look, Offer, Refusal, Removed, View,
};

/// The error of a request, with the user's next step.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: Cow<'static, str>,
    pub(super) help: Cow<'static, str>,
    /// Whether the request was valid and the service refused it.
    is_refused: bool,
    /// Changes that would get the export admitted.
    would_fit: Vec<String>,
}

impl Fault {
    pub(super) fn new(
        error: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { error: error.into(), help: help.into(), is_refused: false, would_fit: Vec::new() }
    }

    /// Makes the error for a check while another one runs.
    pub(super) fn busy() -> Self {
        let (error, help) = ("another export is being checked", "try again when that is done");
        Self { is_refused: true, ..Self::new(error, help) }
    }

    /// Makes the error for a change of the exports that failed.
    pub(super) fn of_change(error: ChangeError) -> Self {
        let is_refused = matches!(
            error,
            ChangeError::Refused(_)
                | ChangeError::InProgress
                | ChangeError::NeverQuiet { .. }
                | ChangeError::Ending
        );
        let help = match &error {
            ChangeError::Refused(_) => "",
            ChangeError::NameTaken { .. } => "give it another name",
            ChangeError::Unknown { .. } => "`status` lists them",
            ChangeError::NeverQuiet { .. } => {
                "try again when there is less load, or add it to the serve file and restart the service"
            }
            ChangeError::InProgress => "try again when it is complete, in some seconds",
            ChangeError::Ending => "start the service again, then repeat the request",
            ChangeError::Ended => return no_answer(),
            _ => "add it to the serve file and restart the service",
        };
        match error {
            ChangeError::Refused(Refusal { reason, would_fit, help }) => {
                Self { is_refused, would_fit, ..Self::new(reason, help) }
            }
            other => Self { is_refused, ..Self::new(other.to_string(), help) },
        }
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self {
            ok: false,
            error: fault.error.into_owned(),
            help: fault.help.into_owned(),
            is_refused: fault.is_refused,
            would_fit: fault.would_fit,
        }
    }
}

/// States how long an admission lasts: the service does not write to the serve file.
pub(super) const KEPT: &str = "until the service ends; to keep it, add it to the serve file";

/// States when the bounds of an export that was only checked take effect.
pub(super) const CHECKED: &str = "once the export is admitted (`admit`); nothing has changed yet";

pub(super) fn admitted(found: &Admitted, note: &str) -> AdmittedExport {
    AdmittedExport {
        export: found.export.name.clone(),
        offset_bytes: found.export.offset.get(),
        size_bytes: found.export.size.get(),
        policy: found.offer.policy().name().to_owned(),
        bounds: bounds(&found.offer),
        grade: found.offer.grade(),
        premises: found.offer.premises().clone(),
        note: note.to_owned(),
    }
}

pub(super) fn removed(name: &str, found: &Removed) -> RemovedExport {
    let seen = &found.statistics;
    RemovedExport {
        export: name.to_owned(),
        is_free: found.is_free,
        requests: seen.bounded_counts.count() + seen.best_effort_counts.count(),
        misses: seen.misses,
        response_ns_max: ns(seen.bounded.max().or(seen.responses.max())),
        unanswered: seen.outstanding,
        policy: found.offer.policy().name().to_owned(),
        bounds: bounds(&found.offer),
        note: "until the service ends; to make it last, remove it from the serve file".to_owned(),
    }
}

fn bounds(offer: &Offer) -> Vec<ExportBound> {
    let exports = offer.exports().iter().zip(offer.bounds());
    let bound = |(export, bound): (&ExportSpec, &Option<Duration>)| ExportBound {
        name: export.name.clone(),
        bound_ns: ns(*bound),
        deadline_ns: ns(export.contract.as_ref().map(|contract| contract.deadline)),
    };
    exports.map(bound).collect()
}

fn no_answer() -> Fault {
    Fault::new("the service does not answer", "it has ended or its store blocks it: see the log")
}

fn ns(time: Option<Duration>) -> Option<u64> {
    time.map(Duration::ns)
}

pub(super) fn status(view: &View) -> Result<Status, Fault> {
    view.look().as_ref().map(|look| status_of(view, look)).ok_or_else(no_answer)
}

fn status_of(view: &View, look: &Look) -> Status {
    let (real_time, offer, guarantee) = (view.real_time(), &look.offer, look.seen.guarantee);
    let exports = offer.exports().iter().zip(offer.bounds()).enumerate();
    let status = |(index, (export, bound)): (usize, (&ExportSpec, &Option<Duration>))| {
        let failed = look.seen.exports[index].failed;
        export_status(export, *bound, look.is_export_degraded(index), failed)
    };
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        policy: offer.policy().name().to_owned(),
        hears_notices: offer.hears_notices(),
        uptime_ns: look.seen.now.ns(),
        real_time: RealTimeStatus {
            is_granted: real_time.is_complete(),
            text: real_time.to_string(),
        },
        is_degraded: look.is_degraded(),
        degradations: guarantee.degradations,
        unchanged_ns: look.seen.now.since(guarantee.since).ns(),
        grade: offer.grade(),
        premises: offer.premises().clone(),
        exports: exports.map(status).collect(),
    }
}

fn export_status(
    export: &ExportSpec,
    bound: Option<Duration>,
    is_degraded: bool,
    failed: u64,
) -> ExportStatus {
    ExportStatus {
        name: export.name.clone(),
        offset_bytes: export.offset.get(),
        size_bytes: export.size.get(),
        is_read_only: export.is_read_only,
        contract: export.contract.as_ref().map(contract),
        is_soft: export.is_soft,
        bound_ns: ns(bound),
        weight: export.share.weight,
        limit_bytes_per_s: export.share.limit.map(tidegate_model::Bandwidth::bytes_per_s),
        is_degraded,
        failed,
    }
}

fn contract(contract: &ExportContract) -> ContractStatus {
    let ExportContract { requests, period, deadline, size_max, op, beyond } = contract;
    let beyond = match beyond {
        Beyond::Wait => "wait",
        Beyond::BestEffort => "best-effort",
    };
    ContractStatus {
        requests: *requests,
        period_ns: period.ns(),
        deadline_ns: deadline.ns(),
        size_bytes_max: size_max.get(),
        op: op.map(|op| op.name().to_owned()),
        beyond: beyond.to_owned(),
    }
}

pub(super) fn statistics(view: &View) -> Result<Statistics, Fault> {
    view.look().as_ref().map(statistics_of).ok_or_else(no_answer)
}

fn statistics_of(look: &Look) -> Statistics {
    let (offer, seen) = (&look.offer, &look.seen);
    let exports = offer.exports().iter().zip(offer.bounds()).enumerate();
    let figures = |(index, (export, bound)): (usize, (&ExportSpec, &Option<Duration>))| {
        export_figures(export, *bound, &seen.exports[index], look.is_export_degraded(index))
    };
    Statistics {
        uptime_ns: seen.now.ns(),
        is_degraded: look.is_degraded(),
        degradations: seen.guarantee.degradations,
        exports: exports.map(figures).collect(),
        drive: DriveFigures {
            in_flight: seen.in_flight.into(),
            batches: seen.batches,
            batch_ns_p50: ns(seen.batch_time.quantile(P50)),
            batch_ns_max: ns(seen.batch_time.max()),
            overruns: seen.overruns,
            overruns_tolerated: seen.overruns_tolerated,
            overrun_ns_sum: seen.overrun_sum.ns(),
            overrun_ns_max: seen.overrun_max.ns(),
            stalls: seen.stalls,
        },
    }
}

pub(super) fn distributions(view: &View) -> Result<Distributions, Fault> {
    let look = view.look().ok_or_else(no_answer)?;
    let exports = look.offer.exports().iter().zip(&look.seen.exports);
    let of_export = |(export, seen): (&ExportSpec, &ExportStatistics)| {
        let steps = limited(export, seen).steps();
        ExportDistribution {
            name: export.name.clone(),
            response_ns_steps: steps.into_iter().map(|(at, count)| (at.ns(), count)).collect(),
        }
    };
    let distributions = exports.map(of_export).collect();
    let (statistics, status) = (statistics_of(&look), status_of(view, &look));
    Ok(Distributions { statistics, status, distributions })
}

/// Returns the response times to which the bound applies; for best effort, all response times.
fn limited<'a>(export: &ExportSpec, seen: &'a ExportStatistics) -> &'a Distribution {
    if export.contract.is_some() { &seen.bounded } else { &seen.responses }
}

/// The median, in parts per million.
const P50: u32 = 500_000;
/// The 99 % quantile, in parts per million.
const P99: u32 = 990_000;
/// The 99.9 % quantile, in parts per million.
const P999: u32 = 999_000;

fn export_figures(
    export: &ExportSpec,
    bound: Option<Duration>,
    seen: &ExportStatistics,
    is_degraded: bool,
) -> ExportFigures {
    let contract = export.contract.as_ref();
    let responses = limited(export, seen);
    ExportFigures {
        name: export.name.clone(),
        requests: seen.bounded_counts.count() + seen.best_effort_counts.count(),
        requests_best_effort: seen.best_effort_counts.count(),
        misses: seen.misses,
        exceeded: seen.exceeded,
        excess_ns_max: seen.excess_max.ns(),
        unexplained: seen.unexplained,
        beyond: seen.beyond,
        failed: seen.failed,
        outstanding: seen.outstanding,
        tokens: seen.tokens,
        tokens_max: contract.map_or(0, |contract| contract.requests),
        transferred_bytes: seen.bytes,
        flushes: seen.flushes,
        response_ns_min: ns(responses.min()),
        response_ns_mean: ns(responses.mean()),
        response_ns_p50: ns(responses.quantile(P50)),
        response_ns_p99: ns(responses.quantile(P99)),
        response_ns_p999: ns(responses.quantile(P999)),
        response_ns_max: ns(responses.max()),
        socket_ns_max: seen.at_socket_max.ns(),
        client_full_ns: seen.client_full.ns(),
        bound_ns: ns(bound),
        deadline_ns: ns(contract.map(|contract| contract.deadline)),
        is_degraded,
    }
}

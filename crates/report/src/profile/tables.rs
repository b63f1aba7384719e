// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tables of a profile for programs, under the names that drive files use.

use serde::Serialize;
use tidegate_measure::StartTimes;
use tidegate_model::cost::RequestCost;
use tidegate_model::drive_file::{
    MeasuredTable, PredictionErrors, SingleTimes, SlowPlace, Throughput,
};
use tidegate_model::{Bytes, CostModel, Op};

use crate::ns::Ns;

/// The kind of the requests; null if there are several kinds.
#[derive(Serialize)]
struct KindReport {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
}

impl KindReport {
    fn of(op: Option<Op>, size: Option<Bytes>) -> Self {
        Self { op: op.map(Op::name), size_bytes: size.map(Bytes::get) }
    }
}

/// Quantiles in the order of [`MeasuredTable::LEVELS_PPM`].
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Serialize)]
struct Quantiles<T> {
    ns_min: T,
    ns_p10: T,
    ns_p50: T,
    ns_p90: T,
    ns_p99: T,
    ns_p999: T,
}

impl<T> From<[T; 6]> for Quantiles<T> {
    fn from([ns_min, ns_p10, ns_p50, ns_p90, ns_p99, ns_p999]: [T; 6]) -> Self {
        Self { ns_min, ns_p10, ns_p50, ns_p90, ns_p99, ns_p999 }
    }
}

#[derive(Serialize)]
pub(super) struct Table<'a> {
    #[serde(flatten)]
    kind: KindReport,
    samples: Option<u64>,
    confidence: Option<&'a str>,
    ns_max: &'a [u64],
    #[serde(flatten)]
    quantiles: Quantiles<&'a [u64]>,
}

impl<'a> Table<'a> {
    pub(super) fn of(table: &'a MeasuredTable) -> Self {
        Self {
            kind: KindReport::of(table.op, table.size),
            samples: table.samples,
            confidence: table.confidence.as_deref(),
            ns_max: &table.ns_max,
            quantiles: table.quantiles_ns.each_ref().map(Vec::as_slice).into(),
        }
    }
}

/// The longest drain times from one starting state.
#[derive(Serialize)]
pub(super) struct Starts {
    #[serde(flatten)]
    kind: KindReport,
    start: &'static str,
    ns_max: Vec<Ns>,
}

impl Starts {
    pub(super) fn of(times: &StartTimes) -> Self {
        Self {
            kind: KindReport::of(Some(times.kind.op), Some(times.kind.size)),
            start: times.start.name(),
            ns_max: times.longest.iter().copied().map(Ns).collect(),
        }
    }
}

/// The times of single requests.
#[derive(Serialize)]
pub(super) struct Single<'a> {
    #[serde(flatten)]
    kind: KindReport,
    samples: u64,
    ns_max: u64,
    #[serde(flatten)]
    quantiles: Quantiles<u64>,
    slow: &'a [SlowPlace],
}

impl<'a> Single<'a> {
    pub(super) fn of(single: &'a SingleTimes) -> Self {
        Self {
            kind: KindReport::of(Some(single.op), Some(single.size)),
            samples: single.samples,
            ns_max: single.ns_max,
            quantiles: single.ns_quantiles.into(),
            slow: &single.slow,
        }
    }
}

/// The errors of predicted service times.
#[derive(Serialize)]
pub(super) struct Prediction {
    #[serde(flatten)]
    kind: KindReport,
    samples: u64,
    late_ns_max: u64,
    early_ns_max: u64,
    error: Quantiles<u64>,
}

impl Prediction {
    pub(super) fn of(errors: &PredictionErrors) -> Self {
        Self {
            kind: KindReport::of(Some(errors.op), Some(errors.size)),
            samples: errors.samples,
            late_ns_max: errors.late_ns_max,
            early_ns_max: errors.early_ns_max,
            error: errors.error_ns_quantiles.into(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Flow<'a> {
    #[serde(flatten)]
    kind: KindReport,
    place: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    elevator: Option<u32>,
    samples: u64,
    depth: &'a [u32],
    bytes_per_s: &'a [u64],
    bytes_per_s_min: &'a [u64],
}

impl<'a> Flow<'a> {
    pub(super) fn of(flow: &'a Throughput) -> Self {
        Self {
            kind: KindReport::of(Some(flow.op), Some(flow.size)),
            place: flow.place.name(),
            elevator: flow.elevator,
            samples: flow.samples,
            depth: &flow.depth,
            bytes_per_s: &flow.bytes_per_s,
            bytes_per_s_min: &flow.bytes_per_s_min,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Cost<'a> {
    positioning_ns_max: Ns,
    batch_max: Option<u32>,
    samples: Option<u64>,
    how: Option<&'a str>,
    request: Vec<RequestReport>,
}

/// The cost that a request adds to a batch.
#[derive(Serialize)]
struct RequestReport {
    #[serde(flatten)]
    kind: KindReport,
    ns_max: Ns,
}

impl<'a> Cost<'a> {
    pub(super) fn of(cost: &'a CostModel) -> Self {
        let request = |request: &RequestCost| RequestReport {
            kind: KindReport::of(Some(request.op), Some(request.size)),
            ns_max: request.time_max.into(),
        };
        Self {
            positioning_ns_max: cost.positioning_max.into(),
            batch_max: cost.batch_max,
            samples: cost.samples,
            how: cost.how.as_deref(),
            request: cost.requests.iter().map(request).collect(),
        }
    }
}

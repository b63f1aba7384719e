// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[cost]` of a drive file: the cost model of batches of different requests.
//!
//! A model is refused if a measured batch of the same file exceeds it, because that batch refutes
//! it.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::limits::TIME_NS_MAX;
use super::observations::MixedBatches;
use super::tables::{MeasuredTable, SizeText};
use crate::cost::{CostModel, RequestCost};
use crate::file_error::FileError;
use crate::quantity::Quantity;
use crate::task::Op;
use crate::units::{Bytes, Duration};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCost {
    positioning_ns_max: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    switch_ns_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fua_ns_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<String>,
    request: Vec<RawRequest>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequest {
    op: Op,
    size: Spanned<SizeText>,
    ns_max: Spanned<u64>,
}

/// Reads the model and compares it with the measured tables of its file.
pub(super) fn read(
    raw: Spanned<RawCost>,
    batch: &[MeasuredTable],
    mixed: &[MixedBatches],
) -> Result<CostModel, FileError> {
    let span = raw.span();
    let raw = raw.into_inner();
    let fixed = [Some(raw.positioning_ns_max), raw.switch_ns_max, raw.fua_ns_max];
    if let Some(ns) = fixed.into_iter().flatten().find(|&ns| ns > TIME_NS_MAX) {
        return Err(FileError::new(
            span,
            format!("[cost] has a time of {ns} ns, which is longer than a day"),
            "give the times in nanoseconds",
        ));
    }
    let mut requests: Vec<RequestCost> = Vec::with_capacity(raw.request.len());
    for request in raw.request {
        let size_span = request.size.span();
        let cost = read_request(&request)?;
        if requests.iter().any(|known| (known.op, known.size) == (cost.op, cost.size)) {
            return Err(FileError::new(
                size_span,
                format!(
                    "this is a second [[cost.request]] for {}s of {}",
                    cost.op.name(),
                    cost.size
                ),
                "keep one [[cost.request]] for each operation and size",
            ));
        }
        requests.push(cost);
    }
    let model = CostModel {
        positioning_max: Duration::from_ns(raw.positioning_ns_max),
        requests,
        switch_max: raw.switch_ns_max.map(Duration::from_ns),
        fua_max: raw.fua_ns_max.map(Duration::from_ns),
        batch_max: raw.batch_max,
        how: raw.how,
        samples: raw.samples,
    };
    if let Some((covered, measured)) = first_uncovered_mixed(&model, mixed) {
        return Err(FileError::new(
            span,
            format!(
                "[cost] says that a batch of [[mixed]] takes at most {} ns, but it took {} ns",
                covered.ns(),
                measured.ns()
            ),
            "raise positioning_ns_max or the ns_max of its requests, or delete [cost]",
        ));
    }
    match model.first_uncovered(batch) {
        None => Ok(model),
        Some(found) => Err(FileError::new(
            span,
            format!(
                "[cost] says that {} {}s of {} take at most {} ns, but the [[batch]] table has {} ns",
                found.requests,
                found.op.name(),
                found.size,
                found.covered.ns(),
                found.measured.ns()
            ),
            "raise positioning_ns_max or the request's ns_max, or delete [cost]: costs are then \
             derived from the tables",
        )),
    }
}

/// Returns the modelled and the measured time of the first mixed batch that took longer than the
/// model says.
fn first_uncovered_mixed(
    model: &CostModel,
    mixed: &[MixedBatches],
) -> Option<(Duration, Duration)> {
    let batches = mixed.iter().flat_map(MixedBatches::batches);
    let mut known = batches.filter_map(|(batch, took)| Some((model.batch_of(batch)?, took)));
    known.find(|(covered, took)| took > covered)
}

fn read_request(raw: &RawRequest) -> Result<RequestCost, FileError> {
    let size = raw.size.get_ref().0;
    if size.get() == 0 {
        return Err(FileError::new(
            raw.size.span(),
            "size is 0: every request moves at least one byte",
            format!("write the size of the request, for example {}", Bytes::EXAMPLE),
        ));
    }
    let ns = *raw.ns_max.get_ref();
    if ns == 0 || ns > TIME_NS_MAX {
        return Err(FileError::new(
            raw.ns_max.span(),
            format!(
                "ns_max is {ns} ns: a request adds more than 0 ns and at most a day to a batch"
            ),
            "write the longest time in nanoseconds",
        ));
    }
    Ok(RequestCost { op: raw.op, size, time_max: Duration::from_ns(ns) })
}

pub(super) fn write(model: &CostModel) -> RawCost {
    let request = |cost: &RequestCost| RawRequest {
        op: cost.op,
        size: Spanned::new(0..0, SizeText(cost.size)),
        ns_max: Spanned::new(0..0, cost.time_max.ns()),
    };
    RawCost {
        positioning_ns_max: model.positioning_max.ns(),
        switch_ns_max: model.switch_max.map(Duration::ns),
        fua_ns_max: model.fua_max.map(Duration::ns),
        batch_max: model.batch_max,
        samples: model.samples,
        how: model.how.clone(),
        request: model.requests.iter().map(request).collect(),
    }
}

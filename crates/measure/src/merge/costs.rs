// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges `[cost]` of a drive file with added measurements so that the file remains valid.
//!
//! ```text
//!   kinds of one model among the other's ...... all kinds of the other
//!   otherwise ................................. those of the model with more kinds
//!   then ...................................... fitted again to all batches of these kinds in the
//!                                               file; if a model was not fitted to the file's
//!                                               batches, the greater of each figure
//!   then ...................................... A is raised until every batch that the model
//!                                               covers takes no longer than the model says
//!   of one kind, in a file of several kinds ... none: it says no more than the file's table
//! ```
//!
//! Batches that mix kinds of both models were not measured, and do not follow from batches of
//! either model. So costs for all kinds together are never invented. Kinds that are not covered are
//! reported.

use crate::envelope::FITTED;
use crate::kind::Kind;
use crate::kind_batches::KindBatches;
use crate::table::join_families;
use tidegate_model::cost::RequestCost;
use tidegate_model::drive_file::{MeasuredTable, MixedBatches, MixedKind};
use tidegate_model::{CostModel, DriveFile, Measurement};

/// Adds batches of several kinds to the `known` ones; the longer time of each batch is kept.
pub(super) fn add_mixed(known: &mut Vec<MixedBatches>, new: &[MixedBatches]) {
    for batches in new {
        match known.iter_mut().find(|it| it.request == batches.request) {
            Some(known) => add_batches(known, batches),
            None => known.push(batches.clone()),
        }
    }
}

fn add_batches(known: &mut MixedBatches, new: &MixedBatches) {
    let has = |it: &MixedBatches, counts| it.counts.contains(counts);
    let is_in_new = known.counts.iter().all(|counts| has(new, counts));
    let is_in_known = new.counts.iter().all(|counts| has(known, counts));
    // The file states the number of samples of the entry that has fewest.
    known.samples = match (is_in_new, is_in_known) {
        (true, true) => known.samples.max(new.samples),
        (true, false) => new.samples,
        (false, true) => known.samples,
        (false, false) => known.samples.min(new.samples),
    };
    // The times by families have one entry for each batch of their measurement, in its order.
    known.places = if known.counts == new.counts {
        join_families(&known.places, new.places.clone())
    } else {
        Vec::new()
    };
    for (counts, &ns) in new.counts.iter().zip(&new.ns_max) {
        if let Some(at) = known.counts.iter().position(|it| it == counts) {
            known.ns_max[at] = known.ns_max[at].max(ns);
        } else {
            known.counts.push(counts.clone());
            known.ns_max.push(ns);
        }
    }
}

/// Returns the costs of a `file` that already holds all tables and batches, from its earlier costs
/// and the new ones. Also returns a remark about them.
pub(super) fn joined(
    known: Option<&CostModel>,
    new: Option<&CostModel>,
    file: &DriveFile,
) -> (Option<CostModel>, Option<String>) {
    let all = kinds_of_tables(&file.batch);
    let is_known_by_batches = known.into_iter().chain(new).all(|it| is_of_batches(it, file));
    let best = match (known, new) {
        (Some(known), Some(new)) if is_within(new, known) => Some((known, Some(new))),
        (Some(known), Some(new)) if is_within(known, new) => Some((new, Some(known))),
        (Some(known), Some(new)) if new.requests.len() > known.requests.len() => Some((new, None)),
        (known, new) => known.or(new).map(|it| (it, None)),
    };
    let best = best.filter(|(it, _)| it.requests.len() > 1 || all.len() < 2);
    let costs = best.map(|(widest, other)| {
        let fitted = is_known_by_batches.then(|| fitted(widest, file)).flatten();
        fitted.unwrap_or_else(|| {
            other.map_or_else(|| widest.clone(), |other| greater_of(widest, other))
        })
    });
    let costs = costs.map(|costs| raised(costs, file));
    let covers =
        |kind: &Kind| costs.as_ref().is_some_and(|costs| kinds(costs).any(|known| known == *kind));
    let is_asked = known.is_some() || new.is_some();
    let said = (is_asked && !all.iter().all(covers)).then(|| said(costs.as_ref(), &all));
    (costs, said)
}

fn kinds(costs: &CostModel) -> impl Iterator<Item = Kind> {
    costs.requests.iter().map(|it| Kind { op: it.op, size: it.size })
}

fn kinds_of_tables(tables: &[MeasuredTable]) -> Vec<Kind> {
    tables.iter().filter_map(|table| Some(Kind { op: table.op?, size: table.size? })).collect()
}

fn is_within(inner: &CostModel, outer: &CostModel) -> bool {
    kinds(inner).all(|kind| kinds(outer).any(|other| other == kind))
}

/// Returns whether a model was fitted to batches that are in the file. Otherwise it was written by
/// hand, or by a version that did not record batches of several kinds, and contains more than the
/// batches show.
fn is_of_batches(costs: &CostModel, file: &DriveFile) -> bool {
    let is_mixed = |batches: &MixedBatches| {
        let is_known = |Kind { op, size }| batches.request.contains(&MixedKind { op, size });
        kinds(costs).all(is_known)
    };
    let is_fitted = costs.how.as_ref().is_some_and(|how| how.starts_with(FITTED));
    is_fitted && (costs.requests.len() == 1 || file.mixed.iter().any(is_mixed))
}

/// Returns the cost model with the least total overshoot over all batches of the kinds of `widest`;
/// `None` if there is none.
fn fitted(widest: &CostModel, file: &DriveFile) -> Option<CostModel> {
    let kinds: Vec<Kind> = kinds(widest).collect();
    let batches = KindBatches::of(&kinds, file);
    Some(CostModel { samples: batches.samples(), ..batches.costs().ok()? })
}

/// Returns a model for the kinds of both models that covers every batch that either covers.
fn greater_of(a: &CostModel, b: &CostModel) -> CostModel {
    let mut requests = a.requests.clone();
    for cost in &b.requests {
        let is_it = |known: &&mut RequestCost| (known.op, known.size) == (cost.op, cost.size);
        match requests.iter_mut().find(is_it) {
            Some(known) => known.time_max = known.time_max.max(cost.time_max),
            None => requests.push(*cost),
        }
    }
    CostModel {
        positioning_max: a.positioning_max.max(b.positioning_max),
        requests,
        switch_max: a.switch_max.max(b.switch_max),
        fua_max: a.fua_max.max(b.fua_max),
        batch_max: a.batch_max.into_iter().chain(b.batch_max).min(),
        how: Some("the greatest figures of several fits".to_owned()),
        samples: a.samples.into_iter().chain(b.samples).min(),
    }
}

/// Raises A to the least value that covers every batch of the model's kinds: a file is invalid if
/// its own batches refute its costs.
fn raised(costs: CostModel, file: &DriveFile) -> CostModel {
    let of_table = |table: &MeasuredTable| {
        let (op, size) = (table.op?, table.size?);
        let excess = |requests: u32| {
            let covered = costs.batch_of_one_kind(op, size, requests)?;
            table.table.time_max(requests).checked_sub(covered)
        };
        (1..=table.table.batch_max()).filter_map(excess).max()
    };
    let pure = file.batch.iter().filter_map(of_table);
    let mixed = file.mixed.iter().flat_map(MixedBatches::batches);
    let mixed = mixed.filter_map(|(batch, took)| took.checked_sub(costs.batch_of(batch)?));
    let missing = pure.chain(mixed).max().unwrap_or_default();
    if missing.is_zero() {
        return costs;
    }
    let how = costs.how.unwrap_or_else(|| "as found in this file".to_owned());
    let how = Some(format!("{how}; positioning raised to cover all batches of the file"));
    CostModel { positioning_max: costs.positioning_max + missing, how, ..costs }
}

fn said(costs: Option<&CostModel>, all: &[Kind]) -> String {
    let what = match costs {
        Some(costs) => {
            let is_answered = |kind: &&Kind| {
                kinds(costs).all(|known| known != **kind)
                    && costs.cost(kind.op, kind.size).is_some()
            };
            let answered: Vec<_> = all.iter().filter(is_answered).copied().collect();
            let larger = match &answered[..] {
                [] => String::new(),
                _ => format!(
                    "; {} are charged as larger ones, raised to cover their measurements",
                    list(answered.iter().copied())
                ),
            };
            format!("[cost] has figures of {} only{larger}", list(kinds(costs)))
        }
        None => "[cost] is left out".to_owned(),
    };
    let measurement =
        Measurement::of("batch,mixed").with(all.iter().map(|kind| (kind.op, kind.size)));
    format!(
        "{what}: no batches that mix {} were measured, and their times do not follow from \
         batches of one kind; measure all together and add them: `{measurement}`",
        list(all.iter().copied()),
    )
}

/// Lists kinds, for example `reads of 4KiB and writes of 4KiB`.
fn list(kinds: impl Iterator<Item = Kind>) -> String {
    kinds.map(|kind| kind.to_string()).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests;

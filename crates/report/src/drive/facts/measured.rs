// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measurements of a profile other than its batches, and the fits to them, in short lines.

use serde::Deserialize as _;
use tidegate_model::drive_file::{PredictionErrors, SingleTimes, Throughput};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{DriveFile, Duration};

use super::{entries, parts};
use crate::figures::thousands;
use crate::paragraph::Fact;
use crate::{figures, structure};

/// Describes drains, requests with the drive's own priority, single requests, flows, and the errors
/// of predictions.
pub(super) fn observations(file: &DriveFile) -> Vec<Fact> {
    let drains = file.drain.iter().map(|table| ("Drain", entries::text(table, "drain")));
    let urgent = file.priority.iter().map(|table| ("Priority", entries::text(table, "priority")));
    let single = file.single.iter().map(|single| ("Single", one(single)));
    let flows = file.throughput.iter().map(|throughput| ("Throughput", flow(throughput)));
    let errors = file.prediction.iter().map(|errors| ("Prediction", predicted(errors)));
    drains.chain(urgent).chain(single).chain(flows).chain(errors).collect()
}

/// Describes `[fit]`: the device's parts, then a disk with the same behaviour, then the facts about
/// the samples.
pub(super) fn fit(fit: &toml::Table) -> Vec<Fact> {
    let mut facts = structure::facts(fit);
    let mechanics = fit.get("mechanics").and_then(|it| Mechanics::deserialize(it.clone()).ok());
    if let Some(fitted) = mechanics.and_then(|it| parts::mechanics(&it).ok()) {
        facts
            .extend(fitted.into_iter().map(|(label, text)| ("Fitted", format!("{label}: {text}"))));
    }
    let none = fit.get("no_rotation").and_then(toml::Value::as_str);
    facts.extend(none.map(|why| ("Rotation", why.to_owned())));
    let samples = fit.get("samples").and_then(toml::Value::as_table);
    let tables =
        samples.into_iter().flatten().filter_map(|(name, said)| Some((name, said.as_array()?)));
    for (name, said) in tables {
        let said = said.iter().filter_map(toml::Value::as_str);
        facts.extend(said.map(|sentence| ("Samples", format!("{name}: {sentence}"))));
    }
    facts
}

fn one(single: &SingleTimes) -> String {
    let [least, _, median, _, p99, _] = single.ns_quantiles.map(ms);
    let (op, size, samples) = (single.op.name(), single.size, thousands(single.samples));
    let samples = figures::count(samples, "sample");
    let slow = match single.slow.len() {
        0 => String::new(),
        slow => format!(", {} slower than the rest", figures::count(slow, "place")),
    };
    let longest = ms(single.ns_max);
    format!("{op} {size}: {least} to {longest}, median {median}, 99 % {p99}, {samples}{slow}")
}

fn predicted(errors: &PredictionErrors) -> String {
    let [_, _, median, _, p99, _] = errors.error_ns_quantiles.map(ms);
    let (op, size, samples) = (errors.op.name(), errors.size, thousands(errors.samples));
    let samples = figures::count(samples, "sample");
    let [late, early] = [errors.late_ns_max, errors.early_ns_max].map(ms);
    format!(
        "{op} {size}: at most {late} late, {early} early, median error {median}, 99 % {p99}, \
         {samples}"
    )
}

fn flow(flow: &Throughput) -> String {
    let (op, size, place) = (flow.op.name(), flow.size, flow.place.name());
    let order = flow.elevator.map(|all| format!(", elevator of {all}")).unwrap_or_default();
    let all = flow.depth.iter().zip(&flow.bytes_per_s).zip(&flow.bytes_per_s_min);
    let mut all = all.map(|((depth, &median), &slowest)| {
        let [median, slowest] = [median, slowest].map(figures::throughput);
        format!("{median} with {depth} on the drive (slowest stretch {slowest})")
    });
    let ends: Vec<String> = all.next().into_iter().chain(all.next_back()).collect();
    format!("{place} {op} {size}{order}: {}", ends.join(" to "))
}

fn ms(ns: u64) -> String {
    figures::ms_ceil(Duration::from_ns(ns))
}

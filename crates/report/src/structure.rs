// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes `[fit]` of a drive file in a few words: at the end of a measurement, and wherever the
//! file is shown.

use std::collections::BTreeMap;

use serde::Deserialize;
use tidegate_measure::geometry::Geometry;
use tidegate_measure::stripe::Chips;
use tidegate_measure::{FlushTimes, Stripe};
use tidegate_model::{Bytes, Duration};

use crate::figures;
use crate::paragraph::Fact;

/// Returns the facts about rotation, zones, seeks, stripes and flushes that were measured.
pub(crate) fn facts(fit: &toml::Table) -> Vec<Fact> {
    let geometry = part(fit, "geometry").map(|it| of_geometry(&it));
    let stripe = part(fit, "stripe").map(|it| of_stripe(&it));
    let flush = part(fit, "flush").map(|it| of_flushes(&it));
    geometry.into_iter().chain(stripe).chain(flush).flatten().collect()
}

fn part<'de, T: Deserialize<'de>>(fit: &toml::Table, name: &str) -> Option<T> {
    T::deserialize(fit.get(name)?.clone()).ok()
}

fn ms(ns: u64) -> String {
    figures::ms_ceil(Duration::from_ns(ns))
}

fn of_geometry(geometry: &Geometry) -> Vec<Fact> {
    let rotation = geometry.rotation.as_ref().map(|rotation| {
        let turn = ms(rotation.turn_ps.div_ceil(1000));
        ("Rotation", format!("{turn} a turn, {} rpm", rotation.rpm()))
    });
    let overhead = geometry.overhead.as_ref().map(|overhead| {
        let hit = overhead.hit_ns.map(|ns| format!("takes {}", ms(ns)));
        let hit = hit.unwrap_or_else(|| "serves none".to_owned());
        let least = ms(overhead.least_ns);
        ("Overhead", format!("a read takes at least {least}; from memory it {hit}"))
    });
    let zones = geometry.zones.as_ref().map(|zones| {
        let ends = [zones.zone.first(), zones.zone.last()];
        let [first, last] = ends.map(|zone| zone.map_or(0, |it| it.sectors_per_track));
        let count = zones.zone.len();
        ("Zones", format!("{count}: {first} sectors a track in the first, {last} in the last"))
    });
    let seek = geometry.seek.as_ref().map(|seek| {
        let ends = [seek.points.first(), seek.points.last()].into_iter().flatten();
        let ends = ends.map(|it| format!("{} over {} cylinders", ms(it.ns), it.cylinders));
        ("Seeks", format!("from {}", ends.collect::<Vec<_>>().join(" to ")))
    });
    [rotation, overhead, zones, seek].into_iter().flatten().collect()
}

/// Returns the longest flush after each number of writes, for each kind of writes.
fn of_flushes(flushes: &BTreeMap<String, FlushTimes>) -> Vec<Fact> {
    let text = |(kind, times): (&String, &FlushTimes)| {
        let FlushTimes { start, writes, ns_max, samples, .. } = times;
        let after = start.iter().zip(writes).zip(ns_max);
        let after =
            after.map(|((start, writes), &ns)| format!("{} after {writes} ({start})", ms(ns)));
        let after = after.collect::<Vec<_>>().join(", ");
        ("Flush", format!("{kind}: {after}, {samples} samples of each"))
    };
    flushes.iter().map(text).collect()
}

fn of_stripe(stripe: &Stripe) -> Vec<Fact> {
    let permille = stripe.parallel_permille;
    let parallel = format!(
        "{}{}.{} reads of {} at once; one takes {}",
        if stripe.is_still_rising { "at least " } else { "" },
        permille / 1000,
        permille % 1000 / 100,
        Bytes::new(stripe.read_bytes),
        ms(stripe.alone_ns),
    );
    let often =
        stripe.conflicts_ppm.iter().filter(|(_, ppm)| *ppm >= stripe.alone_slow_ppm + 500_000);
    let distances: Vec<_> = often.map(|&(bytes, _)| Bytes::new(bytes).to_string()).collect();
    let said = if distances.is_empty() { "no distance".to_owned() } else { distances.join(", ") };
    let conflicts = format!("two reads delay each other mostly at {said}");
    let beside = stripe.beside_writes_ns.map(|times| {
        let [median, p99, longest] = times.map(ms);
        let of = stripe.beside_writes_of_bytes.map(|bytes| format!(" of {}", Bytes::new(bytes)));
        let of = of.unwrap_or_default();
        let text =
            format!("a read beside writes{of}: median {median}, 99 % {p99}, longest {longest}");
        ("Beside", text)
    });
    let block = stripe.block_bytes.map(|bytes| {
        let again = stripe
            .again_bytes
            .map(|bytes| format!(", and the pattern repeats after {}", Bytes::new(bytes)));
        let again = again.unwrap_or_default();
        ("Blocks", format!("of {} are each on one chip{again}", Bytes::new(bytes)))
    });
    let chips = stripe.chips.as_ref().map(|chips| ("Chips", of_chips(chips)));
    let always = [("Parallel", parallel), ("Conflicts", conflicts)];
    block.into_iter().chain(chips).chain(always).chain(beside).collect()
}

/// Returns the number of chips that share reads, as estimated from pairs.
fn of_chips(chips: &Chips) -> String {
    let Chips { pairs, conflicts, count_min, count, count_max } = chips;
    let seen = format!("{conflicts} of {pairs} pairs of reads at random positions conflicted");
    match (count, count_max) {
        (Some(count), Some(most)) => {
            format!("about {count}, {count_min} to {most} with 99 % confidence: {seen}")
        }
        _ => format!("at least {count_min} with 99 % confidence: {seen}"),
    }
}

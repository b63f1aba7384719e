// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Describes `[fit]` of a drive file in short lines: at the end of a measurement, and wherever the
//! file is shown.

use std::collections::BTreeMap;

use serde::Deserialize;
use tidegate_measure::geometry::{Geometry, OverheadSeen, SeekSeen, TracksSeen};
use tidegate_measure::stripe::Chips;
use tidegate_measure::{FlushTimes, Stripe};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Duration};

use crate::drive::chart;
use crate::figures;
use crate::figures::thousands;
use crate::paragraph::Fact;
use crate::plot::Chart;

/// Returns the measured facts about rotation, zones, tracks, seeks, stripes and flushes.
pub(crate) fn facts(fit: &toml::Table) -> Vec<Fact> {
    let cylinders = part(fit, "mechanics").map(|it: Mechanics| it.cylinders);
    let geometry = part(fit, "geometry").map(|it| of_geometry(&it, cylinders));
    let stripe = part(fit, "stripe").map(|it| of_stripe(&it));
    let flush = part(fit, "flush").map(|it| of_flushes(&it));
    geometry.into_iter().chain(stripe).chain(flush).flatten().collect()
}

/// Returns the values of a reconstructed disk that were guessed because no measurement shows them.
pub(crate) fn guessed(fit: &toml::Table) -> Vec<Fact> {
    let found: Option<Mechanics> = part(fit, "mechanics");
    let lines = found.into_iter().flat_map(|it| it.chosen);
    lines.map(|line| ("Guessed", line)).collect()
}

/// Draws the measured seek times by distance; `None` without seeks.
pub(crate) fn seek_chart(fit: &toml::Table) -> Option<Chart> {
    let geometry: Geometry = part(fit, "geometry")?;
    let seek = geometry.seek.filter(|seek| !seek.points.is_empty())?;
    let unit = if seek.head_switch_ns.is_some() { "cylinders" } else { "tracks" };
    let points = seek.points.iter().map(|point| (u64::from(point.cylinders), point.ns));
    Some(chart::seek_chart_in(unit, points.collect()))
}

fn part<'de, T: Deserialize<'de>>(fit: &toml::Table, name: &str) -> Option<T> {
    T::deserialize(fit.get(name)?.clone()).ok()
}

fn ms(ns: u64) -> String {
    figures::ms_ceil(Duration::from_ns(ns))
}

/// Formats a share of a revolution, for example `12.5 %`.
fn percent(ppm: u64) -> String {
    format!("{}.{} %", ppm / 10_000, ppm % 10_000 / 1_000)
}

/// Describes how tracks are arranged.
fn of_tracks(tracks: &TracksSeen, cylinders: Option<u32>) -> String {
    let TracksSeen { surfaces, range_cylinders, .. } = *tracks;
    let [track, cylinder] = [tracks.track_skew_ppm, tracks.cylinder_skew_ppm].map(percent);
    let order = serde_json::to_value(tracks.order).expect("a word");
    let mut words = vec![figures::count(surfaces as usize, "surface")];
    words.extend(cylinders.map(|count| figures::count(thousands(count.into()), "cylinder")));
    words.push(format!("order {}", order.as_str().unwrap_or_default()));
    words.extend(
        range_cylinders
            .map(|count| format!("{} under one head", figures::count(count, "cylinder"))),
    );
    words.push(format!("a skew of {track} of a turn to the next head"));
    words.push(format!("of {cylinder} to the next cylinder"));
    words.extend(tracks.spares_every.map(|every| match every {
        1 => "spare sectors on every track".to_owned(),
        every => format!("spare sectors every {every} tracks"),
    }));
    words.join(", ")
}

/// Describes head switches, and where reads begin.
fn of_heads(seek: &SeekSeen) -> String {
    let switch = seek.head_switch_ns.map_or_else(
        || "no head switch was told from a seek".to_owned(),
        |ns| format!("a head switch takes {}", ms(ns)),
    );
    let begins = match seek.zero_latency {
        Some(true) => "a read can begin in its middle",
        Some(false) => "a read begins with its first sector",
        None => "where a read begins was not seen",
    };
    format!("{switch}; {begins}")
}

/// Describes the disk's cache.
fn of_cache(overhead: &OverheadSeen) -> String {
    match (overhead.hit_ns, overhead.reads_ahead) {
        (None, _) => "answers no read".to_owned(),
        (Some(ns), true) => format!("answers a read in {}; reads ahead", ms(ns)),
        (Some(ns), false) => format!("answers a read in {}; does not read ahead", ms(ns)),
    }
}

fn of_geometry(geometry: &Geometry, cylinders: Option<u32>) -> Vec<Fact> {
    let rotation = geometry.rotation.as_ref().map(|rotation| {
        let turn = ms(rotation.turn_ps.div_ceil(1000));
        ("Rotation", format!("{turn} a turn, {} rpm", rotation.rpm()))
    });
    let overhead = geometry
        .overhead
        .as_ref()
        .map(|overhead| ("Overhead", format!("a read takes at least {}", ms(overhead.least_ns))));
    let zones = geometry.zones.as_ref().map(|zones| {
        let ends = [zones.zone.first(), zones.zone.last()];
        let [first, last] = ends.map(|zone| zone.map_or(0, |it| it.sectors_per_track));
        let count = zones.zone.len();
        ("Zones", format!("{count}: {first} sectors a track in the first, {last} in the last"))
    });
    let seek = geometry.seek.as_ref().map(|seek| {
        let ends = [seek.points.first(), seek.points.last()].into_iter().flatten();
        let ends = ends
            .map(|it| format!("{} over {}", ms(it.ns), figures::count(it.cylinders, "cylinder")));
        ("Seeks", format!("from {}", ends.collect::<Vec<_>>().join(" to ")))
    });
    let cache = geometry.overhead.as_ref().map(|overhead| ("Cache", of_cache(overhead)));
    let tracks = geometry.zones.as_ref().and_then(|map| map.tracks.as_ref());
    let tracks = tracks.map(|tracks| ("Tracks", of_tracks(tracks, cylinders)));
    let heads = geometry.seek.as_ref().map(|seek| ("Heads", of_heads(seek)));
    [rotation, overhead, cache, zones, tracks, heads, seek].into_iter().flatten().collect()
}

/// Returns the longest flush after each number of writes, for each kind of write.
fn of_flushes(flushes: &BTreeMap<String, FlushTimes>) -> Vec<Fact> {
    let text = |(kind, times): (&String, &FlushTimes)| {
        let FlushTimes { start, writes, ns_max, samples, .. } = times;
        let after = start.iter().zip(writes).zip(ns_max);
        let after =
            after.map(|((start, writes), &ns)| format!("{} after {writes} ({start})", ms(ns)));
        let after = after.collect::<Vec<_>>().join(", ");
        ("Flush", format!("{kind}: {after}, {} of each", figures::count(samples, "sample")))
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

/// Returns the number of chips among which reads are spread, as estimated from pairs of reads.
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

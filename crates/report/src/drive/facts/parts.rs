// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts of a drive, as text.

use serde::Serialize;
use serde_json::Value;
use tidegate_drive::mechanical::{Layout, Rotation, ZoneFacts};
use tidegate_model::mechanics::{
    Bus, Cache, Mechanics, MechanicsError, Overhead, Queue, ReadAhead, WriteBack,
};
use tidegate_model::{Bytes, Duration, Lba};

use crate::drive::seek_facts::SeekFacts;
use crate::figures;
use crate::figures::thousands;
use crate::paragraph::{Fact, aligned, under};

/// Returns the facts of a hard disk.
pub(crate) fn mechanics(mechanics: &Mechanics) -> Result<Vec<Fact>, MechanicsError> {
    let layout = Layout::new(mechanics)?;
    let sectors = thousands(mechanics.sectors);
    let mut facts = vec![
        ("Sectors", format!("{sectors} of {}", Bytes::new(Lba::SECTOR_BYTES))),
        ("Rotation", rotation(mechanics)),
        ("Platters", platters(mechanics)),
        ("Zones", zones(mechanics, &layout.zones())),
        ("Seek", seek(&SeekFacts::of(mechanics)?)),
    ];
    facts.extend(overhead(&mechanics.overhead));
    facts.extend([
        ("Bus", bus(&mechanics.bus)),
        ("Cache", mechanics.cache.as_ref().map_or_else(|| "none".to_owned(), cache)),
        ("Queue", queue(&mechanics.queue)),
    ]);
    if let Some(faults) = &mechanics.faults {
        let section = serde_json::to_value(faults).expect("a section is plain data");
        facts.extend(section_facts("Faults", &section, ""));
    }
    facts.extend(mechanics.chosen.iter().map(|line| ("Chosen", line.clone())));
    Ok(facts)
}

/// Returns the facts of a section without its own sentences: each value with its name, and the
/// lines of `chosen`.
pub(crate) fn section(label: &'static str, section: &Value) -> Vec<Fact> {
    section_facts(label, section, "")
}

fn section_facts(label: &'static str, section: &Value, prefix: &str) -> Vec<Fact> {
    let Value::Object(fields) = section else { return vec![(label, section.to_string())] };
    let mut facts = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Null => (),
            Value::Array(lines) if name == "chosen" => {
                let lines = lines.iter().filter_map(Value::as_str);
                facts.extend(lines.map(|line| ("Chosen", line.to_owned())));
            }
            Value::Object(_) => {
                facts.extend(section_facts(label, value, &format!("{prefix}{name}.")));
            }
            value => facts.push((label, format!("{prefix}{name} = {}", plain(value)))),
        }
    }
    facts
}

/// Formats a value for people.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), thousands),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

fn ms(ns: u64) -> String {
    figures::ms_ceil(Duration::from_ns(ns))
}

fn rotation(mechanics: &Mechanics) -> String {
    let turn = Rotation::new(mechanics.rpm).turn();
    format!("{} rpm, {} per revolution", thousands(mechanics.rpm.into()), figures::ms_ceil(turn))
}

fn platters(mechanics: &Mechanics) -> String {
    let settle_ns = mechanics.write_settle_ns;
    let settle = match settle_ns {
        0 => String::new(),
        _ if settle_ns > 0 => format!(", writes settle {} longer", ms(settle_ns.unsigned_abs())),
        _ => format!(", writes settle {} shorter", ms(settle_ns.unsigned_abs())),
    };
    format!(
        "{}, {}; a head switch takes {}{settle}{}",
        figures::count(mechanics.surfaces as usize, "surface"),
        figures::count(thousands(mechanics.cylinders.into()), "cylinder"),
        ms(mechanics.head_switch_ns),
        if mechanics.zero_latency { "; transfers can begin anywhere in a request" } else { "" },
    )
}

fn zones(mechanics: &Mechanics, zones: &[ZoneFacts]) -> String {
    let (Some(first), Some(last)) = (zones.first(), zones.last()) else { return "none".to_owned() };
    let rate = |zone: &ZoneFacts| {
        let bytes = u64::from(zone.sectors_per_track) * Lba::SECTOR_BYTES;
        figures::throughput(bytes * u64::from(mechanics.rpm) / 60)
    };
    format!(
        "{}, {} sectors per track outside ({}) to {} inside ({})",
        zones.len(),
        thousands(first.sectors_per_track.into()),
        rate(first),
        thousands(last.sectors_per_track.into()),
        rate(last)
    )
}

fn seek(facts: &SeekFacts) -> String {
    let [one, mean, full] =
        [facts.one_cylinder, facts.mean, facts.full_stroke].map(figures::ms_ceil);
    format!(
        "{one} to the next cylinder, {mean} on average between two random ones, {full} at full stroke"
    )
}

/// Returns each overhead with its condition; overheads of zero are left out.
fn overhead(overhead: &Overhead) -> Vec<Fact> {
    let o = overhead;
    let by_last = |after_read_ns, after_write_ns| {
        format!("{} after a read, {} after a write", ms(after_read_ns), ms(after_write_ns))
    };
    let all = [
        ("reads from memory", o.read_hit_after_read_ns, o.read_hit_after_write_ns),
        ("reads from the disk", o.read_miss_after_read_ns, o.read_miss_after_write_ns),
        ("writes into memory", o.write_hit_after_read_ns, o.write_hit_after_write_ns),
        ("writes to the disk", o.write_miss_after_read_ns, o.write_miss_after_write_ns),
    ];
    let all =
        all.map(|(what, read_ns, write_ns)| (what, read_ns + write_ns, by_last(read_ns, write_ns)));
    let (read_ns, write_ns) = (o.read_completion_ns, o.write_completion_ns);
    let completion = format!("{} of a read, {} of a write", ms(read_ns), ms(write_ns));
    let others = [
        ("completion", read_ns + write_ns, completion),
        ("reconnection", o.reconnect_ns, ms(o.reconnect_ns)),
        ("each transfer", o.data_preparation_ns, ms(o.data_preparation_ns)),
    ];
    let lines = all.into_iter().chain(others).filter(|(_, ns, _)| *ns > 0);
    let rows: Vec<Vec<String>> = lines.map(|(what, _, text)| vec![what.to_owned(), text]).collect();
    if rows.is_empty() {
        under("Overhead", ["none".to_owned()])
    } else {
        under("Overhead", aligned(&rows))
    }
}

fn bus(bus: &Bus) -> String {
    // The rate follows from the time, in picoseconds, of a sector of 512 bytes.
    let rate = |sector_ps: u64| match sector_ps {
        0 => "unlimited".to_owned(),
        ps => figures::throughput(Lba::SECTOR_BYTES * 1_000_000_000_000 / ps),
    };
    let [reads, writes] = [rate(bus.read_sector_ps), rate(bus.write_sector_ps)];
    if reads == writes { reads } else { format!("reads {reads}, writes {writes}") }
}

fn cache(cache: &Cache) -> String {
    let size = Bytes::new(u64::from(cache.segment_sectors) * Lba::SECTOR_BYTES);
    let mut words = vec![format!(
        "{} of {size}, {} for writes",
        figures::count(cache.segments as usize, "segment"),
        cache.write_segments
    )];
    words.push(if cache.read { "serves reads" } else { "does not serve reads" }.to_owned());
    let read_ahead = match cache.read_ahead {
        ReadAhead::Off => "does not read ahead",
        ReadAhead::Track => "reads ahead to the end of the track",
        ReadAhead::Cylinder => "reads ahead to the end of the cylinder",
        ReadAhead::Segment => "reads ahead until the segment is full",
        ReadAhead::Adaptive => "reads ahead to the end of the track, or of the next in sequence",
    };
    words.push(read_ahead.to_owned());
    let switches = [
        (cache.gives_up_read, "discards read data to make room for read-ahead"),
        (cache.reads_on_arrival, "keeps sectors that pass before the first requested one"),
        (cache.write_segment_apart, "a separate segment for writes"),
    ];
    words.extend(switches.iter().filter(|switch| switch.0).map(|switch| switch.1.to_owned()));
    words.push(match cache.write_back {
        WriteBack::Off => "writes through".to_owned(),
        WriteBack::On => "writes back".to_owned(),
    });
    words.join("; ")
}

fn queue(queue: &Queue) -> String {
    let mut words = vec![word(&queue.scheduler)];
    if let Some(aging_ns) = queue.aging_ns_per_ms {
        words.push(format!(
            "a millisecond of waiting counts as {} of positioning time",
            ms(aging_ns)
        ));
    }
    if let Some(starvation_ns) = queue.starvation_ns {
        words.push(format!("requests that have waited for {} go first", ms(starvation_ns)));
    }
    if queue.priority {
        words.push("requests of priority go first".to_owned());
    }
    words.join("; ")
}

/// Returns the word for a value in drive files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => unreachable!("a value with a word in files: {other:?}"),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a drive file says, in words.

mod measured;
mod parts;

use tidegate_drive::recorded::Recording;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::MechanicsError;
use tidegate_model::{Bytes, DriveFile, DriveKind, Duration, Op};

use super::paragraph::Fact;
use crate::plot::axis::thousands;
use crate::show;

/// The drive in one line.
pub(crate) fn sentence(file: &DriveFile) -> String {
    let capacity = capacity(file).map_or(String::new(), |size| format!(", {}", decimal(size)));
    let mechanics = file.mechanics.as_ref();
    let speed = mechanics.map(|mechanics| format!(", {} rpm", thousands(mechanics.rpm.into())));
    let requests = show::count(file.depth as usize, "request");
    format!("{}{capacity}{}, up to {requests} at once", file.name, speed.unwrap_or_default())
}

/// Everything that is known of a drive.
pub(crate) fn all(file: &DriveFile) -> Result<Vec<Fact>, MechanicsError> {
    let mut facts = vec![("Drive", sentence(file))];
    facts.extend(identity(file));
    facts.push(("Simulated", simulated(file)));
    if let Some(mechanics) = &file.mechanics {
        facts.extend(parts::mechanics(mechanics)?);
    }
    if let Some(ssd) = &file.ssd {
        let section = serde_json::to_value(ssd).expect("a section is plain data");
        facts.extend(parts::section("Flash", &section));
    }
    let limits = [("Starvation", file.starvation_max), ("Flush", file.flush_max)];
    let limits = limits.into_iter().filter_map(|(label, limit)| Some((label, limit?)));
    facts.extend(limits.map(|(label, limit)| (label, format!("at most {}", show::ms_ceil(limit)))));
    let endless = "without end: a request was not served at all";
    facts.extend(file.is_starvation_endless.then(|| ("Starvation", endless.to_owned())));
    facts.extend(file.batch.iter().map(|measured| ("Table", table(measured))));
    facts.extend(measured::observations(file));
    facts.extend(file.fit.iter().flat_map(measured::fit));
    Ok(facts)
}

/// What hosts can address, where the file says it.
pub(crate) fn capacity(file: &DriveFile) -> Option<Bytes> {
    file.capacity().or_else(|| file.ssd.as_ref().map(|ssd| ssd.capacity()))
}

/// The kinds of simulated drive that the file has data for, its own first.
pub(crate) fn kinds(file: &DriveFile) -> Vec<DriveKind> {
    let is_recorded = |table: &MeasuredTable| Recording::new(table).is_ok();
    let all = [
        (DriveKind::Mechanical, file.mechanics.is_some()),
        (DriveKind::Ssd, file.ssd.is_some()),
        (DriveKind::Recorded, file.batch.iter().any(is_recorded)),
        (DriveKind::Pseudo, !file.batch.is_empty()),
    ];
    let mut kinds: Vec<DriveKind> =
        all.into_iter().filter_map(|(kind, has_data)| has_data.then_some(kind)).collect();
    kinds.sort_by_key(|&kind| kind != file.kind);
    kinds
}

/// A size as disks are sold: `9.1 GB`.
pub(crate) fn decimal(size: Bytes) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")];
    let unit = units.into_iter().find(|&(unit, _)| size.get() >= unit);
    let Some((unit, name)) = unit else { return size.to_string() };
    // Each unit is a multiple of ten bytes.
    let tenths = (size.get() + unit / 20) / (unit / 10);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// `read 128KiB`.
pub(crate) fn measured(table: &MeasuredTable) -> String {
    let op = table.op.map_or("any", Op::name);
    table.size.map_or_else(|| op.to_owned(), |size| format!("{op} {size}"))
}

fn identity(file: &DriveFile) -> Vec<Fact> {
    let identity = &file.identity;
    let known = [
        ("Model", &identity.model),
        ("Firmware", &identity.firmware),
        ("When", &identity.when),
        ("Where", &identity.place),
        ("How", &identity.how),
    ];
    let known = known.into_iter().filter_map(|(label, text)| Some((label, text.clone()?)));
    known.chain(identity.host.iter().map(|line| ("Host", line.clone()))).collect()
}

fn simulated(file: &DriveFile) -> String {
    let names: Vec<&str> = kinds(file).into_iter().map(DriveKind::name).collect();
    match &names[..] {
        [] => format!("not yet: it has no data for `{}`", file.kind.name()),
        [own] => format!("as {own}"),
        [own, others @ ..] => format!("as {own}; with --model also as {}", others.join(", ")),
    }
}

fn table(table: &MeasuredTable) -> String {
    entries(table, "b")
}

/// The first and the last entry of a table, under the name of its function.
fn entries(table: &MeasuredTable, function: &str) -> String {
    let time = |ns: u64| show::ms_ceil(Duration::from_ns(ns));
    let samples = table
        .samples
        .map_or(String::new(), |count| format!(", {} samples of each", thousands(count)));
    let (Some(&first), Some(&last)) = (table.ns_max.first(), table.ns_max.last()) else {
        return measured(table);
    };
    let count = table.ns_max.len();
    let measured = measured(table);
    let [first, last] = [first, last].map(time);
    format!("{measured}: {function}(1) = {first} to {function}({count}) = {last}{samples}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_disks_are_sold() {
        let told = [512, 999_999, 1_049_999_999, 9_105_024_000, 2_000_000_000_000];
        let told = told.map(|size| decimal(Bytes::new(size)));
        assert_eq!(told, ["512B", "999999B", "1.0 GB", "9.1 GB", "2.0 TB"]);
    }

    #[test]
    fn the_kinds_of_a_built_in_drive_are_those_it_has_data_for() {
        let mut file = tidegate_drive::builtin::load("sata-ssd").unwrap();
        assert_eq!(kinds(&file), [DriveKind::Ssd, DriveKind::Recorded, DriveKind::Pseudo]);
        file.batch.clear();
        assert_eq!(kinds(&file), [DriveKind::Ssd]);
    }
}

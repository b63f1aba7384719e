// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts of a drive file, as text.

mod entries;
mod measured;
pub(super) mod parts;

use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::MechanicsError;
use tidegate_model::{DriveFile, DriveKind};

use super::sections;
use crate::figures;
use crate::figures::thousands;
use crate::paragraph::Fact;
use crate::premises;

/// Describes the drive in one line.
pub(crate) fn sentence(file: &DriveFile) -> String {
    let capacity =
        file.capacity().map_or(String::new(), |size| format!(", {}", figures::decimal(size)));
    let mechanics = file.mechanics.as_ref();
    let speed = mechanics.map(|mechanics| format!(", {} rpm", thousands(mechanics.rpm.into())));
    let requests = figures::count(file.depth as usize, "request");
    format!("{}{capacity}{}, up to {requests} at once", file.name, speed.unwrap_or_default())
}

/// Returns all facts of a drive.
pub(crate) fn all(file: &DriveFile) -> Result<Vec<Fact>, MechanicsError> {
    let mut facts = identity(file);
    facts.extend(premises::facts(&file.premises));
    facts.push(("Simulated", simulated(file)));
    for section in file.all_parts() {
        facts.extend(sections::facts(section)?);
    }
    let limits = [("Starvation", file.starvation_max), ("Flush", file.flush_max)];
    let limits = limits.into_iter().filter_map(|(label, limit)| Some((label, limit?)));
    facts.extend(
        limits.map(|(label, limit)| (label, format!("at most {}", figures::ms_ceil(limit)))),
    );
    let endless = "unbounded: a request was never served";
    facts.extend(file.is_starvation_endless.then(|| ("Starvation", endless.to_owned())));
    facts.extend(file.batch.iter().map(table_fact));
    facts.extend(measured::observations(file));
    facts.extend(file.fit.iter().flat_map(measured::fit));
    Ok(facts)
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
    let names: Vec<&str> = tidegate_drive::kinds(file).into_iter().map(DriveKind::name).collect();
    match &names[..] {
        [] => format!("not possible: it has no data for `{}`", file.kind.name()),
        [own] => format!("as {own}"),
        [own, others @ ..] => format!("as {own}; with --model also as {}", others.join(", ")),
    }
}

/// Describes the entries of a batch table.
pub(crate) fn table_fact(table: &MeasuredTable) -> Fact {
    ("Table", entries::text(table, "b"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts of a drive file, as text.

mod entries;
mod measured;
mod parts;

use tidegate_drive::recorded::Recording;
use tidegate_model::drive_file::{MeasuredTable, Parts};
use tidegate_model::mechanics::MechanicsError;
use tidegate_model::{DriveFile, DriveKind};

use crate::figures;
use crate::figures::thousands;
use crate::paragraph::Fact;

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
    let mut facts = vec![("Drive", sentence(file))];
    facts.extend(identity(file));
    facts.push(("Simulated", simulated(file)));
    for section in file.all_parts() {
        match section {
            Parts::Mechanics(mechanics) => facts.extend(parts::mechanics(mechanics)?),
            Parts::Ssd(ssd) => {
                let section = serde_json::to_value(ssd).expect("a section is plain data");
                facts.extend(parts::section("Flash", &section));
            }
        }
    }
    let limits = [("Starvation", file.starvation_max), ("Flush", file.flush_max)];
    let limits = limits.into_iter().filter_map(|(label, limit)| Some((label, limit?)));
    facts.extend(
        limits.map(|(label, limit)| (label, format!("at most {}", figures::ms_ceil(limit)))),
    );
    let endless = "unbounded: a request was never served";
    facts.extend(file.is_starvation_endless.then(|| ("Starvation", endless.to_owned())));
    facts.extend(file.batch.iter().map(|measured| ("Table", table(measured))));
    facts.extend(measured::observations(file));
    facts.extend(file.fit.iter().flat_map(measured::fit));
    Ok(facts)
}

/// Returns the drive models that the file has data for, its own first and the slowest one last.
pub(crate) fn kinds(file: &DriveFile) -> Vec<DriveKind> {
    let is_recorded = |table: &MeasuredTable| Recording::new(table).is_ok();
    let has_data = |kind: &DriveKind| match kind {
        DriveKind::Mechanical | DriveKind::Ssd => file.parts_of(*kind).is_some(),
        DriveKind::Recorded => file.batch.iter().any(is_recorded),
        DriveKind::Pseudo => !file.batch.is_empty(),
    };
    let mut kinds: Vec<DriveKind> = DriveKind::ALL.into_iter().filter(has_data).collect();
    kinds.sort_by_key(|&kind| (kind != file.kind, kind == DriveKind::Pseudo));
    kinds
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
        [] => format!("not possible: it has no data for `{}`", file.kind.name()),
        [own] => format!("as {own}"),
        [own, others @ ..] => format!("as {own}; with --model also as {}", others.join(", ")),
    }
}

fn table(table: &MeasuredTable) -> String {
    entries::text(table, "b")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_a_built_in_drive_are_those_it_has_data_for() {
        let mut file = tidegate_drive::builtin::load("sata-ssd").unwrap();
        assert_eq!(kinds(&file), [DriveKind::Ssd, DriveKind::Recorded, DriveKind::Pseudo]);
        file.batch.clear();
        assert_eq!(kinds(&file), [DriveKind::Ssd]);
    }
}

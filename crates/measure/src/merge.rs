// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adds measured tables to an existing drive file.
//!
//! A drive file describes one device, so tables of another device are refused. The file's origin is
//! kept, and the added tables state their own origin. No observation is lost: if both files have a
//! table of one kind, the longer times are kept.

mod costs;
mod prediction;
mod premises;
mod starvation;
mod tables;

use tidegate_model::DriveFile;
use tidegate_model::drive_file::{FamilyTimes, Identity, PlaceFamily};

use crate::origin::Origin;
use crate::start::StartTimes;

/// Merges `measured` into `existing`, and raises drains to those in `starts`. Also returns remarks
/// about the result.
pub fn with_tables_of(
    existing: &DriveFile,
    measured: &DriveFile,
    starts: &[StartTimes],
) -> (DriveFile, Option<String>) {
    let mut file = existing.clone();
    tables::keep_depths(&mut file, measured.depth);
    let sections = [
        ("", &mut file.batch, &measured.batch),
        ("drains of ", &mut file.drain, &measured.drain),
        ("priority of ", &mut file.priority, &measured.priority),
    ];
    let (mut added, mut said): (Vec<String>, Vec<String>) = Default::default();
    for (section, known, tables) in sections {
        for table in tables {
            let name = format!("{section}{}", tables::name(table));
            let samples = tables::samples(table);
            if let Some(old) = known.iter_mut().find(|old| tables::is_same_kind(old, table)) {
                added.push(format!("{name} measured again{samples}"));
                said.extend(tables::kept_of(old, table).map(|kept| format!("{name}: {kept}")));
                *old = tables::merged(old, table);
            } else {
                added.push(format!("{name}{samples}"));
                known.push(table.clone());
            }
        }
    }
    for kind in tables::raise_drains(&mut file.drain, starts) {
        match kind {
            Ok(raised) => added.push(raised),
            Err(nothing) => said.push(nothing),
        }
    }
    for single in &measured.single {
        added.push(format!("single {}s of {}", single.op.name(), single.size));
        file.single.retain(|known| (known.op, known.size) != (single.op, single.size));
        file.single.push(single.clone());
    }
    for flow in &measured.throughput {
        if !file.throughput.iter().any(|known| (known.op, known.size) == (flow.op, flow.size)) {
            added.push(format!("throughput of {}s of {}", flow.op.name(), flow.size));
        }
        file.throughput.retain(|known| !known.is_like(flow));
        file.throughput.push(flow.clone());
    }
    costs::add_mixed(&mut file.mixed, &measured.mixed);
    if !measured.batch.is_empty() || !measured.mixed.is_empty() {
        let (cost, of_costs) = costs::joined(file.cost.as_ref(), measured.cost.as_ref(), &file);
        file.cost = cost;
        said.extend(of_costs);
    }
    if measured.mechanics.is_some() {
        // The prediction errors of the earlier mechanics say nothing about the new ones.
        file.prediction.clear();
        added.push("mechanics".to_owned());
        file.mechanics.clone_from(&measured.mechanics);
    }
    for errors in &measured.prediction {
        let (op, size) = (errors.op, errors.size);
        added.push(format!("prediction of {}s of {size}", op.name()));
        prediction::add(&mut file.prediction, errors);
    }
    file.fit = joined(file.fit.take(), measured.fit.clone());
    if measured.starvation_max.is_some() || measured.is_starvation_endless {
        added.push("starvation".to_owned());
    }
    if let Some(flush) = measured.flush_max {
        added.push("flush".to_owned());
        // A flush can follow every kind of write, so the longest flush is kept.
        file.flush_max = file.flush_max.max(Some(flush));
    }
    said.extend(starvation::add(&mut file, measured));
    let how = (!added.is_empty()).then(|| how_of(&added, &measured.identity));
    let hows: Vec<_> = file.identity.how.take().into_iter().chain(how).collect();
    file.identity.how = (!hows.is_empty()).then(|| hows.join("; "));
    file.depth = file.depth.max(measured.depth);
    for line in &measured.identity.host {
        if !file.identity.host.contains(line) {
            file.identity.host.push(line.clone());
        }
    }
    file.premises = premises::joined(&existing.premises, measured, &file);
    (file, (!said.is_empty()).then(|| said.join("; ")))
}

/// Returns a new file with the tables of `measured`, and raises its drains to those in `starts`.
/// Also returns a remark if there is no table to raise.
pub fn with_drains_of(measured: &DriveFile, starts: &[StartTimes]) -> (DriveFile, Option<String>) {
    let mut file = measured.clone();
    let raised = tables::raise_drains(&mut file.drain, starts);
    let said: Vec<String> = raised.into_iter().filter_map(Result::err).collect();
    (file, (!said.is_empty()).then(|| said.join("; ")))
}

/// Returns the simulated drive `file` with its tables replaced: each section that `measured` has
/// takes the place of the file's own section.
pub fn replaced(mut file: DriveFile, mut measured: DriveFile) -> DriveFile {
    let is_random = |it: &FamilyTimes| it.places == PlaceFamily::Random;
    let is_whole = measured.starvation_places.iter().any(is_random);
    if !is_whole && !measured.starvation_places.is_empty() && file.starvation_max.is_some() {
        // The starvation times by families are added to the file's time at random places.
        starvation::add(&mut file, &measured);
        measured.starvation_max = None;
    }
    let is_endless = file.is_starvation_endless || measured.is_starvation_endless;
    let is_of_device = Origin::of(&file.identity) == Origin::Simulation;
    let said = if is_of_device { "simulated: " } else { "" };
    let (known, new) = (file.premises.clone(), measured.clone());
    let new_how = measured.identity.how.map(|how| format!("{said}{how}"));
    let hows = [file.identity.how, new_how];
    let how = hows.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let mut whole = DriveFile {
        identity: Identity { how: Some(how), ..file.identity },
        batch: tables::replaced(measured.batch.clone(), file.batch),
        drain: tables::replaced(measured.drain, file.drain),
        priority: tables::replaced(measured.priority, file.priority),
        single: measured.single,
        prediction: if measured.prediction.is_empty() {
            file.prediction
        } else {
            measured.prediction
        },
        throughput: measured.throughput,
        // Costs belong to the batches to which they were fitted.
        mixed: if measured.batch.is_empty() { file.mixed } else { measured.mixed },
        cost: if measured.batch.is_empty() { file.cost } else { measured.cost },
        fit: joined(file.fit, measured.fit),
        starvation_of: if measured.starvation_max.is_some() {
            measured.starvation_of
        } else {
            file.starvation_of
        },
        starvation_places: if measured.starvation_max.is_some() {
            measured.starvation_places
        } else {
            file.starvation_places
        },
        starvation_max: measured.starvation_max.or(file.starvation_max).filter(|_| !is_endless),
        flush_max: measured.flush_max.or(file.flush_max),
        is_starvation_endless: is_endless,
        ..file
    };
    whole.premises = premises::joined(&known, &new, &whole);
    whole
}

/// Combines the earlier and the new fits by name; the new one replaces the earlier one.
fn joined(known: Option<toml::Table>, new: Option<toml::Table>) -> Option<toml::Table> {
    let (Some(mut known), Some(new)) = (known.clone(), new.clone()) else { return new.or(known) };
    for (name, value) in new {
        match (known.get_mut(&name), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(value)) => old.extend(value),
            (_, value) => drop(known.insert(name, value)),
        }
    }
    Some(known)
}

/// Describes an addition, for example `writes of 128KiB, 2026-05-04T03:02:01Z: tidegate profile
/// ..`.
fn how_of(added: &[String], measured: &Identity) -> String {
    format!(
        "{}, {}: {}",
        added.join(" and "),
        measured.when.as_deref().unwrap_or("at an unknown time"),
        measured.how.as_deref().unwrap_or("by an unknown method"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(existing: &DriveFile, measured: &DriveFile) -> DriveFile {
        with_tables_of(existing, measured, &[]).0
    }

    fn drive(op: &str, ns_max: &str, when: &str) -> DriveFile {
        let text = format!(
            "name = \"d\"\nkind = \"recorded\"\ndepth = {}\n[identity]\nmodel = \"M\"\n\
             when = \"{when}\"\nwhere = \"sda\"\nhow = \"measured {op}s\"\n\
             host = [\"kernel 6\", \"wake-up of {when}\"]\n\
             [[batch]]\nop = \"{op}\"\nsize = \"128KiB\"\nns_max = {ns_max}\n",
            ns_max.split(',').count()
        );
        DriveFile::parse(&text).unwrap()
    }

    #[test]
    fn what_is_added_keeps_its_origin_beside_that_of_the_file() {
        let sum = sum_of(&drive("read", "[1]", "May"), &drive("write", "[2, 3]", "June"));
        assert_eq!((sum.depth, sum.batch.len()), (2, 2));
        assert_eq!(sum.identity.when.as_deref(), Some("May"));
        let how = sum.identity.how.as_deref();
        assert_eq!(how, Some("measured reads; writes of 128KiB, June: measured writes"));
        assert_eq!(sum.identity.host, ["kernel 6", "wake-up of May", "wake-up of June"]);
        assert_eq!(DriveFile::parse(&sum.to_toml()).unwrap(), sum);
    }

    #[test]
    fn a_table_of_the_same_kind_is_joined_and_that_is_said() {
        let sum = sum_of(&drive("read", "[1, 2]", "May"), &drive("read", "[7]", "June"));
        assert_eq!((sum.depth, sum.batch.len()), (2, 1));
        assert_eq!(sum.batch[0].ns_max, [7, 2]);
        let how = sum.identity.how.unwrap();
        assert!(how.contains("reads of 128KiB measured again, June: "), "{how}");
    }

    #[test]
    fn a_table_of_another_device_is_refused() {
        let known = drive("read", "[1]", "May").identity;
        let check = |change: fn(&mut Identity)| {
            let mut measured = drive("write", "[1]", "June").identity;
            change(&mut measured);
            known.check_is_of(&measured)
        };
        assert!(check(|_| ()).is_ok());
        for change in [
            (|it| it.model = Some("N".to_owned())) as fn(&mut Identity),
            |it| it.model = None,
            |it| it.firmware = Some("2".to_owned()),
            |it| it.place = Some("sdb".to_owned()),
        ] {
            assert!(check(change).is_err());
        }
    }
}

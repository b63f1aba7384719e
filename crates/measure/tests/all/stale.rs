// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds tables of built-in drives that a simulation of the same drive does not reproduce.
//!
//! A small part of each table is measured again: batches of up to 8 requests at random places, 200
//! of each size, and throughput. A table is stale if a median or a 99 % quantile differs by more
//! than 5 % and by more than chance explains. `make drives` measures all tables again.

use std::sync::atomic::AtomicBool;

use tidegate_device::DeviceFacts;
use tidegate_measure::compare::Comparison;
use tidegate_measure::{Experiment, Kind, ProfileParams, profile_drive};
use tidegate_model::drive_file::Parts;
use tidegate_model::{DriveFile, Op};

/// The largest batch that is measured again.
const DEPTH_MAX: u32 = 8;
/// The accepted difference.
const TOLERANCE_PPM: u32 = 50_000;

/// Returns the kinds of requests whose tables are measured again. The Maxtor is excluded, because
/// its tables are bounds from published figures, without medians. Writes to flash are excluded,
/// because their times depend on how much was written before, so a small part is not comparable
/// with the whole table.
fn kinds(file: &DriveFile) -> Vec<Kind> {
    let measured = file.batch.iter().filter(|it| it.quantiles_ns.iter().all(|all| !all.is_empty()));
    let kinds = measured.filter_map(|it| Some(Kind { op: it.op?, size: it.size? }));
    kinds.filter(|kind| file.ssd.is_none() || kind.op == Op::Read).collect()
}

/// Returns the names of tables in `file` that the simulation of `parts` does not reproduce.
fn stale(file: &DriveFile, parts: &DriveFile) -> Vec<String> {
    let kind = parts.parts().expect("simulated").kind();
    let capacity = parts.parts().and_then(Parts::capacity).expect("parts have a size");
    let depth = parts.depth.min(DEPTH_MAX);
    let mut drive = tidegate_drive::from_parts(kind, parts, 1).expect("a drive");
    let params = ProfileParams {
        experiments: vec![Experiment::BATCH, Experiment::THROUGHPUT],
        kinds: kinds(file),
        depth,
        samples: 200,
        ..ProfileParams::new(&file.name, &DeviceFacts::default())
    };
    if params.kinds.is_empty() {
        return Vec::new();
    }
    let never = AtomicBool::new(false);
    let fresh = profile_drive(&mut *drive, "", capacity, &params, |_| (), &never, None)
        .expect("a simulated drive");
    let rows = Comparison::of(file, &fresh.file).rows.into_iter();
    rows.filter(|row| row.has_moved(TOLERANCE_PPM)).map(|row| row.name).collect()
}

fn drives() -> impl Iterator<Item = DriveFile> {
    tidegate_drive::builtin::names().map(|name| tidegate_drive::builtin::load(name).expect(name))
}

#[test]
fn tables_are_those_of_the_simulated_drive() {
    for file in drives() {
        let found = stale(&file, &file);
        let name = &file.name;
        assert!(found.is_empty(), "`make drives DRIVES={name}` measures anew: {found:?}");
    }
}

/// Canary: the tables are stale if the disk turns a fifth faster, or if the drive's commands take
/// 50 us less.
#[test]
fn tables_of_another_drive_are_stale() {
    for file in drives().filter(|file| !kinds(file).is_empty()) {
        let mut other = file.clone();
        if let Some(disk) = &mut other.mechanics {
            disk.rpm = disk.rpm * 4 / 5;
        }
        if let Some(ssd) = &mut other.ssd {
            ssd.link.command_ns += 50_000;
        }
        assert!(!stale(&file, &other).is_empty(), "{}", file.name);
    }
}

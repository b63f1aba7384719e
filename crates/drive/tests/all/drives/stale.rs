// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds tables of built-in drives that an earlier simulation measured.
//!
//! The tables are measured on the simulated drives beside them. `fingerprints.txt` has a hash of
//! the behaviour of each of these drives. If a figure of the drive or the simulation changes, the
//! hash changes: the tables must then be measured again, or shown to be the same.

use std::fmt::Write as _;

use tidegate_drive::builtin;
use tidegate_model::drive_file::Parts;
use tidegate_model::{Bytes, DriveFile, Lba, Op, Random, Time};

use super::common::{finish, requests};

const KNOWN: &str = include_str!("fingerprints.txt");

/// The number of batches that are simulated: alternately one request and as many as the drive
/// accepts.
const BATCHES: u64 = 60;

/// FNV-1a over numbers: the same on every machine and in every version.
fn add(hash: u64, number: u64) -> u64 {
    number
        .to_le_bytes()
        .iter()
        .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns a hash of the completions of a fixed sequence of reads and writes.
fn fingerprint(file: &DriveFile) -> u64 {
    let parts = file.parts().expect("built-in drives are simulated from parts");
    let mut drive = tidegate_drive::from_parts(parts.kind(), file, 1).unwrap();
    let capacity = file.parts().and_then(Parts::capacity).expect("parts have a size");
    let size = Bytes::from_kib(64);
    let sectors = capacity.get() / Lba::SECTOR_BYTES - size.sectors_ceil();
    let (mut random, mut now, mut id) = (Random::new(7, 1), Time::ZERO, 0);
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for batch in 0..BATCHES {
        let count = if batch % 2 == 0 { 1 } else { file.depth.into() };
        let mut requests = requests(id, count);
        id += count;
        for request in &mut requests {
            request.op = if random.below(3) == 0 { Op::Write } else { Op::Read };
            let from_start = random.below(4) == 0;
            let place = if from_start { random.below(4_096) } else { random.below(sectors) };
            (request.start, request.size) = (Lba::new(place), size);
        }
        drive.submit(now, &requests);
        for completion in finish(&mut drive) {
            hash = add(add(hash, completion.id.0), completion.at.ns());
            now = now.max(completion.at);
        }
    }
    hash
}

fn fingerprints(drives: impl Iterator<Item = DriveFile>) -> String {
    let mut text = String::new();
    for file in drives {
        let _ = writeln!(text, "{} {:016x}", file.name, fingerprint(&file));
    }
    text
}

fn drives() -> impl Iterator<Item = DriveFile> {
    builtin::names().map(|name| builtin::load(name).unwrap())
}

#[test]
fn tables_are_those_of_the_present_simulation() {
    let found = fingerprints(drives());
    assert_eq!(
        found, KNOWN,
        "a drive is simulated differently than when its tables were measured: measure them anew \
         (docs/evidence/drives.md, \"Places in the built-in tables\"), then write the left lines to \
         crates/drive/tests/all/drives/fingerprints.txt"
    );
}

/// Canary: a slightly slower head switch is found.
#[test]
fn a_changed_figure_is_found() {
    let mut file = builtin::load("nearline-7200").unwrap();
    let known = fingerprint(&file);
    let mechanics = file.mechanics.as_mut().unwrap();
    mechanics.head_switch_ns += 200_000;
    assert_ne!(fingerprint(&file), known);
}

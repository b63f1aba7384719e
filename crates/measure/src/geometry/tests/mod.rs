// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures built-in disks in virtual time. The results must equal the planted figures. The
//! experiments use only the completions of requests and the capacity.

mod cross_check;
mod found;
mod generated;
mod late;
mod others;
mod pattern;
mod planted;
mod round_trip;
mod table;
mod unturned;

use std::sync::atomic::AtomicBool;

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::{Layout, Mechanics, Zones};
use tidegate_model::{Bytes, Lba};

use super::{Geometry, NoRotation, Probing, all, overhead, rotation, seek_curve, zones};
use crate::subject::{SimulatedSubject, Subject, TrialResult};

/// The usual size of a block.
const SECTOR: Bytes = Bytes::new(Lba::SECTOR_BYTES);

/// Runs an experiment on a target of this size. After each request, `after` gets the number of
/// requests so far.
fn probed<T>(
    subject: &mut dyn Subject,
    (sectors, block): (u64, Bytes),
    seed: u64,
    stop: &AtomicBool,
    mut after: impl FnMut(u64),
    experiment: impl FnOnce(&mut Probing<'_>) -> TrialResult<T>,
) -> T {
    let mut progress = |done: u64, about: u64, _| {
        assert!(done <= about);
        after(done);
    };
    let sizes = (Bytes::new(sectors * Lba::SECTOR_BYTES), block);
    let random = Pcg64::seed_from_u64(seed);
    let mut probing = Probing::new(subject, sizes, random, stop, &mut progress);
    experiment(&mut probing).expect("it answers")
}

/// Runs all experiments, one after the other.
fn geometry(
    subject: &mut dyn Subject,
    sectors: u64,
    block: Bytes,
    seed: u64,
) -> Result<Geometry, NoRotation> {
    probed(subject, (sectors, block), seed, &AtomicBool::new(false), |_| (), all)
}

fn zones_of(disk: &mut Mechanics) -> &mut Zones {
    match &mut disk.layout {
        Layout::Zones(zones) => zones,
        Layout::Index(_) => panic!("built-in disks have zones"),
    }
}

/// Returns the built-in disks.
fn disks() -> impl Iterator<Item = (&'static str, Mechanics, u32)> {
    tidegate_drive::builtin::names().filter_map(|name| {
        let file = tidegate_drive::builtin::load(name).expect("a built-in");
        Some((name, *file.mechanics?, file.depth))
    })
}

/// Returns the built-in disk of this name.
fn disk(name: &str) -> (Mechanics, u32) {
    let (_, mechanics, depth) = disks().find(|(known, ..)| *known == name).expect("a built-in");
    (mechanics, depth)
}

/// Returns the results for a simulated disk.
fn taken_to_pieces(mechanics: &Mechanics, block: Bytes, seed: u64) -> Geometry {
    let mut drive = MechanicalDrive::new(mechanics, 1, seed).expect("a disk");
    let mut subject = SimulatedSubject::new(&mut drive);
    geometry(&mut subject, mechanics.sectors, block, seed).expect("it turns")
}

/// Returns the results for a simulated disk on a host that is late.
fn taken_to_pieces_late(mechanics: &Mechanics, seed: u64) -> Geometry {
    let mut drive = MechanicalDrive::new(mechanics, 1, seed).expect("a disk");
    let mut subject = late::Late::new(SimulatedSubject::new(&mut drive), seed);
    geometry(&mut subject, mechanics.sectors, SECTOR, seed).expect("it turns")
}

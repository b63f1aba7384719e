// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures built-in disks in virtual time: what is found must be what was planted. The experiments
//! see only the requests' completions and the capacity.

mod found;
mod late;
mod others;
mod planted;
mod round_trip;
mod table;
mod unturned;

use std::sync::atomic::AtomicBool;

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Lba};

use super::{Geometry, NoRotation, Probing, all, overhead, rotation, seek_curve, zones};
use crate::subject::{SimulatedSubject, Subject};

/// The usual block.
const SECTOR: Bytes = Bytes::new(Lba::SECTOR_BYTES);

/// Runs all experiments, one after the other.
fn geometry(
    subject: &mut dyn Subject,
    sectors: u64,
    block: Bytes,
    seed: u64,
) -> Result<Geometry, NoRotation> {
    let cancelled = AtomicBool::new(false);
    let mut progress = |done: u64, about: u64, _| assert!(done <= about);
    let random = Pcg64::seed_from_u64(seed);
    let capacity = Bytes::new(sectors * Lba::SECTOR_BYTES);
    let mut probing = Probing::new(subject, (capacity, block), random, &cancelled, &mut progress);
    all(&mut probing).expect("it answers")
}

/// Returns the built-in disks.
fn disks() -> impl Iterator<Item = (&'static str, Mechanics, u32)> {
    tidegate_drive::builtin::names().filter_map(|name| {
        let file = tidegate_drive::builtin::load(name).expect("a built-in");
        Some((name, *file.mechanics?, file.depth))
    })
}

/// Returns one of them.
fn disk(name: &str) -> (Mechanics, u32) {
    let (_, mechanics, depth) = disks().find(|(known, ..)| *known == name).expect("a built-in");
    (mechanics, depth)
}

/// Returns what is found about a simulated disk.
fn taken_to_pieces(mechanics: &Mechanics, block: Bytes, seed: u64) -> Geometry {
    let mut drive = MechanicalDrive::new(mechanics, 1, seed).expect("a disk");
    let mut subject = SimulatedSubject::new(&mut drive);
    geometry(&mut subject, mechanics.sectors, block, seed).expect("it turns")
}

/// Returns the same, found by a host that is late.
fn taken_to_pieces_late(mechanics: &Mechanics, seed: u64) -> Geometry {
    let mut drive = MechanicalDrive::new(mechanics, 1, seed).expect("a disk");
    let mut subject = late::Late::new(SimulatedSubject::new(&mut drive), seed);
    geometry(&mut subject, mechanics.sectors, SECTOR, seed).expect("it turns")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Built-in disks, taken to pieces in virtual time: what is found must be what was planted.
//! The extraction sees the requests' completions and the capacity, nothing else.

mod late;
mod planted;
mod table;

use std::sync::atomic::AtomicBool;

use model::mechanics::Mechanics;
use model::{Bytes, Lba};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::{Geometry, NoRotation, Probing, overhead, rotation, seek_curve, zones};
use crate::subject::Subject;

/// All experiments, one after the other.
fn geometry(
    subject: &mut dyn Subject,
    sectors: u64,
    block: Bytes,
    seed: u64,
) -> Result<Geometry, NoRotation> {
    let cancelled = AtomicBool::new(false);
    let mut progress = |done: u64, limit: u64| assert!(done <= limit);
    let random = Pcg64::seed_from_u64(seed);
    let capacity = Bytes::new(sectors * Lba::SECTOR_BYTES);
    let mut probing =
        Probing::new(subject, (capacity, block), random, &cancelled, &mut progress);
    let rotation = rotation(&mut probing).expect("it answers")?;
    let overhead = overhead(&mut probing, &rotation).expect("it answers");
    let map = zones(&mut probing, &rotation).expect("it answers").expect("zones");
    let bus = overhead.as_ref().ok().and_then(|seen| seen.bus_sector_ps);
    let seek = seek_curve(&mut probing, &rotation, &map, bus).expect("it answers");
    Ok(Geometry {
        block: block.get() / Lba::SECTOR_BYTES,
        rotation: Some(rotation),
        overhead: overhead.ok(),
        zones: Some(map),
        seek: seek.ok(),
    })
}

/// The built-in disks.
fn disks() -> impl Iterator<Item = (&'static str, Mechanics, u32)> {
    drive::builtin::names().filter_map(|name| {
        let file = drive::builtin::load(name).expect("a built-in");
        Some((name, *file.mechanics?, file.depth))
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! In which order a disk serves what it holds, from how long its batches take.
//!
//! One request at a time shows nothing of that. But when all else about the disk is known, the
//! medians of b(i) are what this order makes of it: each order is simulated, and the one that
//! comes nearest is taken. What is given at once waits equally long, so ageing and bounds on
//! starvation do not show, and `satf-aging` is `satf`.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::{Mechanics, Queue, Scheduler};
use tidegate_model::{Bytes, Lba};

use super::number::{count, float, median, whole};
use crate::kind::Kind;
use crate::places::Places;
use crate::subject::{SimulatedSubject, Subject as _};

/// The orders that batches can tell from each other.
const ORDERS: [Scheduler; 6] = [
    Scheduler::Fifo,
    Scheduler::Sstf,
    Scheduler::Scan,
    Scheduler::CLook,
    Scheduler::Satf,
    Scheduler::ScanSstf,
];
/// Batches of each size that are simulated.
const BATCHES: u32 = 300;
/// Where the medians lie among a table's quantiles.
const MEDIAN_PPM: u32 = 500_000;

/// An order, and how far from what was measured its batches are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSeen {
    /// The order.
    pub scheduler: Scheduler,
    /// The mean distance of its medians, in millionths of the measured ones.
    pub apart_ppm: u64,
}

impl QueueSeen {
    /// A queue of that order.
    pub fn queue(&self) -> Queue {
        Queue { scheduler: self.scheduler, ..Queue::default() }
    }
}

/// All orders, the one first whose batches come nearest to `measured` on a disk that is
/// otherwise `disk`; none if the table has no medians or batches of one request only.
///
/// Compared are batches of 2, 4, 8 .. requests, at random places.
///
/// # Assumptions
/// `disk` reads as the measured one does. Where the second of the list is as near as the first,
/// which one it is was not seen.
pub fn queues(disk: &Mechanics, measured: &MeasuredTable) -> Option<Vec<QueueSeen>> {
    let level = MeasuredTable::LEVELS_PPM.iter().position(|&level| level == MEDIAN_PPM)?;
    let medians = measured.quantiles_ns.get(level)?;
    let (op, size) = (measured.op?, measured.size?);
    let capacity = Bytes::new(disk.sectors.checked_mul(Lba::SECTOR_BYTES)?);
    let places = Places::of(capacity, Kind { op, size });
    let sizes = (1..16).map(|power| 1_usize << power);
    let sizes: Vec<usize> = sizes.take_while(|&size| size <= medians.len()).collect();
    if sizes.is_empty() {
        return None;
    }
    let mut seen = Vec::new();
    for scheduler in ORDERS {
        let queue = Queue { scheduler, ..Queue::default() };
        let disk = Mechanics { queue, ..disk.clone() };
        let apart: Vec<f64> = batches(&disk, places, &sizes)?
            .zip(&sizes)
            .map(|(time, &size)| (time / float(medians[size - 1]) - 1.0).abs())
            .collect();
        let mean = apart.iter().sum::<f64>() / count(&apart);
        seen.push(QueueSeen { scheduler, apart_ppm: whole(mean * 1e6) });
    }
    seen.sort_by_key(|seen| seen.apart_ppm);
    Some(seen)
}

/// The medians of batches of these sizes on a disk.
fn batches(disk: &Mechanics, places: Places, sizes: &[usize]) -> Option<impl Iterator<Item = f64>> {
    let depth = u32::try_from(*sizes.last()?).ok()?;
    let mut drive = MechanicalDrive::new(disk, depth, 1).ok()?;
    let mut subject = SimulatedSubject::new(&mut drive);
    let mut random = Pcg64::seed_from_u64(1);
    let mut medians = Vec::new();
    for &size in sizes {
        let mut times = Vec::new();
        for _ in 0..BATCHES {
            let probes = places.different(size, &mut random);
            times.push(float(subject.serve(&probes).ok()?.ns()));
        }
        medians.push(median(times)?);
    }
    Some(medians.into_iter())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the order in which a disk serves the requests it holds, from the times of its batches.
//!
//! With one request at a time, the order does not show. But if everything else about the disk is
//! known, the medians of b(i) depend only on the order. Each order is therefore simulated, and the
//! one with the most similar medians is chosen. Requests that are sent together have waited equally
//! long, so ageing and bounds on starvation have no effect, and `satf-aging` cannot be
//! distinguished from `satf`.

use rand::{RngExt as _, SeedableRng as _};
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

/// The orders that the times of batches can distinguish.
const ORDERS: [Scheduler; 6] = [
    Scheduler::Fifo,
    Scheduler::Sstf,
    Scheduler::Scan,
    Scheduler::CLook,
    Scheduler::Satf,
    Scheduler::ScanSstf,
];
/// The number of simulated batches of each size.
const BATCHES: u32 = 300;
/// The level of the median, in ppm.
pub(super) const MEDIAN_PPM: u32 = 500_000;

/// An order, and how far the batch times under it are from the measured ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSeen {
    /// The order.
    pub scheduler: Scheduler,
    /// The mean distance of its simulated medians from the measured ones, in millionths of the
    /// latter.
    pub apart_ppm: u64,
}

impl QueueSeen {
    /// Returns a queue with that order.
    pub fn queue(&self) -> Queue {
        Queue { scheduler: self.scheduler, ..Queue::default() }
    }
}

/// Simulates `disk` with each order and returns the orders, the nearest to `measured` first; `None`
/// if the table has no medians or only batches of one request.
///
/// The search compares batches of 2, 4, 8 .. requests at random places.
///
/// # Assumptions
/// `disk` reads like the measured one, apart from the order. If the second order is as near as the
/// first, the measurement does not show which of them the disk uses.
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
        let apart: Vec<f64> = batches(&disk, places, &sizes, medians.len())?
            .zip(&sizes)
            .map(|(time, &size)| (time / float(medians[size - 1]) - 1.0).abs())
            .collect();
        let mean = apart.iter().sum::<f64>() / count(&apart);
        seen.push(QueueSeen { scheduler, apart_ppm: whole(mean * 1e6) });
    }
    seen.sort_by_key(|seen| seen.apart_ppm);
    Some(seen)
}

/// Returns the medians of simulated batches of these sizes on a disk of this depth.
///
/// As in the profiler's rounds, a batch of random size precedes each of them: the position of the
/// heads after many requests depends on the order in which the disk served them.
pub(super) fn batches(
    disk: &Mechanics,
    places: Places,
    sizes: &[usize],
    depth: usize,
) -> Option<impl Iterator<Item = f64>> {
    let mut drive = MechanicalDrive::new(disk, u32::try_from(depth).ok()?, 1).ok()?;
    let mut subject = SimulatedSubject::new(&mut drive);
    let mut random = Pcg64::seed_from_u64(1);
    let mut medians = Vec::new();
    for &size in sizes {
        let mut times = Vec::new();
        for _ in 0..BATCHES {
            let before = random.random_range(1..=depth);
            subject.serve(&places.different(before, &mut random)).ok()?;
            let probes = places.different(size, &mut random);
            times.push(float(subject.serve(&probes).ok()?.ns()));
        }
        medians.push(median(times)?);
    }
    Some(medians.into_iter())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a disk from the results for another: it must behave like the measured one.

use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::Op;
use tidegate_model::mechanics::Scheduler;

use super::super::number::{float, median};
use super::super::{QueueSeen, mechanics, queues};
use super::*;
use crate::kind::Kind;
use crate::places::Places;
use crate::subject::Probe;

/// The number of batches of each size.
const BATCHES: u32 = 400;
/// The sizes of batches.
pub(super) const SIZES: [usize; 5] = [1, 2, 4, 8, 16];

/// The times of random and sequential reads on a disk.
#[derive(Debug, Clone)]
pub(super) struct Behaviour {
    /// The medians of b(i), in nanoseconds.
    pub(super) batches: Vec<f64>,
    /// The times of reading 64 MiB sequentially, at each end of the disk.
    sequences: [f64; 2],
}

impl Behaviour {
    /// Measures the times of reads of 128 KiB.
    pub(super) fn of(mechanics: &Mechanics, depth: u32) -> Self {
        let mut drive = MechanicalDrive::new(mechanics, depth, 1).expect("a disk");
        let mut subject = SimulatedSubject::new(&mut drive);
        let capacity = Bytes::new(mechanics.sectors * Lba::SECTOR_BYTES);
        let places = Places::of(capacity, Kind { op: Op::Read, size: Bytes::from_kib(128) });
        let mut random = Pcg64::seed_from_u64(11);
        let sizes = SIZES.into_iter().filter(|&size| size <= depth as usize);
        let batches = sizes.map(|size| {
            let mut time = || {
                let probes = places.different(size, &mut random);
                float(subject.serve(&probes).expect("it answers").ns())
            };
            median((0..BATCHES).map(|_| time()).collect()).expect("some batches")
        });
        let batches = batches.collect();
        let sequences = [0, places.count - 513].map(|first| sequence(&mut subject, places, first));
        Self { batches, sequences }
    }

    /// Returns the relative difference between each of the other disk's figures and ours.
    pub(super) fn apart(&self, other: &Self) -> Vec<f64> {
        let ours = self.batches.iter().chain(&self.sequences);
        let others = other.batches.iter().chain(&other.sequences);
        ours.zip(others).map(|(ours, other)| other / ours - 1.0).collect()
    }
}

fn sequence(subject: &mut SimulatedSubject<'_>, places: Places, first: usize) -> f64 {
    let begun = subject.now();
    for index in first..first + 512 {
        let probe: Probe = places.at(index);
        subject.serve(&[probe]).expect("it answers");
    }
    float(subject.now().since(begun).ns())
}

/// Returns the disk that is found by measuring `planted`, with the queue of `planted`: one request
/// at a time shows nothing about the queue.
pub(super) fn again(planted: &Mechanics) -> Mechanics {
    let found = taken_to_pieces(planted, SECTOR, 1);
    mechanics(&found, planted.queue.clone()).expect("all was seen")
}

/// Checks that medians of batches and times of sequences differ by less than 5 %.
#[track_caller]
pub(super) fn behaves_alike(name: &str, planted: &Mechanics, again: &Mechanics, depth: u32) {
    let apart = Behaviour::of(planted, depth).apart(&Behaviour::of(again, depth));
    assert!(apart.iter().all(|apart| apart.abs() < 0.05), "{name}: {apart:?}");
}

/// Goal: a simulation of the disk can be made from the results: medians of batches and times of
/// sequential reads agree within 5 %.
#[test]
fn the_disk_that_is_found_behaves_as_the_first() {
    for (name, planted, depth) in disks() {
        let again = again(&planted);
        again.check().expect("a disk");
        behaves_alike(name, &planted, &again, depth);
    }
}

/// Canary: a disk whose seeks are a quarter slower is distinguished from the original.
#[test]
fn a_disk_with_slower_seeks_behaves_differently() {
    let (planted, depth) = disk("nearline-7200");
    let mut slower = again(&planted);
    let tidegate_model::mechanics::Seek::Points(points) = &mut slower.seek else {
        panic!("points")
    };
    for (_, ns) in points {
        *ns += *ns / 4;
    }
    let apart = Behaviour::of(&planted, depth).apart(&Behaviour::of(&slower, depth));
    assert!(apart.iter().any(|apart| apart.abs() > 0.05), "{apart:?}");
}

/// Goal: if the order in which a disk serves requests matters, the batch tables show it: with the
/// order that is found, simulated batches take as long as in the table, within 5 %.
#[test]
fn the_order_is_seen_from_batches() {
    for (name, planted, depth) in disks() {
        let file = tidegate_drive::builtin::load(name).expect("a built-in");
        let table = file.batch.iter().find(|table| !table.quantiles_ns[2].is_empty());
        let Some(table) = table.filter(|_| depth > 1) else { continue };
        let seen = queues(&again(&planted), table).expect("medians");
        assert!(seen[0].apart_ppm < 50_000, "{name}: {seen:?}");
        let planted = match planted.queue.scheduler {
            Scheduler::SatfAging => Scheduler::Satf,
            other => other,
        };
        let is_planted = |seen: &&QueueSeen| seen.scheduler == planted;
        let ours = seen.iter().find(is_planted).expect("all orders");
        assert!(ours.apart_ppm < seen[0].apart_ppm + 10_000, "{name}: {seen:?}");
    }
}

/// `chosen` names exactly the properties that were not measured.
#[test]
fn what_was_chosen_is_said() {
    let (planted, _) = disk("maxtor-atlas-10k-v");
    let again = again(&planted);
    let says = |word: &str| again.chosen.iter().any(|line| line.starts_with(word));
    assert!(says("writes") && says("cache: none") && says("bus"), "{:?}", again.chosen);
    assert!(!says("surfaces") && !says("zero_latency"), "{:?}", again.chosen);
}

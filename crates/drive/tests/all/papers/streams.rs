// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sequential reads and zero-latency access, on disks with known figures: a turn lost or saved is
//! far larger than any tolerance.

use tidegate_model::mechanics::Scheduler;
use tidegate_model::{Bytes, DriveFile, Duration, Op};

use super::common::{Host, Rate, load, mechanics, mechanics_mut, turn, zones};

const DISKS: [&str; 6] = [
    "fujitsu-max3036rc",
    "ibm-40k1044",
    "ibm-36z15",
    "seagate-36es2",
    "seagate-st340810a",
    "nearline-7200",
];
const SIZE: Bytes = Bytes::from_kib(128);

/// Returns the rate of the first zone: all sectors of a cylinder in one turn for each head, plus
/// the skews. On a disk that is read surface by surface, a step of one cylinder follows each track.
fn rate_of_the_first_zone(file: &DriveFile) -> Rate {
    let (zone, heads) = (&zones(file).zone[0], u64::from(mechanics(file).surfaces));
    let by_surface = zones(file).range_cylinders.is_some();
    let switches = if by_surface { 0 } else { heads - 1 };
    let skews = zone.track_skew_ppm * switches + zone.cylinder_skew_ppm * (heads - switches);
    let ns = turn(file).ns() * heads + turn(file).ns() * skews / 1_000_000;
    let sectors = heads * u64::from(zone.sectors_per_track);
    Rate::of(1, Bytes::new(sectors * 512), Duration::from_ns(ns))
}

/// Reads from the first sector on, with `outstanding` requests.
fn sequential(file: &DriveFile, outstanding: usize) -> Rate {
    let mut starts = (0_u64..).step_by(256);
    Host::of(file).keep(outstanding, 4_000, SIZE, || starts.next().expect("without end"))
}

/// Goal: no turn is lost, neither between two requests nor between two tracks, even if a turn is
/// not a whole number of nanoseconds. Tolerance: 1 %, for the first seek and turn.
#[test]
fn sequential_reads_lose_no_turn() {
    for name in DISKS {
        let file = load(name);
        let (expected, rate) = (rate_of_the_first_zone(&file).kb(), sequential(&file, 1).kb());
        assert!(rate.abs_diff(expected) * 100 < expected, "{name}: {rate} {expected}");
    }
}

/// Goal: schedulers take into account that read-ahead data need no further turn. Method: four
/// sequential reads outstanding are as fast as one.
#[test]
fn sequential_reads_are_as_fast_through_a_queue() {
    for scheduler in [Scheduler::Satf, Scheduler::Sstf, Scheduler::ScanSstf] {
        for name in DISKS {
            let mut file = load(name);
            file.depth = file.depth.max(4);
            mechanics_mut(&mut file).queue.scheduler = scheduler;
            mechanics_mut(&mut file).queue.aging_ns_per_ms = None;
            let (one, four) = (sequential(&file, 1).kb(), sequential(&file, 4).kb());
            assert!(four * 100 >= one * 99, "{name} {scheduler:?}: {four} {one}");
        }
    }
}

/// Goal: zero-latency access is never slower, and within a read that crosses to another track it
/// saves a good part of a turn when the head arrives in the read's middle. Method: two disks that
/// differ only in this, at the same angle of the platter; reads of 510 sectors that begin between
/// the first and the last sector of the first track.
#[test]
fn zero_latency_never_costs_and_often_saves() {
    let mut waiting = load("maxtor-atlas-10k-v");
    mechanics_mut(&mut waiting).faults = None;
    let mut eager = waiting.clone();
    mechanics_mut(&mut waiting).zero_latency = false;
    mechanics_mut(&mut eager).zero_latency = true;
    let size = Bytes::from_kib(255);
    let (mut saved, mut crossing) = (Duration::ZERO, Duration::ZERO);
    for trial in 0..2_000_u64 {
        let (start, phase) = (trial * 7 % 1_170, Duration::from_ns(trial * 44_971));
        let [waits, goes] = [&waiting, &eager].map(|file| {
            let mut host = Host::of(file);
            host.rest(phase);
            host.batch(Op::Read, &[start], size)
        });
        assert!(goes <= waits, "{start} at {phase}: {goes} {waits}");
        saved += waits - goes;
        if start + 510 > 1_170 {
            crossing += waits - goes;
        }
    }
    // Of 1,170 reads 510 cross. A head that arrives within the 0.44 turns of a read saves half of
    // them on average, minus the bus's delay: 0.5 ms over all reads.
    assert!(saved > Duration::from_us(300) * 2_000, "{saved}");
    assert!(crossing > Duration::from_us(300) * (2_000 * 510 / 1_170), "{crossing}");
}

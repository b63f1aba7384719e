// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A disk on which the direct movement to a track can take longer than a detour through other
//! tracks. If memory has the beginnings of reads, batches exceed the bound that the queue's order
//! would give.
//!
//! ```text
//!   heads at 0                  X1 Y1                     X2 Y2                     X3
//!     |--- 1,021 to the last sector ->|
//!                             <-- Y1 --|
//!                             |--- 1,021 to the last sector ->|
//!                                                     <-- Y2 --|
//!                                                     |--- 1,021 to the last sector ->|
//! Seeks over more than 1,020 cylinders take two seconds, others 0.1 ms. If the nearest request is
//! always next, the third longest of all distances to first sectors is at most 2,999 / 3 + 21: a
//! request leaves the heads at most 21 cylinders from its first sector. So an ordered batch has two
//! long seeks. Here all of X1, X2 and X3 except the last sector, 20 cylinders further on, is in
//! memory, which causes a third long seek.

use tidegate_drive::Drive as _;
use tidegate_drive::mechanical::BatchCeiling;
use tidegate_model::mechanics::{Cache, Layout, Mechanics, Scheduler, Seek, TrackOrder};
use tidegate_model::{Bytes, Duration, Lba, Op, Request};

use super::disk_support::{Host, plain, read};

const CYLINDERS: u64 = 3_000;
const PER_TRACK: u64 = 8;
/// Every read spans 21 tracks.
const SECTORS: u64 = 20 * PER_TRACK + 1;

/// Returns a disk whose first surface is read inwards, and then its second one outwards.
fn disk(cache: Option<Cache>) -> Mechanics {
    let mut mechanics = Mechanics {
        rpm: 15_000,
        cylinders: 3_000,
        sectors: 2 * CYLINDERS * PER_TRACK,
        head_switch_ns: 0,
        cache,
        ..plain()
    };
    let points = [(1, 100_000), (1_020, 100_000), (1_021, 2_000_000_000), (2_999, 2_000_000_000)];
    mechanics.seek = Seek::Points(points.to_vec());
    mechanics.queue.scheduler = Scheduler::Sstf;
    let Layout::Zones(zones) = &mut mechanics.layout else { unreachable!() };
    zones.order = TrackOrder::SurfaceSerpentine;
    let zone = &mut zones.zone[0];
    (zone.cylinder_last, zone.sectors_per_track) = (2_999, 8);
    zone.cylinder_skew_millisectors = 1_000;
    mechanics
}

/// Returns the first sector of a cylinder on the surface that is read inwards.
fn inwards(cylinder: u64) -> u64 {
    cylinder * PER_TRACK
}

/// Returns the first sector of a cylinder on the surface that is read outwards.
fn outwards(cylinder: u64) -> u64 {
    (2 * CYLINDERS - 1 - cylinder) * PER_TRACK
}

/// Returns the longest times of up to five reads.
fn ceilings(mechanics: &Mechanics) -> Vec<Duration> {
    let kinds = [(Op::Read, Bytes::new(SECTORS * Lba::SECTOR_BYTES))];
    BatchCeiling::of(mechanics, &kinds).expect("a disk").expect("a ceiling").batches(5)
}

#[test]
fn beginnings_in_memory_void_the_order_where_a_straight_way_is_longer() {
    let cache = Cache { segments: 8, segment_sectors: 300, read: true, ..Cache::default() };
    let with_memory = disk(Some(cache));
    let starts = [inwards(1_001), outwards(1_001), inwards(1_982), outwards(1_982), inwards(2_963)];
    let batch: Vec<Request> = (10..).zip(starts).map(|(id, at)| read(id, at, SECTORS)).collect();
    let mut host = Host::new(&with_memory, 8);
    let mut done = Vec::new();
    for (id, at) in (0..).zip([inwards(1_001), inwards(1_982), inwards(2_963)]) {
        host.drive.submit(host.now, &[read(id, at, SECTORS - 1)]);
        host.drain(&mut done);
    }
    host.drive.submit(host.now, &[read(3, 0, 1)]);
    host.drain(&mut done);
    let begun = host.now;
    host.drive.submit(begun, &batch);
    host.drain(&mut done);
    let took = host.now - begun;
    let in_order = ceilings(&disk(None))[4];
    assert!(took > in_order, "{took} does not exceed {in_order}");
    let ceiling = ceilings(&with_memory)[4];
    assert!(took <= ceiling, "{took} exceeds {ceiling}");
}

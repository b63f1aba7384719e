// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The number of requests per second that the mechanical drive serves in virtual time: random
//! reads of 4 KiB, closed loop, over a whole disk. The item rate counts simulated requests.

mod support;

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use support::ClosedLoop;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::{Mechanics, Scheduler};
use tidegate_model::{Bytes, Op};

const REQUESTS: u64 = 100_000;

fn main() {
    divan::main();
}

/// Returns the description of a disk of 36 GB at 15,000 rpm: 20 zones, a seek curve of 100 points,
/// a cache with read-ahead.
fn description() -> String {
    let mut zones = String::new();
    let mut sectors = 0_u64;
    for zone in 0..20_u64 {
        let per_track = 800 - 15 * zone;
        sectors += 1_250 * 4 * per_track;
        let (first, last) = (zone * 1_250, zone * 1_250 + 1_249);
        write!(
            zones,
            "[[layout.zones.zone]]\ncylinder_first = {first}\ncylinder_last = {last}\n\
             sectors_per_track = {per_track}\ntrack_skew_millisectors = 60000\n\
             cylinder_skew_millisectors = 90000\n"
        )
        .expect("a string takes everything");
    }
    let point = |step: u64| format!("[{}, {}]", 1 + step * 250, 400_000 + step * 70_000);
    let points: Vec<String> = (0..100).map(point).collect();
    format!(
        "rpm = 15000\nsurfaces = 4\ncylinders = 25000\nsectors = {sectors}\n\
         head_switch_ns = 400000\n[seek]\npoints = [{}]\n\
         [cache]\nsegments = 16\nsegment_sectors = 1024\nread = true\nread_ahead = \"segment\"\n\
         {zones}",
        points.join(", ")
    )
}

fn host(depth: u32, scheduler: Scheduler) -> ClosedLoop<MechanicalDrive> {
    let mut mechanics: Mechanics = toml::from_str(&description()).expect("it is in order");
    mechanics.queue.scheduler = scheduler;
    let drive = MechanicalDrive::new(&mechanics, depth, 1).expect("it is in order");
    ClosedLoop::new(drive, Bytes::new(mechanics.sectors * 512), Op::Read, depth)
}

fn bench(bencher: Bencher, depth: u32, scheduler: Scheduler) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| host(depth, scheduler))
        .bench_local_values(|mut host| host.run(REQUESTS));
}

#[divan::bench(sample_count = 20)]
fn one_outstanding(bencher: Bencher) {
    bench(bencher, 1, Scheduler::Fifo);
}

#[divan::bench(args = [4, 16, 64], sample_count = 10)]
fn satf(bencher: Bencher, depth: u32) {
    bench(bencher, depth, Scheduler::Satf);
}

#[divan::bench(args = [16], sample_count = 10)]
fn scan_sstf(bencher: Bencher, depth: u32) {
    bench(bencher, depth, Scheduler::ScanSstf);
}

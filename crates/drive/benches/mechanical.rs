// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The number of requests per second that the mechanical drive serves in virtual time: random
//! reads of 4 KiB, closed loop, over a whole disk. The item rate counts simulated requests.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_drive::Drive;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::{Mechanics, Scheduler};
use tidegate_model::{Bytes, Class, Lba, Random, Request, RequestId, Time};

const REQUESTS: u64 = 100_000;

fn main() {
    divan::main();
}

/// A disk of 36 GB with 15,000 rpm: 20 zones, a seek curve of 100 points, a cache with
/// read-ahead.
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

fn disk(depth: u32, scheduler: Scheduler) -> (MechanicalDrive, u64) {
    let mut mechanics: Mechanics = toml::from_str(&description()).expect("it is in order");
    mechanics.queue.scheduler = scheduler;
    let drive = MechanicalDrive::new(&mechanics, depth, 1).expect("it is in order");
    (drive, mechanics.sectors)
}

fn request(id: u64, now: Time, sectors: u64, random: &mut Random) -> Request {
    Request {
        released: now,
        eligible: now,
        start: Lba::new(random.below(sectors / 8) * 8),
        ..Request::plain(RequestId(id), Class::BestEffort, Bytes::from_kib(4))
    }
}

/// Keeps `depth` requests outstanding until `REQUESTS` are served.
fn serve(drive: &mut MechanicalDrive, sectors: u64, depth: u64) -> Time {
    let mut random = Random::new(1, 1);
    let mut completions = Vec::new();
    let mut now = Time::ZERO;
    for id in 0..depth {
        drive.submit(now, &[request(id, now, sectors, &mut random)]);
    }
    let mut id = depth;
    while id < REQUESTS {
        now = drive.next_event().expect("requests are outstanding");
        drive.advance(now, &mut completions);
        for _ in completions.drain(..) {
            drive.submit(now, &[request(id, now, sectors, &mut random)]);
            id += 1;
        }
    }
    now
}

fn bench(bencher: Bencher, depth: u32, scheduler: Scheduler) {
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| disk(depth, scheduler))
        .bench_local_values(|(mut drive, sectors)| serve(&mut drive, sectors, u64::from(depth)));
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

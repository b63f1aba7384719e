// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures simulated requests per second on the built-in solid-state drives, and the cost of
//! building one. Requests have 4 KiB at random positions. Writes run on a drive in its steady
//! state, so each write includes its share of garbage collection.

mod support;

use divan::Bencher;
use divan::counter::ItemsCount;
use support::ClosedLoop;
use tidegate_drive::{SsdDrive, builtin};
use tidegate_model::Op;

const SEED: u64 = 1;
const REQUESTS: u64 = 100_000;
const DRIVES: [&str; 2] = ["sata-ssd", "nvme-ssd"];

fn main() {
    divan::main();
}

fn make(name: &str) -> (SsdDrive, u32) {
    let file = builtin::load(name).expect("a built-in drive");
    let ssd = file.ssd.expect("a solid-state drive");
    (SsdDrive::new(&ssd, file.depth, SEED).expect("a sound section"), file.depth)
}

/// Returns a host that keeps `outstanding` requests on the drive; `None` means as many as the drive
/// accepts.
fn host(name: &str, op: Op, outstanding: Option<u32>) -> ClosedLoop<SsdDrive> {
    let (drive, depth) = make(name);
    let capacity = drive.capacity();
    ClosedLoop::new(drive, capacity, op, outstanding.unwrap_or(depth))
}

fn bench(bencher: Bencher, mut host: ClosedLoop<SsdDrive>) {
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| host.run(REQUESTS));
}

/// Measures reads with one request outstanding.
#[divan::bench(args = DRIVES)]
fn reads_alone(bencher: Bencher, name: &str) {
    bench(bencher, host(name, Op::Read, Some(1)));
}

/// Measures reads at the drive's full depth.
#[divan::bench(args = DRIVES)]
fn reads_at_full_depth(bencher: Bencher, name: &str) {
    bench(bencher, host(name, Op::Read, None));
}

/// Measures writes at the drive's full depth, after 300,000 earlier writes.
#[divan::bench(args = DRIVES)]
fn writes_in_steady_state(bencher: Bencher, name: &str) {
    let mut host = host(name, Op::Write, None);
    host.run(300_000);
    bench(bencher, host);
}

/// Measures the construction of a drive that was overwritten for a long time.
#[divan::bench(args = DRIVES)]
fn start_up(name: &str) -> SsdDrive {
    make(name).0
}

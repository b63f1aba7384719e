// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulated requests per second on the built-in solid-state drives, and the cost of building
//! one. Requests of 4 KiB at random positions; writes on a drive in its steady state, so each
//! write includes its share of garbage collection.

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_drive::{Completion, Drive, SsdDrive, builtin};
use tidegate_model::{Bytes, Class, Lba, Op, Random, Request, RequestId, Time};

const SIZE: Bytes = Bytes::from_kib(4);
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

/// A host that keeps `outstanding` requests on the drive.
struct Host {
    drive: SsdDrive,
    op: Op,
    outstanding: u64,
    places: u64,
    random: Random,
    now: Time,
    completions: Vec<Completion>,
}

impl Host {
    fn new(drive: SsdDrive, op: Op, outstanding: u64) -> Self {
        let places = drive.capacity().get() / SIZE.get();
        let random = Random::new(SEED, 1);
        Self { drive, op, outstanding, places, random, now: Time::ZERO, completions: Vec::new() }
    }

    fn submit(&mut self, id: u64) {
        let request = Request {
            released: self.now,
            eligible: self.now,
            op: self.op,
            start: Lba::new(self.random.below(self.places) * SIZE.sectors_ceil()),
            ..Request::plain(RequestId(id), Class::BestEffort, SIZE)
        };
        self.drive.submit(self.now, &[request]);
    }

    /// Runs until `requests` requests are complete and none is outstanding.
    fn run(&mut self, requests: u64) {
        let mut sent = self.outstanding.min(requests);
        (0..sent).for_each(|id| self.submit(id));
        while let Some(next) = self.drive.next_event() {
            self.now = next;
            self.drive.advance(next, &mut self.completions);
            let returned = self.completions.drain(..).len() as u64;
            for _ in 0..returned.min(requests - sent) {
                sent += 1;
                self.submit(sent);
            }
        }
    }
}

fn bench(bencher: Bencher, mut host: Host) {
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| host.run(REQUESTS));
}

/// Reads, one outstanding.
#[divan::bench(args = DRIVES)]
fn reads_alone(bencher: Bencher, name: &str) {
    bench(bencher, Host::new(make(name).0, Op::Read, 1));
}

/// Reads at the drive's full depth.
#[divan::bench(args = DRIVES)]
fn reads_at_full_depth(bencher: Bencher, name: &str) {
    let (drive, depth) = make(name);
    bench(bencher, Host::new(drive, Op::Read, depth.into()));
}

/// Writes at the drive's full depth, after 300,000 others.
#[divan::bench(args = DRIVES)]
fn writes_in_steady_state(bencher: Bencher, name: &str) {
    let (drive, depth) = make(name);
    let mut host = Host::new(drive, Op::Write, depth.into());
    host.run(300_000);
    bench(bencher, host);
}

/// A drive that was overwritten for a long time.
#[divan::bench(args = DRIVES)]
fn start_up(name: &str) -> SsdDrive {
    make(name).0
}

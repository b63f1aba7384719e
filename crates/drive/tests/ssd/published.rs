// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The built-in drives against data sheets of their class. Tolerances stand beside the figures.

use tidegate_model::ssd::Ssd;
use tidegate_model::{Duration, Op};

use crate::common::*;
use crate::host::{Host, Load, Served};

const LENGTH: Duration = Duration::from_ms(200);

/// Runs a load alone on a drive for a fifth of a second.
fn run(ssd: &Ssd, depth: u32, load: Load) -> Served {
    Host::new(drive(ssd, depth)).run_one(load, LENGTH)
}

/// Runs a load for three seconds; returns what it saw in the third.
fn run_on(ssd: &Ssd, depth: u32, load: Load) -> Served {
    let mut host = Host::new(drive(ssd, depth));
    host.run_one(load, Duration::from_ms(2_000));
    let served = host.run_one(load, Duration::from_ms(1_000));
    host.drive.audit();
    served
}

fn assert_within(what: &str, is: u64, published: u64, tolerance_percent: u64) {
    let difference = is.abs_diff(published) * 100;
    let text = format!("{what}: {is}, published {published}, tolerance {tolerance_percent} %");
    println!("{text}");
    assert!(difference <= published * tolerance_percent, "{text}");
}

#[test]
fn sata_ssd_is_as_fast_as_data_sheets_say() {
    let (aged, depth) = builtin_ssd("sata-ssd");
    let fresh = fresh(aged);
    let [read, write] =
        [Op::Read, Op::Write].map(|op| run(&fresh, depth, Load::sequential(op, 32)));
    assert_within("sequential read, bytes/s", read.bytes_per_s(), 550_000_000, 5);
    assert_within("sequential write, bytes/s", write.bytes_per_s(), 520_000_000, 10);
    let [read, write] = [Op::Read, Op::Write].map(|op| run(&fresh, depth, Load::random(op, 32)));
    assert_within("random read, 1/s", read.per_second(), 95_000, 5);
    assert_within("random write, 1/s", write.per_second(), 90_000, 10);
    let single = run(&fresh, depth, Load::random(Op::Read, 1));
    assert_within("random read, one outstanding, 1/s", single.per_second(), 10_000, 10);
}

#[test]
fn nvme_ssd_is_as_fast_as_data_sheets_say() {
    let (aged, depth) = builtin_ssd("nvme-ssd");
    let fresh = fresh(aged);
    let [read, write] =
        [Op::Read, Op::Write].map(|op| run(&fresh, depth, Load::sequential(op, 32)));
    assert_within("sequential read, bytes/s", read.bytes_per_s(), 3_200_000_000, 5);
    assert_within("sequential write, bytes/s", write.bytes_per_s(), 2_000_000_000, 5);
    let read = run(&fresh, depth, Load::random(Op::Read, 256));
    assert_within("random read, 1/s", read.per_second(), 650_000, 8);
    let single = run(&fresh, depth, Load::random(Op::Read, 1));
    assert_within("random read, one outstanding, ns", single.mean_ns(), 95_000, 6);
    let single = run(&fresh, depth, Load::random(Op::Write, 1));
    assert_within("random write, one outstanding, ns", single.mean_ns(), 20_000, 25);
}

/// Goal: the steady state that reviews measure. Method: random writes for seconds, compared with
/// the same on a drive that was filled once.
#[test]
fn random_writes_slow_down_to_the_steady_state() {
    for (name, least_times, steady) in [("sata-ssd", 4, 23_000), ("nvme-ssd", 4, 100_000)] {
        let (ssd, depth) = builtin_ssd(name);
        let load = Load::random(Op::Write, depth.into());
        let first = run(&fresh(ssd.clone()), depth, load).per_second();
        let later = run_on(&ssd, depth, load).per_second();
        assert!(first >= least_times * later, "{name}: {first}/s on a fresh drive, then {later}/s");
        assert_within(name, later, steady, 10);
    }
}

/// Goal: programs that are suspended for reads, the selling point of such drives. Method: a
/// reader beside 16 writers for a second.
#[test]
fn nvme_ssd_reads_stay_short_beside_writes() {
    let (ssd, depth) = builtin_ssd("nvme-ssd");
    let loads = [Load::random(Op::Read, 1), Load::random(Op::Write, 16)];
    let served = Host::new(drive(&ssd, depth)).run(&loads, Duration::from_ms(1_000)).remove(0);
    assert!(served.max_ns() < 1_000_000, "{} ns", served.max_ns());
}

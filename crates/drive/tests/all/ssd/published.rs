// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The built-in drives against data sheets of their class. Tolerances are given beside the figures.

use tidegate_model::ssd::Ssd;
use tidegate_model::{Duration, Op};

use super::common::*;
use super::host::{Host, Load, Served};

const LENGTH: Duration = Duration::from_ms(200);

/// Runs a load alone on a drive for a fifth of a second.
fn run(ssd: &Ssd, depth: u32, load: Load) -> Served {
    Host::new(drive(ssd, depth)).run_one(load, LENGTH)
}

/// Runs a load for three seconds; returns its completions in the third second.
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

/// Goal: each load, alone on a drive that was filled once in order, is as fast as data sheets say.
/// Each case ends with its tolerance in percent.
#[test]
fn drives_are_as_fast_as_data_sheets_say() {
    let sequential = |op| Load::sequential(op, 32);
    let random = Load::random;
    let [rate, per_s, mean_ns]: [fn(&Served) -> u64; 3] =
        [Served::bytes_per_s, Served::per_second, Served::mean_ns];
    let (sata, nvme) = ("sata-ssd", "nvme-ssd");
    for (name, load, figure, published, tolerance) in [
        (sata, sequential(Op::Read), rate, 550_000_000, 5),
        (sata, sequential(Op::Write), rate, 520_000_000, 10),
        (sata, random(Op::Read, 32), per_s, 95_000, 5),
        (sata, random(Op::Write, 32), per_s, 90_000, 10),
        (sata, random(Op::Read, 1), per_s, 10_000, 10),
        (nvme, sequential(Op::Read), rate, 3_200_000_000, 5),
        (nvme, sequential(Op::Write), rate, 2_000_000_000, 5),
        (nvme, random(Op::Read, 256), per_s, 650_000, 8),
        (nvme, random(Op::Read, 1), mean_ns, 95_000, 6),
        (nvme, random(Op::Write, 1), mean_ns, 20_000, 25),
    ] {
        let (aged, depth) = builtin_ssd(name);
        let is = figure(&run(&fresh(aged), depth, load));
        assert_within(&format!("{name}, {load:?}"), is, published, tolerance);
    }
}

/// Goal: random writes slow down to the steady state that reviews measure. Method: random writes
/// for seconds, compared with random writes on a drive that was filled once.
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

/// Goal: reads beside writes stay short on a drive that suspends programs for reads, the selling
/// point of such drives. Method: a reader beside 16 writers for a second.
#[test]
fn nvme_ssd_reads_stay_short_beside_writes() {
    let (ssd, depth) = builtin_ssd("nvme-ssd");
    let loads = [Load::random(Op::Read, 1), Load::random(Op::Write, 16)];
    let served = Host::new(drive(&ssd, depth)).run(&loads, Duration::from_ms(1_000)).remove(0);
    assert!(served.max_ns() < 1_000_000, "{} ns", served.max_ns());
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Garbage collection: its effect on readers, and that it progresses.

use tidegate_drive::{Drive, SsdDrive};
use tidegate_model::ssd::{PrefillOrder, Ssd};
use tidegate_model::{Duration, Op};

use super::common::*;
use super::host::{Host, Load, Served};

const LENGTH: Duration = Duration::from_ms(1_000);

/// Runs a reader with one request outstanding beside another load; returns the reader's completions
/// and the host.
fn beside(ssd: &Ssd, other: Option<Load>) -> (Served, Host) {
    let mut host = Host::new(drive(ssd, 32));
    let loads: Vec<Load> = std::iter::once(Load::random(Op::Read, 1)).chain(other).collect();
    let served = host.run(&loads, LENGTH).remove(0);
    host.drive.audit();
    (served, host)
}

/// Tests the outliers that users fear: a neighbour overwrites 4 KiB at random on a full drive.
///
/// Goal: a reader's b(1) grows by an order of magnitude or more, and includes an erase.
#[test]
fn writing_neighbour_makes_reads_wait_for_an_erase() {
    let (ssd, _) = builtin_ssd("sata-ssd");
    let alone = beside(&ssd, None).0;
    let (disturbed, host) = beside(&ssd, Some(Load::random(Op::Write, 16)));
    assert!(host.drive.counters().blocks_erased > 0);
    assert!(disturbed.max_ns() >= 10 * alone.max_ns(), "{} ns", disturbed.max_ns());
    assert!(disturbed.max_ns() >= ssd.erase_ns, "{} ns", disturbed.max_ns());
    assert!(disturbed.quantile_ns(990_000) >= 10 * alone.quantile_ns(990_000));
}

/// Goal: with a large share of spare flash, reads beside a writer wait for no erase. Method: a
/// neighbour overwrites 4 KiB at random; nothing is erased, and no read waits longer than the
/// program of a row.
#[test]
fn large_over_provisioning_keeps_erases_away_from_reads() {
    let (mut ssd, _) = builtin_ssd("sata-ssd");
    ssd.prefill.order = PrefillOrder::Sequential;
    ssd.over_provisioning_percent = 200;
    let alone = beside(&ssd, None).0;
    let (disturbed, host) = beside(&ssd, Some(Load::random(Op::Write, 16)));
    assert_eq!(host.drive.counters().blocks_erased, 0);
    let row_ns = ssd.program_ns * 11 / 10; // plus a margin for other transfers on channel and link
    assert!(disturbed.max_ns() <= alone.max_ns() + row_ns, "{} ns", disturbed.max_ns());
}

/// Goal: few writes delay few reads. Method: a write every 5 ms on a full drive, after all dies
/// have begun a block and freed another: 99 of 100 reads take as long as without writes.
#[test]
fn slow_writes_leave_nearly_all_reads_alone() {
    let (ssd, _) = builtin_ssd("sata-ssd");
    let alone = beside(&ssd, None).0;
    let slow = Load::random(Op::Write, 1).with_pause(Duration::from_ms(5));
    let mut host = Host::new(drive(&ssd, 32));
    host.run_one(Load::random(Op::Write, 32), Duration::from_ms(20));
    host.run_one(Load::random(Op::Read, 1).with_pause(LENGTH), Duration::from_ms(2_000));
    let rows = host.drive.counters().rows_written;
    let disturbed = host.run(&[Load::random(Op::Read, 1), slow], LENGTH).remove(0);
    assert!(host.drive.counters().rows_written > rows);
    assert!(disturbed.max_ns() > alone.max_ns());
    assert_eq!(disturbed.quantile_ns(990_000), alone.quantile_ns(990_000));
}

/// Goal: a drive that suspends erases spares reads the wait for them. Method: the drive and the
/// neighbour of `writing_neighbour_makes_reads_wait_for_an_erase`, with suspending.
#[test]
fn suspending_spares_reads_the_erase() {
    let (mut ssd, _) = builtin_ssd("sata-ssd");
    ssd.suspend_ns = Some(30_000);
    let (disturbed, host) = beside(&ssd, Some(Load::random(Op::Write, 16)));
    assert!(host.drive.counters().blocks_erased > 0);
    assert!(disturbed.max_ns() < ssd.program_ns / 2, "{} ns", disturbed.max_ns());
}

/// Goal: a die below its background threshold of free blocks collects while it is idle, and
/// finishes. Method: a few rows for each die, then a reader that hardly reads.
#[test]
fn idle_drive_makes_blocks_free() {
    let mut host = Host::new(drive(&aged(small()), 32));
    let copied = |host: &Host| host.drive.counters().units_copied;
    host.run_one(Load::random(Op::Write, 8), Duration::from_ms(10));
    let before = copied(&host);
    idle(&mut host);
    assert!(copied(&host) > before, "it collected while it was idle");
    let after = copied(&host);
    idle(&mut host);
    assert_eq!(copied(&host), after, "and came to an end");
}

/// Runs for two seconds with hardly any reads.
fn idle(host: &mut Host) {
    let pause = Duration::from_ms(500);
    host.run_one(Load::random(Op::Read, 1).with_pause(pause), Duration::from_ms(2_000));
}

/// Writes each of these units once, eight at a time.
fn write_each(drive: &mut SsdDrive, now_ns: &mut u64, units: &[u64]) {
    for some in units.chunks(8) {
        let write = |&unit| request(unit, Op::Write, unit, 1);
        drive.submit(at(*now_ns), &some.iter().map(write).collect::<Vec<_>>());
        let completions = finish(drive);
        assert_eq!(completions.len(), some.len(), "the drive got stuck");
        *now_ns = completions.last().unwrap().at.ns();
    }
}

/// Goal: a die without a block worth collecting is left alone and resumes later. Method: the units
/// that are not on die 3 are written once, so that the units on die 3 stay valid while it fills up.
/// Then all units are written twice, those on die 3 first, which invalidates nearly all of its
/// content. If die 3 did not resume, the drive would run out of room.
#[test]
fn die_with_nothing_to_gain_comes_back() {
    let mut drive = drive(&least_spare(&small()), 8);
    let (units, mut now_ns) = (drive.capacity().get() / UNIT.get(), 0);
    let is_on_die_3 = |unit: &u64| unit % 16 >= 8 && unit % 4 >= 2;
    let (own, others): (Vec<u64>, Vec<u64>) = (0..units).partition(is_on_die_3);
    write_each(&mut drive, &mut now_ns, &others);
    // Long enough for all garbage collection.
    now_ns += 10_000_000_000;
    write_each(&mut drive, &mut now_ns, &own[..1]);
    let copied = drive.counters().units_copied;
    now_ns += 10_000_000_000;
    write_each(&mut drive, &mut now_ns, &own[..1]);
    assert_eq!(drive.counters().units_copied, copied, "nothing is copied to gain nothing");
    for units in [&own, &others, &own, &others] {
        write_each(&mut drive, &mut now_ns, units);
        drive.audit();
    }
}

/// Goal: a block worth collecting always exists. Method: the least accepted spare flash, a drive
/// full of cold data, and one percent of it overwritten all the time.
#[test]
fn least_spare_flash_is_enough() {
    let ssd = least_spare(&small());
    for ssd in [ssd.clone(), aged(ssd)] {
        let mut host = Host::new(drive(&ssd, 32));
        let everywhere = host.run_one(Load::random(Op::Write, 32), Duration::from_ms(2_000));
        assert!(everywhere.per_second() > 0);
        let written = host.drive.counters().units_written;
        host.run_one(Load::random(Op::Write, 32).within(1), Duration::from_ms(2_000));
        assert!(host.drive.counters().units_written > written + 1_000);
        host.drive.audit();
    }
}

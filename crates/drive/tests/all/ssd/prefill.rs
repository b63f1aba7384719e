// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The content of a drive before the first request.

use tidegate_model::ssd::{Prefill, PrefillOrder, Ssd};
use tidegate_model::{Duration, Op};

use super::common::*;
use super::host::{Host, Load};

fn filled(percent: u32, order: PrefillOrder) -> Ssd {
    Ssd { prefill: Prefill { percent, order }, ..small() }
}

#[test]
fn prefilled_drives_do_not_contradict_themselves() {
    for percent in [0, 1, 37, 100] {
        for order in [PrefillOrder::Sequential, PrefillOrder::Random] {
            drive(&filled(percent, order), 1).audit();
        }
    }
}

/// Goal: exactly the given percentage is in flash. Method: reads of one unit from memory and from
/// flash differ by a page read.
#[test]
fn so_much_is_filled_from_the_front() {
    for order in [PrefillOrder::Sequential, PrefillOrder::Random] {
        let mut drive = drive(&filled(37, order), 1);
        let units = drive.capacity().get() / UNIT.get();
        let filled = units * 37 / 100;
        for (unit, is_in_flash) in [(0, true), (filled - 1, true), (filled, false)] {
            let mut drive = drive.clone();
            tidegate_drive::Drive::submit(&mut drive, at(0), &[request(1, Op::Read, unit, 1)]);
            let took = finish(&mut drive)[0].at.ns();
            assert_eq!(took > OVERHEAD_NS + READ_NS, is_in_flash, "unit {unit}");
        }
        drive.trim(tidegate_model::Lba::new(0), drive.capacity());
        drive.audit();
    }
}

/// Runs random writes for a time; returns the number of units copied for 100 written.
fn copies_for_100(host: &mut Host, length: Duration) -> u64 {
    let before = host.drive.counters();
    host.run_one(Load::random(Op::Write, 32), length);
    let after = host.drive.counters();
    let [copied, written] =
        [after.units_copied - before.units_copied, after.units_written - before.units_written];
    copied * 100 / written
}

/// Goal: a randomly filled drive starts in the state to which long overwriting leads. Method: the
/// numbers of copies at the start, when the free blocks are used up, and after the whole drive
/// was overwritten again agree within a tenth.
#[test]
fn random_prefill_is_the_steady_state() {
    let mut host = Host::new(drive(&aged(small()), 32));
    copies_for_100(&mut host, Duration::from_ms(300));
    let early = copies_for_100(&mut host, Duration::from_ms(500));
    copies_for_100(&mut host, Duration::from_ms(5_000));
    assert!(host.drive.counters().units_written * UNIT.get() > host.drive.capacity().get());
    let late = copies_for_100(&mut host, Duration::from_ms(500));
    assert!(early.abs_diff(late) * 10 <= late, "{early} and {late} copies for 100 units");
}

#[test]
fn drive_filled_in_order_has_nothing_to_copy_at_first() {
    let mut host = Host::new(drive(&small(), 32));
    assert_eq!(copies_for_100(&mut host, Duration::from_ms(100)), 0);
    assert!(copies_for_100(&mut host, Duration::from_ms(2_000)) > 0);
}

#[test]
fn seed_decides_where_units_are() {
    let times = |seed| {
        let drive = tidegate_drive::SsdDrive::new(&aged(small()), 1, seed).unwrap();
        let mut host = Host::new(drive);
        let served = host.run_one(Load::sequential(Op::Read, 1), Duration::from_ms(20));
        [served.mean_ns(), served.max_ns()]
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

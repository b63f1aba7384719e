// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times of writes, computed by hand: the cache, durable writes, flushes.

use tidegate_drive::{Drive, SsdDrive};
use tidegate_model::ssd::{Ssd, WriteCache};
use tidegate_model::{Bytes, Op, Request, RequestId};

use super::common::*;

fn protected() -> Ssd {
    let mut ssd = small();
    ssd.cache.power_loss_protection = true;
    ssd
}

#[test]
fn durable_writes_wait_for_their_program() {
    let through = Ssd { cache: WriteCache { write_back: false, ..small().cache }, ..small() };
    let programmed = CACHED_NS + ROW_NS;
    check("complete when it is in the cache", &small(), &[(0, write(0, 1), CACHED_NS)]);
    check("durable", &small(), &[(0, durable(0), programmed)]);
    check(
        "power-loss protection makes the cache durable",
        &protected(),
        &[(0, durable(0), CACHED_NS)],
    );
    check("every write is durable without write-back", &through, &[(0, write(0, 1), programmed)]);
}

/// Returns a drive whose cache has held one unit since `CACHED_NS`.
fn with_a_unit(ssd: &Ssd) -> SsdDrive {
    let mut drive = drive(ssd, 32);
    drive.submit(at(0), &[request(1, Op::Write, 0, 1)]);
    assert_eq!(ends_ns(&finish(&mut drive)), [(1, CACHED_NS)]);
    drive
}

#[test]
fn flush_waits_until_the_cache_is_in_flash() {
    let mut drive = with_a_unit(&small());
    drive.flush(at(CACHED_NS), RequestId(2));
    assert_eq!(ends_ns(&finish(&mut drive)), [(2, CACHED_NS + OVERHEAD_NS + ROW_NS)]);
}

#[test]
fn flush_of_a_clean_or_protected_cache_has_nothing_to_wait_for() {
    let mut clean = drive(&small(), 1);
    clean.flush(at(0), RequestId(1));
    assert_eq!(ends_ns(&finish(&mut clean)), [(1, OVERHEAD_NS)]);
    let mut protected = with_a_unit(&protected());
    protected.flush(at(CACHED_NS), RequestId(2));
    assert_eq!(ends_ns(&finish(&mut protected)), [(2, CACHED_NS + OVERHEAD_NS)]);
}

/// Goal: a flush covers only earlier writes. Method: a unit that is overwritten while it is being
/// programmed is in the cache again, where reads find it; the next flush must program it, but the
/// first flush does not wait for it.
#[test]
fn flush_does_not_wait_for_later_writes() {
    let mut drive = with_a_unit(&small());
    drive.flush(at(CACHED_NS), RequestId(2));
    let mut completions = Vec::new();
    while drive.next_event().is_some_and(|next| next < at(500_000)) {
        drive.advance(drive.next_event().unwrap(), &mut completions);
    }
    drive.submit(at(500_000), &[request(3, Op::Write, 0, 1)]);
    completions.extend(finish(&mut drive));
    let (cached, flushed) = (500_000 + CACHED_NS, CACHED_NS + OVERHEAD_NS + ROW_NS);
    assert_eq!(ends_ns(&completions), [(3, cached), (2, flushed)]);
    drive.audit();
    drive.submit(at(2_000_000), &[request(4, Op::Read, 0, 1)]);
    assert_eq!(ends_ns(&finish(&mut drive)), [(4, 2_000_000 + CACHED_NS)]);
    drive.flush(at(3_000_000), RequestId(5));
    assert_eq!(ends_ns(&finish(&mut drive)), [(5, 3_000_000 + OVERHEAD_NS + ROW_NS)]);
}

/// Goal: a full cache slows the host to the speed of flash. Method: 80 units for a cache of 64.
/// While writes wait for room, each row is written as soon as it is full, so the first four units
/// form a row; when they are programmed, the 65th unit proceeds.
#[test]
fn writes_wait_for_room_in_the_cache() {
    let mut drive = drive(&small(), 80);
    let batch: Vec<Request> = (0..80).map(|unit| request(unit, Op::Write, unit, 1)).collect();
    drive.submit(at(0), &batch);
    let ends = ends_ns(&finish(&mut drive));
    let cached_ns = |count: u64| OVERHEAD_NS + count * (LINK_NS + COMMAND_NS);
    assert_eq!(ends[63], (63, cached_ns(64)));
    let programmed = cached_ns(4) + ROW_NS;
    assert_eq!(ends[64], (64, programmed + LINK_NS + COMMAND_NS));
    drive.audit();
}

#[test]
fn write_larger_than_the_cache_goes_through_it() {
    for is_durable in [false, true] {
        let write = Request { fua: is_durable, ..write(3, 1_000) };
        let ends = serve(&small(), &[(0, write)]);
        assert!(ends[0].1 > 1_000 / 16 * PROGRAM_NS, "four dies, rows of four units: {ends:?}");
    }
}

/// Goal: overwriting pending data in the cache costs nothing. Method: one unit is written a
/// thousand times; no row is programmed.
#[test]
fn overwriting_in_the_cache_costs_no_program() {
    let mut drive = drive(&small(), 1);
    let mut now = 0;
    for id in 0..1_000 {
        drive.submit(at(now), &[request(id, Op::Write, 5, 1)]);
        now = finish(&mut drive)[0].at.ns();
    }
    assert_eq!(now, 1_000 * CACHED_NS);
    assert_eq!((drive.counters().units_written, drive.counters().rows_written), (1_000, 0));
}

/// Goal: a write can be smaller than the drive's mapping unit. Method: the unit is read before it
/// is written, if it has content.
#[test]
fn part_of_a_unit_is_read_before_it_is_written() {
    let sector = Request { size: Bytes::new(512), ..write(0, 1) };
    let link = LINK_NS / 8 + COMMAND_NS;
    let first = OVERHEAD_NS + READ_NS + PAGE_NS + link;
    let second = first + OVERHEAD_NS + link;
    check("the second is in the cache", &small(), &[(0, sector, first), (first, sector, second)]);
}

#[test]
fn trimmed_units_hold_nothing() {
    let mut drive = drive(&small(), 1);
    // From the middle of unit 0 to the middle of unit 3: units 1 and 2 are whole.
    drive.trim(tidegate_model::Lba::new(4), Bytes::from_kib(12));
    drive.audit();
    drive.submit(at(0), &[request(1, Op::Read, 1, 2)]);
    let from_memory = OVERHEAD_NS + 2 * LINK_NS + COMMAND_NS;
    assert_eq!(ends_ns(&finish(&mut drive)), [(1, from_memory)]);
    drive.submit(at(from_memory), &[request(2, Op::Read, 3, 1)]);
    let from_flash = OVERHEAD_NS + READ_NS + PAGE_NS + LINK_NS + COMMAND_NS;
    assert_eq!(ends_ns(&finish(&mut drive)), [(2, from_memory + from_flash)]);
}

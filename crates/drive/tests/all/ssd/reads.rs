// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times of reads, computed by hand.

use tidegate_model::ssd::{Prefill, Ssd};
use tidegate_model::{Bytes, Request};

use super::common::*;

/// The time of a read of one unit, apart from the reading of its page in the flash.
const AROUND_PAGE_NS: u64 = OVERHEAD_NS + PAGE_NS + LINK_NS + COMMAND_NS;
/// The time of a read of one unit from the first page of a row.
const UNIT_NS: u64 = AROUND_PAGE_NS + READ_NS;

#[test]
fn read_takes_overhead_page_channel_and_link() {
    check("one read", &small(), &[(0, read(0, 1), UNIT_NS)]);
    check("the other page of a row", &small(), &[(0, read(4, 1), AROUND_PAGE_NS + 70_000)]);
    let sector = Request { size: Bytes::new(512), ..read(0, 1) };
    check("its link", &small(), &[(0, sector, UNIT_NS - LINK_NS + LINK_NS / 8)]);
}

/// Goal: a request is spread over the dies. Method: four units lie in one stripe of two dies each,
/// each die on its own channel; both read at the same time, and only the link is shared.
#[test]
fn parts_on_two_dies_are_read_at_once() {
    check("four units", &small(), &[(0, read(0, 4), UNIT_NS + PAGE_NS + 3 * LINK_NS)]);
}

/// Two stripes of one die: the second is read while the first crosses the channel.
#[test]
fn parts_on_one_die_are_read_one_after_the_other() {
    let second = UNIT_NS + 70_000;
    check("two stripes", &small(), &[(0, read(0, 1), UNIT_NS), (0, read(4, 1), second)]);
}

/// Goal: a read finds data that are not in flash. Method: one read on a drive without content, and
/// one that arrives when a write completes.
#[test]
fn unwritten_and_cached_units_are_read_without_flash() {
    check("unwritten", &empty(), &[(0, read(7, 2), CACHED_NS + LINK_NS)]);
    let written = [(0, write(0, 1), CACHED_NS), (CACHED_NS, read(0, 1), 2 * CACHED_NS)];
    check("cached", &small(), &written);
}

fn empty() -> Ssd {
    Ssd { prefill: Prefill::default(), ..small() }
}

/// Goal: a link that is not full-duplex carries one transfer at a time. Method: a read served
/// from memory and a write meet on it.
#[test]
fn directions_share_the_link_unless_it_is_full_duplex() {
    let mut ssd = empty();
    for (full_duplex, second) in [(false, CACHED_NS + LINK_NS + COMMAND_NS), (true, CACHED_NS)] {
        ssd.link.full_duplex = full_duplex;
        check("both", &ssd, &[(0, read(0, 1), CACHED_NS), (0, write(9, 1), second)]);
    }
}

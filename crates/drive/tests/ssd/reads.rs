// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times of reads, computed by hand.

use tidegate_model::Op;
use tidegate_model::ssd::Prefill;

use crate::common::*;

/// Goal: the path of one read. Method: overhead, page, channel, link.
#[test]
fn read_takes_overhead_page_channel_and_link() {
    let ends = serve(&small(), &[(0, request(1, Op::Read, 0, 1))]);
    assert_eq!(ends, [(1, OVERHEAD_NS + READ_NS + PAGE_NS + LINK_NS + COMMAND_NS)]);
}

#[test]
fn pages_of_a_row_take_their_own_times() {
    let ends = serve(&small(), &[(0, request(1, Op::Read, 4, 1))]);
    assert_eq!(ends, [(1, OVERHEAD_NS + 70_000 + PAGE_NS + LINK_NS + COMMAND_NS)]);
}

/// Goal: a request is spread over the dies. Method: four units lie in one stripe of two dies
/// each, each die on its own channel; both read at once, and only the link is shared.
#[test]
fn parts_on_two_dies_are_read_at_once() {
    let ends = serve(&small(), &[(0, request(1, Op::Read, 0, 4))]);
    assert_eq!(ends, [(1, OVERHEAD_NS + READ_NS + 2 * PAGE_NS + 4 * LINK_NS + COMMAND_NS)]);
}

/// Two stripes of one die: the second is read while the first crosses the channel.
#[test]
fn parts_on_one_die_are_read_one_after_the_other() {
    let ends = serve(&small(), &[(0, request(1, Op::Read, 0, 1)), (0, request(2, Op::Read, 4, 1))]);
    let first = OVERHEAD_NS + READ_NS + PAGE_NS + LINK_NS + COMMAND_NS;
    let second = OVERHEAD_NS + READ_NS + 70_000 + PAGE_NS + LINK_NS + COMMAND_NS;
    assert_eq!(ends, [(1, first), (2, second)]);
}

#[test]
fn part_of_a_unit_needs_the_link_for_its_bytes_only() {
    let sector = tidegate_model::Request {
        size: tidegate_model::Bytes::new(512),
        ..request(1, Op::Read, 0, 1)
    };
    let ends = serve(&small(), &[(0, sector)]);
    assert_eq!(ends, [(1, OVERHEAD_NS + READ_NS + PAGE_NS + LINK_NS / 8 + COMMAND_NS)]);
}

#[test]
fn unwritten_units_are_read_without_flash() {
    let mut ssd = small();
    ssd.prefill = Prefill::default();
    let ends = serve(&ssd, &[(0, request(1, Op::Read, 7, 2))]);
    assert_eq!(ends, [(1, OVERHEAD_NS + 2 * LINK_NS + COMMAND_NS)]);
}

/// Goal: a read finds data that are not in flash yet. Method: it arrives when the write
/// completes.
#[test]
fn cached_units_are_read_from_the_cache() {
    let ends = serve(
        &small(),
        &[(0, request(1, Op::Write, 0, 1)), (CACHED_NS, request(2, Op::Read, 0, 1))],
    );
    assert_eq!(ends[1], (2, CACHED_NS + OVERHEAD_NS + LINK_NS + COMMAND_NS));
}

/// Goal: a link that is not full-duplex carries one transfer at a time. Method: a read served
/// from memory and a write meet on it.
#[test]
fn directions_share_the_link_unless_it_is_full_duplex() {
    let mut ssd = small();
    ssd.prefill = Prefill::default();
    let requests = [(0, request(1, Op::Read, 0, 1)), (0, request(2, Op::Write, 9, 1))];
    let alone = CACHED_NS;
    assert_eq!(serve(&ssd, &requests), [(1, alone), (2, alone + LINK_NS + COMMAND_NS)]);
    ssd.link.full_duplex = true;
    assert_eq!(serve(&ssd, &requests), [(1, alone), (2, alone)]);
}

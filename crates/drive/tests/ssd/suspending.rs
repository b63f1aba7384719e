// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads that arrive during a program operation: which of the two waits.

use tidegate_model::Op;
use tidegate_model::ssd::Ssd;

use crate::common::*;

const SUSPEND_NS: u64 = 20_000;
/// When a read arrives while die 0 programs.
const READ_AT_NS: u64 = 100_000;
const BEGIN_NS: u64 = READ_AT_NS + OVERHEAD_NS;
const AFTER_PAGE_NS: u64 = PAGE_NS + LINK_NS + COMMAND_NS;
const PROGRAMMED_NS: u64 = CACHED_NS + ROW_NS;

fn suspending() -> Ssd {
    Ssd { suspend_ns: Some(SUSPEND_NS), ..small() }
}

/// Serves a durable write to die 0, and a read of its unit 0.
fn meet(ssd: &Ssd) -> Vec<(u64, u64)> {
    serve(ssd, &[(0, durable(1, 1_000)), (READ_AT_NS, request(2, Op::Read, 0, 1))])
}

#[test]
fn read_waits_for_a_program() {
    let ends = meet(&small());
    assert_eq!(ends, [(1, PROGRAMMED_NS), (2, PROGRAMMED_NS + READ_NS + AFTER_PAGE_NS)]);
}

#[test]
fn program_makes_way_for_a_read_and_goes_on() {
    let ends = meet(&suspending());
    let read = BEGIN_NS + SUSPEND_NS + READ_NS;
    assert_eq!(ends, [(2, read + AFTER_PAGE_NS), (1, PROGRAMMED_NS + (read - BEGIN_NS))]);
}

/// Goal: reads do not starve a program. Method: six reads, of which four may go first; a later
/// one does not even cost the time of suspending.
#[test]
fn a_program_yields_to_a_limited_number_of_reads() {
    let read = |(id, begin_ns)| (begin_ns, request(id, Op::Read, 0, 1));
    let begins = [(2, READ_AT_NS), (3, READ_AT_NS), (4, READ_AT_NS), (5, READ_AT_NS)];
    let late = [(6, READ_AT_NS), (7, READ_AT_NS), (8, 2 * PROGRAM_NS / 3)];
    let reads = begins.into_iter().chain(late).map(read);
    let write = (0, durable(1, 1_000));
    let ends = serve(&suspending(), &std::iter::once(write).chain(reads).collect::<Vec<_>>());
    let order: Vec<u64> = ends.iter().map(|end| end.0).collect();
    assert_eq!(order, [2, 3, 4, 5, 1, 6, 7, 8]);
    assert_eq!(ends[4], (1, PROGRAMMED_NS + SUSPEND_NS + 4 * READ_NS));
}

#[test]
fn program_that_is_nearly_done_is_not_suspended() {
    let late = PROGRAMMED_NS - SUSPEND_NS - OVERHEAD_NS;
    let ends = serve(&suspending(), &[(0, durable(1, 1_000)), (late, request(2, Op::Read, 0, 1))]);
    assert_eq!(ends, [(1, PROGRAMMED_NS), (2, PROGRAMMED_NS + READ_NS + AFTER_PAGE_NS)]);
}

/// Goal: a waiting program is overtaken by a limited number of reads. Method: ten reads of die 0
/// wait when its row arrives behind four more: with a limit of 0 it follows the ten, with a limit
/// of 4 it follows all. Reads take 50 us each, so the row arrives while the first is running.
#[test]
fn reads_overtake_a_waiting_program_within_limits() {
    let order = |reads_first_max| {
        let ssd = Ssd { reads_first_max, ..small() };
        let early = (10..20).map(|id| (0, request(id, Op::Read, 0, 1)));
        let late = (20..30).map(|id| (READ_AT_NS, request(id, Op::Read, 0, 1)));
        let write = [(0, durable(1, 1_000))];
        let ends = serve(&ssd, &write.into_iter().chain(early).chain(late).collect::<Vec<_>>());
        ends.iter().position(|end| end.0 == 1).unwrap()
    };
    assert_eq!([order(0), order(4), order(100)], [10, 14, 20]);
}

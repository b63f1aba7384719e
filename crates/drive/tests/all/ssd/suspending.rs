// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads that arrive during a program operation: which of the two waits.

use tidegate_model::ssd::Ssd;

use super::common::*;

const SUSPEND_NS: u64 = 20_000;
/// The instant at which a read arrives while die 0 programs.
const READ_AT_NS: u64 = 100_000;
/// The instant at which that read has been processed and can begin at its die.
const BEGIN_NS: u64 = READ_AT_NS + OVERHEAD_NS;
/// The time from the end of a page's read in the flash to the end of the request.
const AFTER_PAGE_NS: u64 = PAGE_NS + LINK_NS + COMMAND_NS;
/// The instant at which the write's program operation ends if no read suspends it.
const PROGRAMMED_NS: u64 = CACHED_NS + ROW_NS;

fn suspending() -> Ssd {
    Ssd { suspend_ns: Some(SUSPEND_NS), ..small() }
}

/// Serves a durable write to die 0, and a read of its unit 0 meanwhile.
fn meet(what: &str, ssd: &Ssd, read_at_ns: u64, written_ns: u64, read_ns: u64) {
    let requests = [(0, durable(1_000), written_ns), (read_at_ns, read(0, 1), read_ns)];
    check(what, ssd, &requests);
}

/// A read waits if the drive cannot suspend, or if the program operation is nearly done.
#[test]
fn read_waits_for_a_program() {
    let read_ns = PROGRAMMED_NS + READ_NS + AFTER_PAGE_NS;
    meet("no suspending", &small(), READ_AT_NS, PROGRAMMED_NS, read_ns);
    let late_ns = PROGRAMMED_NS - SUSPEND_NS - OVERHEAD_NS;
    meet("nearly done", &suspending(), late_ns, PROGRAMMED_NS, read_ns);
}

#[test]
fn program_makes_way_for_a_read_and_goes_on() {
    let taken_ns = SUSPEND_NS + READ_NS;
    let read_ns = BEGIN_NS + taken_ns + AFTER_PAGE_NS;
    meet("suspended", &suspending(), READ_AT_NS, PROGRAMMED_NS + taken_ns, read_ns);
}

/// Goal: reads do not starve a program. Method: six reads, of which four may go first; a later
/// one does not even cost the time of suspending.
#[test]
fn a_program_yields_to_a_limited_number_of_reads() {
    let begins = [READ_AT_NS; 6].into_iter().chain([2 * PROGRAM_NS / 3]);
    let mut requests = vec![(0, durable(1_000))];
    requests.extend(begins.map(|begin_ns| (begin_ns, read(0, 1))));
    let ends = serve(&suspending(), &requests);
    let order: Vec<u64> = ends.iter().map(|end| end.0).collect();
    assert_eq!(order, [2, 3, 4, 5, 1, 6, 7, 8]);
    assert_eq!(ends[4], (1, PROGRAMMED_NS + SUSPEND_NS + 4 * READ_NS));
}

/// Goal: a waiting program is overtaken by a limited number of reads. Method: ten reads of die 0
/// wait when its row arrives, and ten more arrive later. With a limit of 0 the row follows the
/// first ten, with a limit of 4 four more, and with a limit of 100 all twenty. A read takes 50 us,
/// so the row arrives while the first read is running.
#[test]
fn reads_overtake_a_waiting_program_within_limits() {
    let order = |reads_first_max| {
        let ssd = Ssd { reads_first_max, ..small() };
        let mut requests = vec![(0, durable(1_000))];
        requests.extend([(0, read(0, 1)); 10]);
        requests.extend([(READ_AT_NS, read(0, 1)); 10]);
        let ends = serve(&ssd, &requests);
        ends.iter().position(|end| end.0 == 1).unwrap()
    };
    assert_eq!([order(0), order(4), order(100)], [10, 14, 20]);
}

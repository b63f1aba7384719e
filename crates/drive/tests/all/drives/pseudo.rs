// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The pseudo-disk: hand-made histories with exact times, and properties of all histories.

use super::common::{at, finish, request, requests, sorted_ids, table, times_ns};
use crate::checked::Checked;
use proptest::prelude::*;
use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{Bytes, Duration, Op, Request, RequestId};

/// b(1) to b(4) of the hand-made histories.
const TIMES: [u64; 4] = [10, 16, 21, 27];

fn disk() -> PseudoDisk {
    PseudoDisk::new(8, table(&TIMES), 1)
}

/// The times b(1), b(2), .., the batches with their instants, and the completions.
type Row<'a> = (&'a [u64], &'a [(u64, u64)], &'a [u64]);

/// Goal: the requests of hand-made histories complete at the exact instants. Method: each row gives
/// batches with their instants, and the instants of the completions; b(1) to b(4) are as above
/// unless the row has its own.
#[test]
fn histories_take_the_times_computed_by_hand() {
    let rows: [Row<'_>; 8] = [
        // Evenly spaced, the last exact: floor(k * 27 / 4).
        (&TIMES, &[(100, 4)], &[106, 113, 120, 127]),
        // The running timer stays when a request joins; when it expires, the remaining requests are
        // planned again. 0: two requests, b(2) = 16, timers at 8 and 16. 3: one joins. 8: one
        // completes, two are left: b(2) = 16 from here, timers at 16 and 24.
        (&TIMES, &[(0, 2), (3, 1)], &[8, 16, 24]),
        // Several joins under one timer are planned once. 8: three are left: b(3) = 21 from here.
        (&TIMES, &[(0, 2), (3, 1), (5, 1)], &[8, 15, 22, 29]),
        // Keeping a drive full, as `noop` does, never changes the running timer. 8: one of two
        // completes, one is sent immediately; the timer for 16 has run since 0 and stays. 16: one
        // of two completes, one is left: b(1) = 10.
        (&TIMES, &[(0, 2), (8, 1)], &[8, 16, 26]),
        // A request sent at the instant of a new plan belongs to that plan. 8: one of three
        // completes after a join, so two are planned again; two more are sent immediately: b(4).
        (&TIMES, &[(0, 2), (3, 1), (8, 2)], &[8, 8 + 6, 8 + 13, 8 + 20, 8 + 27]),
        // Submits at one instant are one batch: b(1) + b(n - 1) never occurs for b(n).
        (&TIMES, &[(5, 1), (5, 1), (5, 1), (5, 1)], &[11, 18, 25, 32]),
        // A batch with fewer nanoseconds than requests, whose first completion is at the instant of
        // its submission, is still one batch.
        (&[2, 2, 2, 2], &[(5, 1), (5, 3)], &[5, 6, 6, 7]),
        // A batch larger than the table's largest is served in several batches.
        (&TIMES[..2], &[(0, 5)], &[8, 16, 24, 32, 42]),
    ];
    for (ns_max, batches, times) in rows {
        let mut disk = PseudoDisk::new(8, table(ns_max), 1);
        let (mut completions, mut sent) = (Vec::new(), 0);
        for &(now, count) in batches {
            while let Some(next) = disk.next_event().filter(|&next| next <= at(now)) {
                disk.advance(next, &mut completions);
            }
            disk.submit(at(now), &requests(sent, count));
            sent += count;
        }
        completions.extend(finish(&mut disk));
        assert_eq!(times_ns(&completions), times, "{batches:?}");
        assert_eq!(sorted_ids(&completions), (0..sent).collect::<Vec<_>>());
        assert_eq!(disk.next_event(), None);
    }
}

#[test]
fn empty_batch_is_nothing() {
    let mut disk = disk();
    disk.submit(at(0), &[]);
    assert_eq!(disk.next_event(), None);
}

#[test]
fn first_request_returned_is_any_of_the_batch() {
    let mut count = [0_u32; 4];
    for seed in 0..4_000 {
        let mut disk = PseudoDisk::new(4, table(&TIMES), seed);
        disk.submit(at(0), &requests(0, 4));
        let first = usize::try_from(finish(&mut disk)[0].id.0).unwrap();
        count[first] += 1;
    }
    assert!(count.iter().all(|count| (850..1_150).contains(count)), "{count:?}");
}

#[test]
fn every_order_of_a_batch_comes_up() {
    let mut orders = std::collections::BTreeSet::new();
    let mut disk = disk();
    for round in 0..500 {
        disk.submit(at(round * 100), &requests(0, 4));
        let order: Vec<RequestId> = finish(&mut disk).iter().map(|done| done.id).collect();
        orders.insert(order);
    }
    assert_eq!(orders.len(), 24);
}

#[test]
fn another_seed_is_another_run() {
    let run = |seed| {
        let mut disk = PseudoDisk::new(64, table(&[10; 64]), seed);
        disk.submit(at(0), &requests(0, 64));
        finish(&mut disk)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
#[should_panic(expected = "room for 7")]
fn drive_holds_no_more_than_its_depth() {
    let mut disk = disk();
    disk.submit(at(0), &[request(0)]);
    disk.submit(at(1), &requests(1, 8));
}

#[test]
#[should_panic(expected = "submitted before due completions")]
fn submit_before_a_due_completion_is_refused() {
    let mut disk = disk();
    disk.submit(at(0), &requests(0, 2));
    disk.submit(at(8), &[request(2)]);
}

/// The host's actions: pairs of a wait and a number of requests to submit.
type History = Vec<(u64, u64)>;

fn history() -> impl Strategy<Value = History> {
    prop::collection::vec((0_u64..40, 0_u64..6), 1..60)
}

/// Submits as many requests as fit, and lets the drive finish. With `is_late` the host advances
/// the drive only when it submits, otherwise at every completion.
fn play(history: &History, ns_max: &[u64], seed: u64, is_late: bool) -> Vec<Completion> {
    let mut host = Checked::new(PseudoDisk::new(32, table(ns_max), seed), 32, None);
    let mut submitted = 0;
    for &(wait, wanted) in history {
        let until = host.now + Duration::from_ns(wait);
        if is_late {
            host.advance(until);
        } else {
            host.go_to(until);
        }
        submitted += host.submit(&requests(submitted as u64, wanted));
    }
    let completions = host.finish().1;
    assert_eq!(sorted_ids(&completions), (0..submitted as u64).collect::<Vec<_>>());
    completions
}

fn ns_max() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1_u64..1_000_000_000_000, 1..64)
}

proptest! {
    /// Goal: the drive honours b, for any table, any batch that it covers and any instant.
    #[test]
    fn batch_to_an_idle_drive_takes_exactly_its_time(
        ns_max in ns_max(), share in 1_u64..=64, start in 0_u64..1_000_000, seed: u64,
    ) {
        let table = table(&ns_max);
        let count = share.min(u64::from(table.batch_max()));
        let total = u128::from(table.time_max(u32::try_from(count).unwrap()).ns());
        let mut disk = PseudoDisk::new(64, table, seed);
        disk.submit(at(start), &requests(0, count));
        let expected: Vec<u64> = (1..=count)
            .map(|k| start + u64::try_from(u128::from(k) * total / u128::from(count)).unwrap())
            .collect();
        prop_assert_eq!(times_ns(&finish(&mut disk)), expected);
    }

    #[test]
    fn every_request_is_returned_once_and_the_same_however_late_the_host_looks(
        history in history(), ns_max in prop::collection::vec(1_u64..200, 1..40), seed: u64,
    ) {
        let run = play(&history, &ns_max, seed, false);
        prop_assert_eq!(&run, &play(&history, &ns_max, seed, false));
        prop_assert_eq!(&run, &play(&history, &ns_max, seed, true));
    }

    #[test]
    fn batch_handed_over_in_parts_is_the_same_batch(
        ns_max in ns_max(), parts in prop::collection::vec(1_u64..9, 1..8), seed: u64,
    ) {
        let count = parts.iter().sum();
        let mut whole = PseudoDisk::new(64, table(&ns_max), seed);
        whole.submit(at(3), &requests(0, count));
        let mut divided = PseudoDisk::new(64, table(&ns_max), seed);
        let mut first = 0;
        for part in parts {
            divided.submit(at(3), &requests(first, part));
            first += part;
        }
        prop_assert_eq!(finish(&mut whole), finish(&mut divided));
    }
}

/// Returns a pseudo-disk with costs for at most three requests at the same time, in nanoseconds:
/// A = 4, 2 for 4 KiB, 9 for 64 KiB, and 1 for each change between reads and writes.
fn with_costs() -> PseudoDisk {
    let cost = |op: Op, kib: u64, ns: u64| RequestCost {
        op,
        size: Bytes::from_kib(kib),
        time_max: Duration::from_ns(ns),
    };
    let costs = CostModel {
        positioning_max: Duration::from_ns(4),
        requests: vec![cost(Op::Read, 4, 2), cost(Op::Read, 64, 9), cost(Op::Write, 4, 2)],
        switch_max: Some(Duration::from_ns(1)),
        fua_max: None,
        batch_max: Some(3),
        how: None,
        samples: None,
    };
    PseudoDisk::with_costs(8, table(&TIMES), Some(costs), 1)
}

/// Goal: a batch takes no longer than the sum of its costs, nor longer than b. Method: times
/// computed by hand. One small read takes 4 + 2, where b(1) is 10, and two take 4 + 2 + 9, where
/// b(2) is 16. Three reads would take 4 + 27, so b(3) = 21 remains. A read and a write take 4 + 4
/// and two changes between reads and writes. The costs cover neither four requests nor a larger
/// read.
#[test]
fn a_batch_takes_the_sum_of_its_costs_and_never_more_than_its_table() {
    let of = |id: u64, op: Op, kib: u64| Request { op, size: Bytes::from_kib(kib), ..request(id) };
    let read = |id: u64, kib: u64| of(id, Op::Read, kib);
    let cases = [
        (vec![read(1, 4)], 6),
        (vec![read(1, 4), read(2, 64)], 15),
        (vec![read(1, 64), read(2, 64), read(3, 64)], 21),
        (vec![read(1, 4), of(2, Op::Write, 4)], 10),
        (vec![read(1, 4), read(2, 4), read(3, 4), read(4, 4)], 27),
        (vec![read(1, 128)], 10),
    ];
    let mut disk = with_costs();
    let mut now = 0;
    for (batch, longest) in cases {
        disk.submit(at(now), &batch);
        let times = times_ns(&finish(&mut disk));
        assert_eq!(times.last(), Some(&(now + longest)), "{batch:?}");
        now += 100;
    }
}

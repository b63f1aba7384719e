// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests SSTF, SCAN, C-LOOK and the hybrid: the nearest request first, at most one change of
//! direction for a batch, and at most one wrap of C-LOOK.

use super::by_access::is_first_least;
use super::*;
use crate::Amortised;

fn cylinders(moments: &[Moment]) -> Vec<u32> {
    moments.iter().map(|moment| moment.taken.target.cylinder).collect()
}

/// Counts the changes of direction on the way from `from` through all of `stops`.
fn turn_count(from: u32, stops: &[u32]) -> usize {
    let places: Vec<u32> = std::iter::once(from).chain(stops.iter().copied()).collect();
    let directions: Vec<bool> =
        places.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| pair[0] < pair[1]).collect();
    directions.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

fn batch(cylinders: &[u32]) -> Vec<Pending> {
    (1..).zip(cylinders).map(|(id, cylinder)| pending(id, 0, *cylinder, Tag::Simple)).collect()
}

fn order(scheduler: Scheduler, arm: u32, cylinders: &[u32]) -> Vec<u64> {
    drained(&mut filled(&with(scheduler), &batch(cylinders)), 0, arm)
}

/// One batch under each scheduler: the textbook example of eight requests and an arm at 53.
#[test]
fn textbook_batch_is_served_as_each_scheduler_says() {
    let held = [98, 183, 37, 122, 14, 124, 65, 67];
    assert_eq!(order(Scheduler::Fifo, 53, &held), [1, 2, 3, 4, 5, 6, 7, 8]);
    // 65 67 37 14 98 122 124 183
    assert_eq!(order(Scheduler::Sstf, 53, &held), [7, 8, 3, 5, 1, 4, 6, 2]);
    // 65 67 98 122 124 183 | 37 14
    assert_eq!(order(Scheduler::Scan, 53, &held), [7, 8, 1, 4, 6, 2, 3, 5]);
    assert_eq!(order(Scheduler::ScanSstf, 53, &held), [7, 8, 1, 4, 6, 2, 3, 5]);
    // 65 67 98 122 124 183 | 14 37
    assert_eq!(order(Scheduler::CLook, 53, &held), [7, 8, 1, 4, 6, 2, 5, 3]);
}

/// The arm is at 40, the nearest request at 37: the hybrid goes outwards, SCAN inwards.
#[test]
fn hybrid_begins_with_the_nearest_and_scan_does_not() {
    let held = [98, 37, 14, 50];
    assert_eq!(order(Scheduler::ScanSstf, 40, &held), [2, 3, 4, 1]);
    assert_eq!(order(Scheduler::Scan, 40, &held), [4, 1, 2, 3]);
}

#[test]
fn scan_keeps_its_direction_over_an_idle_time_and_the_hybrid_does_not() {
    for (scheduler, second) in [(Scheduler::Scan, [4, 3]), (Scheduler::ScanSstf, [3, 4])] {
        let mut queue = filled(&with(scheduler), &batch(&[60, 40]));
        assert_eq!(drained(&mut queue, 0, 50), [1, 2]);
        // Under both schedulers the last movement was outwards.
        queue.push(pending(3, 9, 45, Tag::Simple));
        queue.push(pending(4, 9, 20, Tag::Simple));
        assert_eq!(drained(&mut queue, 9, 40), second, "{scheduler:?}");
    }
}

/// Goal: a sweep's position is where requests lie, not where transfers take the arm. Method: two
/// requests are on one cylinder, and the transfer of the first ends on the next cylinder.
#[test]
fn second_request_on_a_cylinder_does_not_wait_for_another_sweep() {
    for scheduler in [Scheduler::Scan, Scheduler::ScanSstf, Scheduler::CLook] {
        let mut queue = filled(&with(scheduler), &batch(&[10, 10, 90]));
        assert_eq!(next(&mut queue, 9), 1);
        assert_eq!(next(&mut queue, 11), 2);
    }
}

#[test]
fn late_request_joins_the_sweep_only_if_it_lies_ahead() {
    for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
        let mut queue = filled(&with(scheduler), &batch(&[50, 90, 10]));
        assert_eq!(next(&mut queue, 45), 1);
        queue.push(pending(4, 1, 70, Tag::Simple));
        queue.push(pending(5, 1, 48, Tag::Simple));
        queue.push(pending(6, 1, 50, Tag::Simple));
        assert_eq!(drained(&mut queue, 1, 50), [6, 4, 2, 5, 3], "{scheduler:?}");
    }
}

proptest! {
    /// SSTF takes the nearest request, FIFO the oldest.
    #[test]
    fn sstf_takes_the_nearest_and_fifo_the_oldest(steps in simple_steps(), arm in 0_u32..30) {
        for moment in play(&with(Scheduler::Sstf), &steps, arm) {
            let distance = |held: &Pending| held.target.cylinder.abs_diff(moment.arm);
            prop_assert!(is_first_least(&moment, distance), "{moment:?}");
        }
        prop_assert!(ids(&play(&with(Scheduler::Fifo), &steps, arm)).is_sorted());
    }

    /// SCAN serves a batch in two sweeps, and so does the hybrid, which begins with the nearest
    /// request. C-LOOK ascends once from the arm to the innermost, then once from the outermost.
    #[test]
    fn batch_is_served_in_two_sweeps(steps in simple_steps(), arm in 0_u32..30) {
        for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
            let stops = cylinders(&play_batch(&with(scheduler), &steps, arm));
            prop_assert!(turn_count(arm, &stops) <= 1, "{scheduler:?}: {arm} {stops:?}");
        }
        let first = &play_batch(&with(Scheduler::ScanSstf), &steps, arm)[0];
        let distance = |held: &Pending| held.target.cylinder.abs_diff(arm);
        prop_assert!(is_first_least(first, distance), "{first:?}");
        let stops = cylinders(&play_batch(&with(Scheduler::CLook), &steps, arm));
        let (ahead, behind) =
            stops.split_at(stops.partition_point(|cylinder| *cylinder >= arm));
        prop_assert!(ahead.is_sorted() && behind.is_sorted(), "{arm} {stops:?}");
        prop_assert!(behind.iter().all(|cylinder| *cylinder < arm), "{arm} {stops:?}");
    }

    /// Goal: later requests do not delay a batch beyond its two sweeps. Method: the first `count`
    /// requests arrive together, and the others arrive while these are served.
    #[test]
    fn batch_is_served_in_two_sweeps_whatever_comes_later(
        mut steps in simple_steps(), arm in 0_u32..30, count in 1_usize..20,
    ) {
        let count = count.min(steps.len());
        for step in &mut steps[..count - 1] {
            (step.gap_ns, step.takes) = (0, 0);
        }
        for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
            let moments = play(&with(scheduler), &steps, arm);
            let in_batch = |m: &Moment| m.taken.request.id.0 < u64::try_from(count).unwrap();
            let last = moments.iter().rposition(in_batch).expect("taken once");
            let stops = cylinders(&moments[..=last]);
            prop_assert!(turn_count(arm, &stops) <= 1, "{scheduler:?}: {arm} {stops:?}");
        }
    }

    /// Tests equation 7.4.1.6 on a disk of 30 cylinders whose seeks take exactly as long as its
    /// linear bound: 100 ns plus 7 ns for each cylinder, so 303 ns from edge to edge.
    #[test]
    fn seeks_of_a_batch_are_within_their_bound(
        mut steps in simple_steps(), arm in 0_u32..30,
    ) {
        without_drift(&mut steps);
        let bound = Amortised {
            seek_max: Duration::from_ns(100 + 7 * 29),
            seek_min: Duration::from_ns(100),
            rotation_max: Duration::ZERO,
            transfer_max: Duration::ZERO,
        };
        for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
            let stops = cylinders(&play_batch(&with(scheduler), &steps, arm));
            let places: Vec<u32> = std::iter::once(arm).chain(stops).collect();
            let seeks = places.windows(2).map(|pair| u64::from(pair[0].abs_diff(pair[1])));
            let total: u64 = seeks.filter(|seek| *seek > 0).map(|seek| 100 + 7 * seek).sum();
            let bound = bound.seek_time_max(u32::try_from(steps.len()).unwrap());
            prop_assert!(total <= bound.ns(), "{scheduler:?}: {total} > {bound}");
        }
    }

    /// With arrivals at any time, C-LOOK wraps only when no request lies ahead, and skips no
    /// request.
    #[test]
    fn c_look_wraps_only_when_nothing_is_ahead(mut steps in simple_steps(), arm in 0_u32..30) {
        without_drift(&mut steps);
        for moment in play(&with(Scheduler::CLook), &steps, arm) {
            let from = moment.arm;
            let way = |held: &Pending| (held.target.cylinder + 30 - from) % 30;
            prop_assert!(is_first_least(&moment, way), "{moment:?}");
        }
    }
}

/// Canary: SSTF, FIFO and C-LOOK fail the test for two sweeps, and SCAN fails the test for
/// C-LOOK.
#[test]
fn wrong_choice_by_position_is_found() {
    const BATCH: [u32; 4] = [12, 17, 25, 0];
    let stops = |scheduler| -> Vec<u32> {
        order(scheduler, 15, &BATCH).iter().map(|id| pick(&BATCH, *id)).collect()
    };
    assert_eq!(turn_count(15, &stops(Scheduler::Sstf)), 2);
    assert_eq!(turn_count(15, &stops(Scheduler::Fifo)), 2);
    assert_eq!(turn_count(15, &stops(Scheduler::CLook)), 2);
    assert_eq!(stops(Scheduler::Scan), [17, 25, 12, 0]);
}

/// Returns the cylinder of the request with this id, among the requests that `batch` makes.
fn pick(cylinders: &[u32], id: u64) -> u32 {
    cylinders[usize::try_from(id - 1).expect("a small number")]
}

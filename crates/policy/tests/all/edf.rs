// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the policies by deadline send requests in the right order, and best effort when they may.
//! Method: driven by hand.

use crate::common::plain::{at, complete};
use crate::common::script::{play, requests, round};
use crate::common::task::task;
use tidegate_model::parameters::{GroupEdfParams, GroupRule, ScanEdfParameters};
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Lba, Plan, PolicyName, Request, RequestId, Workload,
};
use tidegate_policy::{DqEdf, Edf, Event, GroupEdf, Policy, ScanEdf};

/// Releases requests at 0, and checks that the policy sends them one by one in this order.
fn one_by_one(policy: &mut impl Policy, released: &str, order: &[u64]) {
    for released in released.split(',') {
        for request in requests(at(0), &released.split_whitespace().collect::<Vec<_>>()) {
            policy.observe(at(0), Event::Release(request)).unwrap();
        }
    }
    for &id in order {
        assert_eq!(round(policy, at(1)), [id], "one at a time");
        complete(policy, at(1), [id]);
    }
    assert_eq!(round(policy, at(1)), []);
}

#[test]
fn edf_sends_the_earliest_due_and_of_equal_ones_the_oldest() {
    let released = "hard 1 due 30, hard 2 due 10, hard 3 due 20, hard 4 due 10";
    one_by_one(&mut Edf::new(100), released, &[2, 4, 3, 1]);
}

#[test]
fn a_request_without_a_deadline_goes_last() {
    one_by_one(&mut Edf::new(100), "hard 1, hard 2 due 10", &[2, 1]);
}

/// The heads are at the end of the last request. A request that begins there is ahead of them,
/// whatever its id and size; of equal deadlines it goes before one at a lower position.
#[test]
fn scan_edf_takes_a_request_that_begins_at_the_heads() {
    let mut policy = ScanEdf::new(ScanEdfParameters::default(), 100);
    let release = |policy: &mut ScanEdf, id, start, sectors: u64| {
        let plain = Request::plain(RequestId(id), Class::Hard, Bytes::new(512 * sectors));
        let request = Request { due: Some(at(90)), start: Lba::new(start), ..plain };
        policy.observe(at(0), Event::Release(request)).unwrap();
    };
    release(&mut policy, 5, 100, 8);
    assert_eq!(round(&mut policy, at(1)), [5]);
    release(&mut policy, 7, 0, 64);
    release(&mut policy, 0, 108, 1);
    complete(&mut policy, at(2), [5]);
    assert_eq!(round(&mut policy, at(2)), [0]);
}

/// Goal: an urgent request cannot recall the request on the drive, and is sent next.
#[test]
fn an_urgent_request_waits_for_the_one_on_the_drive() {
    play(
        &mut Edf::new(100),
        "0: hard 1 due 90, hard 2 due 80, sends 2, hard 3 due 5
         1: sends nothing
         2: done 2, sends 3",
    );
}

#[test]
fn best_effort_goes_only_when_nothing_real_time_is_queued() {
    let mut policies: [Box<dyn Policy>; 3] = [
        Box::new(Edf::new(100)),
        Box::new(ScanEdf::new(ScanEdfParameters::default(), 100)),
        Box::new(GroupEdf::new(GroupEdfParams::default(), &[], 100)),
    ];
    for policy in &mut policies {
        let released = "best-effort 101 102, hard 1 due 30, hard 2 due 10";
        one_by_one(policy, released, &[2, 1, 101, 102]);
    }
}

/// The head is at 0. The requests due at 10 are sent first, upwards: 1000, 3000, 5000. Of those due
/// at 20, the one above the head comes first; 4000, which the head has passed, comes last.
#[test]
fn scan_edf_sends_equal_dues_upwards_from_the_head() {
    let released = "hard 1 due 20 from 4_000, hard 2 due 10 from 5_000, hard 3 due 10 from 1_000,
                    hard 4 due 10 from 3_000, hard 5 due 20 from 9_000";
    one_by_one(&mut ScanEdf::new(ScanEdfParameters::default(), 100), released, &[3, 4, 2, 5, 1]);
}

/// Deadlines from 10 to 19 are one window: upwards from the head, whatever their order. A new plan
/// counts all deadlines below 40 as equal, and the next one goes upwards from the head at 6000.
#[test]
fn scan_edf_sends_the_deadlines_of_a_window_upwards_from_the_head() {
    let windows_of = |ms| ScanEdfParameters { window: Duration::from_ms(ms) };
    let mut policy = ScanEdf::new(windows_of(10), 100);
    play(
        &mut policy,
        "0: hard 1 due 10 from 5_000, hard 2 due 19 from 1_000, hard 3 due 20 from 9_000
         0: hard 4 due 30 from 7_000, hard 5 due 21 from 2_000, sends 2
         1: done 2, sends 1, done 1",
    );
    let mut plan =
        Plan::of(&Workload::new("test", 1, BatchTable::new(&[Duration::from_ms(1)]).unwrap()));
    plan.parameters.scan_edf = windows_of(40);
    policy.observe(at(1), Event::Reconfigure(Box::new(plan))).unwrap();
    play(&mut policy, "2: sends 4, done 4, sends 3, done 3, sends 5, done 5, sends nothing");
}

/// The head is after a best-effort request at 4000: 7000 and 9000 follow, then the lowest.
#[test]
fn scan_edf_goes_on_from_where_best_effort_left_the_head() {
    play(
        &mut ScanEdf::new(ScanEdfParameters::default(), 100),
        "0: best-effort 101 from 4_000, sends 101
         0: hard 1 due 10 from 1_000, hard 2 due 10 from 9_000, hard 3 due 10 from 7_000
         1: done 101, sends 3, done 3, sends 2, done 2, sends 1, done 1, sends nothing",
    );
}

/// Fg-EDF: place alone decides in a group. After 3 the head is behind 1_000, so 2 is nearer than 1.
#[test]
fn g_edf_may_send_the_nearest_of_the_group_whatever_its_size() {
    let released = "hard 1 due 100 from 9_000 kib 4, hard 2 due 140 from 5_000 kib 128,
                    hard 3 due 120 from 1_000 kib 128, hard 4 due 141 from 0 kib 1";
    let nearest = GroupEdfParams { order: GroupRule::Nearest, ..GroupEdfParams::default() };
    one_by_one(&mut GroupEdf::new(nearest, &[], 100), released, &[3, 2, 1, 4]);
    let smallest = GroupEdfParams::default();
    one_by_one(&mut GroupEdf::new(smallest, &[], 100), released, &[1, 4, 3, 2]);
}

/// The earliest is due at 100, 100 ms after its release. With 40 % its group ends at 140, which
/// excludes the request due at 141 although it is the smallest.
#[test]
fn g_edf_sends_the_smallest_of_the_group_and_of_equal_ones_the_nearest() {
    let released = "hard 1 due 100 from 9_000 kib 128, hard 2 due 140 from 5_000 kib 4,
                    hard 3 due 120 from 1_000 kib 4, hard 4 due 141 from 0 kib 1";
    one_by_one(&mut GroupEdf::new(GroupEdfParams::default(), &[], 100), released, &[3, 2, 1, 4]);
}

#[test]
fn a_group_of_nothing_is_edf() {
    let released = "hard 1 due 30 from 0 kib 4, hard 2 due 10 from 0 kib 64,
                    hard 3 due 20 from 0 kib 4";
    let nothing = GroupEdfParams { group_ppm: 0, ..GroupEdfParams::default() };
    one_by_one(&mut GroupEdf::new(nothing, &[], 100), released, &[2, 3, 1]);
}

/// The relative deadline is the task's in the plan, whatever the request says.
#[test]
fn a_group_spans_a_share_of_the_deadline_in_the_plan() {
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let workload = Workload { tasks: vec![task(50, 50, 1)], ..Workload::new("test", 1, table) };
    let plan = Plan { queued_max: 100, ..Plan::of(&workload) };
    let mut policy = tidegate_policy::build(PolicyName::GroupEdf, &plan, None).unwrap();
    let released = "hard 1 due 100 from 0 kib 64, hard 2 due 120 from 0 kib 32,
                    hard 3 due 121 from 0 kib 4";
    one_by_one(&mut policy, released, &[2, 1, 3]);
    let of_unknown = "hard 4 of 7 due 100 from 0 kib 64, hard 5 of 7 due 130 from 0 kib 32";
    one_by_one(&mut policy, of_unknown, &[5, 4]);
}

#[test]
fn a_batch_by_deadline_has_at_most_z_of_the_earliest() {
    play(
        &mut DqEdf::new(3, 0, 100),
        "0: hard 1 due 50, hard 2 due 40, hard 3 due 30, hard 4 due 20, hard 5 due 10
         0: sends 5 4 3, hard 6 due 1
         1: sends nothing
         2: done 3 4, sends nothing
         3: done 5, sends 6 2 1",
    );
}

#[test]
fn best_effort_fills_a_batch_by_deadline_up_to_beta() {
    play(
        &mut DqEdf::new(8, 4, 100),
        "0: best-effort 101..=110, hard 1 due 20, hard 2 due 10, sends 2 1 101 102
         1: done 2 1 101 102, sends 103..=106",
    );
}

/// Goal: under every policy a cancelled request is not sent, each kind has its own queue space, and
/// a full queue loses nothing.
#[test]
fn queues_are_bounded_and_can_be_cancelled_from() {
    let mut policies: [Box<dyn Policy>; 4] = [
        Box::new(Edf::new(3)),
        Box::new(ScanEdf::new(ScanEdfParameters::default(), 3)),
        Box::new(GroupEdf::new(GroupEdfParams::default(), &[], 3)),
        Box::new(DqEdf::new(1, 1, 3)),
    ];
    for policy in &mut policies {
        play(
            policy,
            "0: best-effort 101 102 103, refuses best-effort 104
             0: hard 1 due 30 from 0, hard 2 due 60 from 0, hard 3 due 90 from 0
             0: refuses hard 4 due 5 from 0, cancel 2 102 77
             1: sends 1, done 1, sends 3, done 3, sends 101, done 101, sends 103, done 103
             1: sends nothing",
        );
    }
}

#[test]
#[should_panic(expected = "completion while nothing is on the drive")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Edf::new(1), at(0), [1]);
}

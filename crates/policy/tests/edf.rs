// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the policies by deadline send requests in the right order, and best effort when they may.
//! Method: driven by hand.

mod common;

use common::{at, complete, release, request, round};
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Lba, Plan, Request, RequestId, TaskIndex, Workload,
};
use tidegate_policy::{DqEdf, Edf, Event, Full, GroupEdf, Policy, ScanEdf};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

/// Returns a request that is due at an instant in milliseconds and starts at a sector.
fn due(id: u64, due_ms: u64, start: u64) -> Request {
    Request { due: Some(at(due_ms)), start: Lba::new(start), ..request(id, HARD) }
}

fn release_all(policy: &mut impl Policy, requests: &[Request]) {
    for &request in requests {
        policy.observe(at(0), Event::Release(request)).unwrap();
    }
}

/// Returns all queued requests in the order in which they are sent one by one.
fn one_by_one(policy: &mut impl Policy) -> Vec<u64> {
    let mut sent = Vec::new();
    loop {
        let batch = round(policy, at(1));
        if batch.is_empty() {
            return sent;
        }
        assert_eq!(batch.len(), 1, "one at a time");
        complete(policy, at(1), batch.iter().copied());
        sent.extend(batch);
    }
}

#[test]
fn edf_sends_the_earliest_due_and_of_equal_ones_the_oldest() {
    let mut policy = Edf::new(100);
    release_all(&mut policy, &[due(1, 30, 0), due(2, 10, 0), due(3, 20, 0), due(4, 10, 0)]);
    assert_eq!(one_by_one(&mut policy), [2, 4, 3, 1]);
}

#[test]
fn a_request_without_a_deadline_goes_last() {
    let mut policy = Edf::new(100);
    release_all(&mut policy, &[request(1, HARD), due(2, 10, 0)]);
    assert_eq!(one_by_one(&mut policy), [2, 1]);
}

/// Goal: an urgent request cannot recall the request on the drive, and is sent next.
#[test]
fn an_urgent_request_waits_for_the_one_on_the_drive() {
    let mut policy = Edf::new(100);
    release_all(&mut policy, &[due(1, 90, 0), due(2, 80, 0)]);
    assert_eq!(round(&mut policy, at(0)), [2]);
    release_all(&mut policy, &[due(3, 5, 0)]);
    assert_eq!(round(&mut policy, at(1)), []);
    complete(&mut policy, at(2), [2]);
    assert_eq!(round(&mut policy, at(2)), [3]);
}

#[test]
fn best_effort_goes_only_when_nothing_real_time_is_queued() {
    let mut policies: [Box<dyn Policy>; 3] = [
        Box::new(Edf::new(100)),
        Box::new(ScanEdf::new(100)),
        Box::new(GroupEdf::new(400_000, &[], 100)),
    ];
    for policy in &mut policies {
        release(policy, at(0), BEST_EFFORT, [101, 102]);
        release_all(policy, &[due(1, 30, 0), due(2, 10, 0)]);
        assert_eq!(one_by_one(policy), [2, 1, 101, 102]);
    }
}

/// Head at 0: first those due at 10 upwards, 1000, 3000, 5000. Of those due at 20, first the one
/// above the head; 4000, which the head has passed, comes last.
#[test]
fn scan_edf_sends_equal_dues_upwards_from_the_head() {
    let mut policy = ScanEdf::new(100);
    release_all(
        &mut policy,
        &[
            due(1, 20, 4_000),
            due(2, 10, 5_000),
            due(3, 10, 1_000),
            due(4, 10, 3_000),
            due(5, 20, 9_000),
        ],
    );
    assert_eq!(one_by_one(&mut policy), [3, 4, 2, 5, 1]);
}

/// The head is after a best-effort request at 4000: 7000 and 9000 follow, then the lowest.
#[test]
fn scan_edf_goes_on_from_where_best_effort_left_the_head() {
    let mut policy = ScanEdf::new(100);
    let backup = Request { start: Lba::new(4_000), ..request(101, BEST_EFFORT) };
    policy.observe(at(0), Event::Release(backup)).unwrap();
    assert_eq!(round(&mut policy, at(0)), [101]);
    release_all(&mut policy, &[due(1, 10, 1_000), due(2, 10, 9_000), due(3, 10, 7_000)]);
    complete(&mut policy, at(1), [101]);
    assert_eq!(one_by_one(&mut policy), [3, 2, 1]);
}

fn sized(id: u64, due_ms: u64, start: u64, kib: u64) -> Request {
    Request { size: Bytes::from_kib(kib), ..due(id, due_ms, start) }
}

/// The earliest is due at 100, 100 ms after its release. With 40 % its group ends at 140, which
/// excludes the request due at 141 although it is the smallest.
#[test]
fn g_edf_sends_the_smallest_of_the_group_and_of_equal_ones_the_nearest() {
    let mut policy = GroupEdf::new(400_000, &[], 100);
    release_all(
        &mut policy,
        &[
            sized(1, 100, 9_000, 128),
            sized(2, 140, 5_000, 4),
            sized(3, 120, 1_000, 4),
            sized(4, 141, 0, 1),
        ],
    );
    assert_eq!(one_by_one(&mut policy), [3, 2, 1, 4]);
}

#[test]
fn a_group_of_nothing_is_edf() {
    let mut policy = GroupEdf::new(0, &[], 100);
    release_all(&mut policy, &[sized(1, 30, 0, 4), sized(2, 10, 0, 64), sized(3, 20, 0, 4)]);
    assert_eq!(one_by_one(&mut policy), [2, 3, 1]);
}

/// The relative deadline is the task's in the plan, whatever the request says.
#[test]
fn a_group_spans_a_share_of_the_deadline_in_the_plan() {
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let task = tidegate_model::Task::periodic("a", Duration::from_ms(50), Bytes::from_kib(4));
    let workload = Workload { tasks: vec![task], ..Workload::new("test", 1, table) };
    let plan = Plan { queued_max: 100, ..Plan::of(&workload) };
    let mut policy =
        tidegate_policy::build(tidegate_model::PolicyName::GroupEdf, &plan, None).unwrap();
    release_all(&mut policy, &[sized(1, 100, 0, 64), sized(2, 120, 0, 32), sized(3, 121, 0, 4)]);
    assert_eq!(one_by_one(&mut policy), [2, 1, 3]);
    let unknown = TaskIndex(7);
    let of_unknown = |request: Request| Request { task: unknown, ..request };
    let requests = [sized(4, 100, 0, 64), sized(5, 130, 0, 32)].map(of_unknown);
    release_all(&mut policy, &requests);
    assert_eq!(one_by_one(&mut policy), [5, 4]);
}

#[test]
fn a_batch_by_deadline_has_at_most_z_of_the_earliest() {
    let mut policy = DqEdf::new(3, 0, 100);
    let dues = [50, 40, 30, 20, 10];
    let requests: Vec<Request> = (1..).zip(dues).map(|(id, ms)| due(id, ms, 0)).collect();
    release_all(&mut policy, &requests);
    assert_eq!(round(&mut policy, at(0)), [5, 4, 3]);
    release_all(&mut policy, &[due(6, 1, 0)]);
    assert_eq!(round(&mut policy, at(1)), []);
    complete(&mut policy, at(2), [3, 4]);
    assert_eq!(round(&mut policy, at(2)), []);
    complete(&mut policy, at(3), [5]);
    assert_eq!(round(&mut policy, at(3)), [6, 2, 1]);
}

#[test]
fn best_effort_fills_a_batch_by_deadline_up_to_beta() {
    let mut policy = DqEdf::new(8, 4, 100);
    release(&mut policy, at(0), BEST_EFFORT, 101..=110);
    release_all(&mut policy, &[due(1, 20, 0), due(2, 10, 0)]);
    assert_eq!(round(&mut policy, at(0)), [2, 1, 101, 102]);
    complete(&mut policy, at(1), [2, 1, 101, 102]);
    assert_eq!(round(&mut policy, at(1)), [103, 104, 105, 106]);
}

/// Goal: under every policy a cancelled request is not sent, each kind has its own queue space, and
/// a full queue loses nothing.
#[test]
fn queues_are_bounded_and_can_be_cancelled_from() {
    let mut policies: [Box<dyn Policy>; 4] = [
        Box::new(Edf::new(3)),
        Box::new(ScanEdf::new(3)),
        Box::new(GroupEdf::new(400_000, &[], 3)),
        Box::new(DqEdf::new(1, 1, 3)),
    ];
    for policy in &mut policies {
        release(policy, at(0), BEST_EFFORT, [101, 102, 103]);
        let flood = Event::Release(request(104, BEST_EFFORT));
        assert_eq!(policy.observe(at(0), flood), Err(Full));
        release_all(policy, &[due(1, 30, 0), due(2, 60, 0), due(3, 90, 0)]);
        assert_eq!(policy.observe(at(0), Event::Release(due(4, 5, 0))), Err(Full));
        for id in [2, 102, 77] {
            policy.observe(at(0), Event::Cancel(RequestId(id))).unwrap();
        }
        assert_eq!(one_by_one(policy), [1, 3, 101, 103]);
    }
}

#[test]
#[should_panic(expected = "completion while nothing is on the drive")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Edf::new(1), at(0), [1]);
}

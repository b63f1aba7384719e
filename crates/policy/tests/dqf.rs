// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: dual-queue FIFO forms the right batches at the right instants. Method: driven by hand.

mod common;

use common::{at, complete, release, request, round};
use tidegate_model::{BatchTable, Class, Duration, Plan, RequestId, Workload};
use tidegate_policy::{Decision, Dqf, Event, Full, Policy};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

#[test]
fn a_batch_has_at_most_z_of_the_oldest() {
    let mut policy = Dqf::new(3, 0, 100);
    release(&mut policy, at(0), HARD, 1..=5);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
}

/// Goal: no request joins a batch that is on the drive, even though the drive has room.
#[test]
fn a_late_request_waits_for_the_whole_batch() {
    let mut policy = Dqf::new(4, 0, 100);
    release(&mut policy, at(0), HARD, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    release(&mut policy, at(1), HARD, [3]);
    assert_eq!(round(&mut policy, at(1)), []);
    complete(&mut policy, at(5), [2]);
    assert_eq!(round(&mut policy, at(5)), []);
    complete(&mut policy, at(9), [1]);
    assert_eq!(round(&mut policy, at(9)), [3]);
}

#[test]
fn an_idle_drive_gets_what_there_is() {
    let mut policy = Dqf::new(8, 0, 100);
    assert_eq!(round(&mut policy, at(0)), []);
    release(&mut policy, at(1), HARD, [1]);
    assert_eq!(round(&mut policy, at(1)), [1]);
}

/// f(j) = max(j, beta): under beta = 4, two best-effort requests beside two real-time requests,
/// none beside five.
#[test]
fn best_effort_fills_a_batch_up_to_beta() {
    let mut policy = Dqf::new(8, 4, 100);
    release(&mut policy, at(0), BEST_EFFORT, 101..=110);
    release(&mut policy, at(0), HARD, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 101, 102]);
    release(&mut policy, at(1), HARD, 3..=7);
    complete(&mut policy, at(2), [1, 2, 101, 102]);
    assert_eq!(round(&mut policy, at(2)), [3, 4, 5, 6, 7]);
    complete(&mut policy, at(3), 3..=7);
    assert_eq!(round(&mut policy, at(3)), [103, 104, 105, 106]);
}

#[test]
fn without_room_best_effort_is_never_sent() {
    let mut policy = Dqf::new(8, 0, 100);
    release(&mut policy, at(0), BEST_EFFORT, [101]);
    assert_eq!(round(&mut policy, at(0)), []);
}

#[test]
fn a_cancelled_request_is_not_sent() {
    let mut policy = Dqf::new(8, 1, 100);
    release(&mut policy, at(0), HARD, [1, 2, 3]);
    policy.observe(at(0), Event::Cancel(RequestId(2))).unwrap();
    policy.observe(at(0), Event::Cancel(RequestId(77))).unwrap();
    assert_eq!(round(&mut policy, at(0)), [1, 3]);
}

/// A flood of best effort takes none of the queue space of real-time requests.
#[test]
fn each_kind_has_room_of_its_own() {
    let mut policy = Dqf::new(1, 1, 2);
    release(&mut policy, at(0), BEST_EFFORT, [101, 102]);
    let flood = Event::Release(request(103, BEST_EFFORT));
    assert_eq!(policy.observe(at(0), flood), Err(Full));
    release(&mut policy, at(0), HARD, [1, 2]);
    assert_eq!(policy.observe(at(0), Event::Release(request(3, HARD))), Err(Full));
    assert_eq!(round(&mut policy, at(0)), [1]);
    release(&mut policy, at(0), HARD, [3]);
}

#[test]
fn a_new_plan_holds_from_the_next_batch_on() {
    let mut policy = Dqf::new(4, 0, 100);
    release(&mut policy, at(0), HARD, 1..=6);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4]);
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let plan = Plan { queued_max: 100, ..Plan::of(&Workload::new("test", 4, table)) };
    policy.observe(at(1), Event::Reconfigure(Box::new(plan))).unwrap();
    complete(&mut policy, at(2), 1..=4);
    assert_eq!(round(&mut policy, at(2)), [5]);
}

#[test]
#[should_panic(expected = "completion while nothing is on the drive")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Dqf::new(1, 0, 1), at(0), [1]);
}

/// Returns a policy with b(1) = 10 ms, b(2) = 16 ms, z = 2 and beta = 2.
fn minding_overruns() -> Dqf {
    let table = BatchTable::new(&[Duration::from_ms(10), Duration::from_ms(16)]).unwrap();
    let workload = Workload::new("test", 2, table);
    Dqf::of(&Plan { best_effort_fill: 2, ..Plan::of(&workload) })
}

/// A batch of one request that is 5 ms late keeps best effort off the drive for 5 ms, but delays no
/// real-time request.
#[test]
fn best_effort_pays_for_a_late_batch() {
    let mut policy = minding_overruns();
    release(&mut policy, at(0), HARD, [1]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    release(&mut policy, at(1), BEST_EFFORT, 101..=103);
    complete(&mut policy, at(15), [1]);
    assert_eq!(policy.decide(at(15)), Decision::NotBefore(at(20)));
    release(&mut policy, at(16), HARD, [2]);
    assert_eq!(round(&mut policy, at(16)), [2], "alone, though beta leaves room for another");
    complete(&mut policy, at(18), [2]);
    assert_eq!(policy.decide(at(18)), Decision::NotBefore(at(20)));
    assert_eq!(round(&mut policy, at(20)), [101, 102]);
    complete(&mut policy, at(36), [101, 102]);
    assert_eq!(round(&mut policy, at(36)), [103], "a batch of two may take 16 ms");
}

/// Each late batch counts from its own end, and the latest resume instant applies; a policy without
/// a table ignores overruns.
#[test]
fn what_best_effort_pays_is_bounded() {
    let mut policy = minding_overruns();
    release(&mut policy, at(0), BEST_EFFORT, [101]);
    release(&mut policy, at(0), HARD, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    complete(&mut policy, at(100), [1, 2]);
    release(&mut policy, at(100), HARD, [3]);
    assert_eq!(round(&mut policy, at(100)), [3]);
    complete(&mut policy, at(111), [3]);
    assert_eq!(policy.decide(at(111)), Decision::NotBefore(at(184)), "84 ms from 100 ms on");

    let mut careless = Dqf::new(2, 2, 100);
    release(&mut careless, at(0), BEST_EFFORT, [101]);
    release(&mut careless, at(0), HARD, [1, 2]);
    assert_eq!(round(&mut careless, at(0)), [1, 2]);
    complete(&mut careless, at(100), [1, 2]);
    assert_eq!(round(&mut careless, at(100)), [101]);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Dual-queue FIFO by hand: which requests form a batch, and when.

mod common;

use common::{at, complete, release, request, round};
use model::{BatchTable, Class, Duration, Plan, RequestId, Workload};
use policy::{Dqf, Event, Full, Policy};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

#[test]
fn a_batch_has_at_most_z_of_the_oldest() {
    let mut policy = Dqf::new(3, 0, 100);
    release(&mut policy, at(0), HARD, 1..=5);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
}

/// Goal: nothing joins a batch that is on the drive, even though the drive has room.
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

/// f(j) = max(j, beta): two of best effort beside two of real time under beta = 4, none
/// beside five.
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

/// A flood of best effort takes none of the room that real-time requests have.
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

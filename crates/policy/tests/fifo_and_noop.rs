// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the two FIFO baselines send one request at a time, or up to the drive's depth. Method:
//! driven by hand.

mod common;

use common::{at, complete, release, request, round};
use tidegate_model::{BatchTable, Class, Duration, Plan, Workload};
use tidegate_policy::{Event, Fifo, Full, Noop, Policy};

#[test]
fn fifo_sends_one_at_a_time_whatever_the_class() {
    let mut policy = Fifo::new(100);
    release(&mut policy, at(0), Class::BestEffort, [1]);
    release(&mut policy, at(0), Class::Hard, [2, 3]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    assert_eq!(round(&mut policy, at(1)), []);
    complete(&mut policy, at(2), [1]);
    assert_eq!(round(&mut policy, at(2)), [2]);
}

#[test]
fn fifo_stays_fifo_under_a_plan_with_depth() {
    let mut policy = Fifo::new(100);
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let plan = Plan { queued_max: 100, ..Plan::of(&Workload::new("test", 32, table)) };
    policy.observe(at(0), Event::Reconfigure(Box::new(plan))).unwrap();
    release(&mut policy, at(0), Class::Hard, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1]);
}

#[test]
fn noop_keeps_the_drive_full() {
    let mut policy = Noop::new(2, 100);
    release(&mut policy, at(0), Class::Hard, 1..=4);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    complete(&mut policy, at(1), [2]);
    assert_eq!(round(&mut policy, at(1)), [3]);
}

#[test]
fn a_full_queue_refuses_and_forgets_nothing() {
    let mut policy = Noop::new(1, 1);
    release(&mut policy, at(0), Class::Hard, [1]);
    assert_eq!(policy.observe(at(0), Event::Release(request(2, Class::Hard))), Err(Full));
    assert_eq!(round(&mut policy, at(0)), [1]);
    release(&mut policy, at(0), Class::Hard, [2]);
    complete(&mut policy, at(1), [1]);
    assert_eq!(round(&mut policy, at(1)), [2]);
}

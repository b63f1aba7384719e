// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the two FIFO baselines send one request at a time, or up to the drive's depth. Method:
//! driven by hand.

use crate::common::plain::at;
use crate::common::script::play;
use tidegate_model::{BatchTable, Duration, Plan, Workload};
use tidegate_policy::{Event, Fifo, Noop, Policy};

#[test]
fn fifo_sends_one_at_a_time_whatever_the_class() {
    play(
        &mut Fifo::new(100),
        "0: best-effort 1, hard 2 3, sends 1
         1: sends nothing
         2: done 1, sends 2",
    );
}

#[test]
fn fifo_stays_fifo_under_a_plan_with_depth() {
    let mut policy = Fifo::new(100);
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let plan = Plan { queued_max: 100, ..Plan::of(&Workload::new("test", 32, table)) };
    policy.observe(at(0), Event::Reconfigure(Box::new(plan))).unwrap();
    play(&mut policy, "0: hard 1 2, sends 1");
}

#[test]
fn noop_keeps_the_drive_full() {
    play(
        &mut Noop::new(2, 100),
        "0: hard 1..=4, sends 1 2
         1: done 2, sends 3",
    );
}

#[test]
fn a_full_queue_refuses_and_forgets_nothing() {
    play(
        &mut Noop::new(1, 1),
        "0: hard 1, refuses hard 2, sends 1, hard 2
         1: done 1, sends 2",
    );
}

/// Canary: a script that expects something else fails.
#[test]
#[should_panic(expected = "1: done 1, sends 3")]
fn script_that_does_not_hold_is_found() {
    play(
        &mut Fifo::new(100),
        "0: hard 1 2, sends 1
         1: done 1, sends 3",
    );
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `rtio-slots` follows its published rule. Method: driven by hand; drain(q) = 12 + 11 q ms
//! on a drive of 8.

mod common;
mod drain_support;

use common::{at, complete, release, round};
use drain_support::{plan, real_time, task};
use tidegate_model::Class;
use tidegate_policy::RtioSlots;

const BE: Class = Class::BestEffort;

/// Returns a policy for two tasks with D = 80 ms.
fn policy() -> RtioSlots {
    RtioSlots::new(&plan(vec![task(200, 80, 1), task(200, 80, 1)]))
}

/// drain(be+2) <= 80 while be + 2 <= 6 (78 ms).
#[test]
fn best_effort_leaves_the_reserved_slots_free() {
    let mut policy = policy();
    release(&mut policy, at(0), BE, 1..=8);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4]);
    real_time(&mut policy, at(1), 20, 0, 80);
    real_time(&mut policy, at(2), 21, 1, 80);
    assert_eq!(round(&mut policy, at(2)), [20, 21]);
}

/// 3 + drain(4+2) = 81 = the first deadline; a millisecond later the sum exceeds it.
#[test]
fn best_effort_counts_slots_as_taken_while_real_time_is_on_the_drive() {
    for (now, joins) in [(3, vec![5]), (4, vec![])] {
        let mut policy = policy();
        release(&mut policy, at(0), BE, 1..=8);
        assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4]);
        real_time(&mut policy, at(1), 20, 0, 80);
        assert_eq!(round(&mut policy, at(1)), [20]);
        complete(&mut policy, at(now), [1]);
        assert_eq!(round(&mut policy, at(now)), joins, "at {now} ms");
    }
}

/// The rule's defect: the first request is due at 81. The second is sent in its own slot at 79,
/// just before all requests complete, and lets the drive take until 79 + drain(6) = 157.
#[test]
fn a_late_taker_of_a_slot_restarts_the_clock_of_the_first() {
    let mut policy = policy();
    release(&mut policy, at(0), BE, 1..=8);
    round(&mut policy, at(0));
    real_time(&mut policy, at(1), 20, 0, 80);
    round(&mut policy, at(1));
    real_time(&mut policy, at(79), 21, 1, 80);
    assert_eq!(round(&mut policy, at(79)), [21]);
}

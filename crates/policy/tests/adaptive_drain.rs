// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `adaptive-drain` sends best effort until the last safe instant. Method: driven by hand;
//! drain(q) = 12 + 11 q ms on a drive of 8.

mod common;
mod drain_support;

use common::{at, complete, release, request, round};
use drain_support::{plan, real_time, task};
use tidegate_model::{Class, Plan};
use tidegate_policy::{AdaptiveDrain, BuildError, Decision, Event, Full, Policy};

const BE: Class = Class::BestEffort;

/// Returns a policy for a task with D = 60 ms and p = 120 ms.
fn policy() -> AdaptiveDrain {
    AdaptiveDrain::new(&plan(vec![task(120, 60, 1)]))
}

/// drain(o+2) <= 60 while o+2 <= 4 (56 ms): three best-effort requests, and a slot for the task.
#[test]
fn best_effort_leaves_room_for_a_task_that_may_release_at_any_time() {
    let mut policy = policy();
    release(&mut policy, at(0), BE, 1..=8);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
    real_time(&mut policy, at(10), 20, 0, 60);
    assert_eq!(round(&mut policy, at(10)), [20]);
}

/// At 14 ms `t + drain(4)` is 70 = Dabs; one millisecond later it exceeds Dabs.
#[test]
fn best_effort_joins_until_the_last_safe_instant() {
    for (now, joins) in [(14, vec![4]), (15, vec![])] {
        let mut policy = policy();
        release(&mut policy, at(0), BE, 1..=8);
        assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
        real_time(&mut policy, at(10), 20, 0, 60);
        assert_eq!(round(&mut policy, at(10)), [20]);
        complete(&mut policy, at(now), [1]);
        assert_eq!(round(&mut policy, at(now)), joins, "at {now} ms");
    }
}

/// Just served, the task cannot release for a long time, so the drive fills up. Time alone never
/// opens the gate afterwards.
#[test]
fn the_drive_fills_up_after_a_job() {
    let mut policy = policy();
    release(&mut policy, at(0), BE, 1..=20);
    real_time(&mut policy, at(0), 30, 0, 60);
    assert_eq!(round(&mut policy, at(0)), [30, 1, 2, 3]);
    complete(&mut policy, at(5), [30]);
    // 5 + drain(8) + drain(1) = 128 <= 120 + 60.
    assert_eq!(round(&mut policy, at(5)), [4, 5, 6, 7, 8]);
    complete(&mut policy, at(100), 1..=8);
    // 100 + drain(4) + drain(1) = 179 <= 180 and 100 + drain(5) + drain(1) = 190 > 180.
    assert_eq!(round(&mut policy, at(100)), [9, 10, 11, 12]);
    for now in 101..400 {
        assert_eq!(policy.decide(at(now)), Decision::AwaitEvent);
    }
}

/// A job that does not fit beside the requests on the drive waits until it does, and nothing is
/// sent meanwhile.
#[test]
fn a_job_that_does_not_fit_is_held_until_it_does() {
    let mut policy = policy();
    release(&mut policy, at(0), BE, 1..=20);
    real_time(&mut policy, at(0), 30, 0, 60);
    round(&mut policy, at(0));
    complete(&mut policy, at(5), [30, 1, 2, 3]);
    assert_eq!(round(&mut policy, at(5)).len(), 8);
    // drain(8) = 100 ms: the drive is empty by 105 at the latest, and the next release is not
    // before 120.
    complete(&mut policy, at(100), 4..=8);
    assert_eq!(round(&mut policy, at(100)), [12]);
    real_time(&mut policy, at(120), 31, 0, 60);
    // 120 + drain(5) = 187 > 180.
    assert_eq!(round(&mut policy, at(120)), []);
    complete(&mut policy, at(121), 9..=11);
    // 121 + drain(2) = 155, and best effort follows up to 121 + drain(4) = 177.
    assert_eq!(round(&mut policy, at(121)), [31, 13, 14]);
}

#[test]
fn without_tasks_the_drive_is_filled() {
    let mut policy = AdaptiveDrain::new(&plan(vec![]));
    release(&mut policy, at(0), BE, 1..=20);
    assert_eq!(round(&mut policy, at(0)), (1..=8).collect::<Vec<_>>());
}

#[test]
fn a_full_queue_refuses_and_a_cancelled_request_is_forgotten() {
    let mut policy = AdaptiveDrain::new(&Plan { queued_max: 2, ..plan(vec![task(120, 60, 1)]) });
    release(&mut policy, at(0), BE, [1, 2]);
    assert_eq!(policy.observe(at(0), Event::Release(request(3, BE))), Err(Full));
    policy.observe(at(0), Event::Cancel(tidegate_model::RequestId(1))).unwrap();
    assert_eq!(round(&mut policy, at(0)), [2]);
}

#[test]
fn no_drain_table_no_policy() {
    let mut plan = plan(vec![task(120, 60, 1)]);
    plan.contracts.drain = None;
    for name in [
        tidegate_model::PolicyName::AdaptiveDrain,
        tidegate_model::PolicyName::GatedDrain,
        tidegate_model::PolicyName::RtioSlots,
    ] {
        let refused = tidegate_policy::build(name, &plan, None).err();
        assert_eq!(refused, Some(BuildError::DrainUnknown { policy: name }));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `adaptive-drain` sends best effort until the last safe instant. Method: driven by hand;
//! drain(q) = 12 + 11 q ms on a drive of 8.

use crate::common::plain::at;
use crate::common::script::play;
use crate::drain_support::{plan, task};
use tidegate_model::{Plan, PolicyName};
use tidegate_policy::{AdaptiveDrain, BuildError, Decision, Event, Policy};

/// Returns a policy for a task with D = 60 ms and p = 120 ms.
fn policy() -> AdaptiveDrain {
    AdaptiveDrain::new(&plan(vec![task(120, 60, 1)]))
}

/// drain(o+2) <= 60 while o+2 <= 4 (56 ms): three best-effort requests, and a slot for the task.
#[test]
fn best_effort_leaves_room_for_a_task_that_may_release_at_any_time() {
    play(
        &mut policy(),
        "0: best-effort 1..=8, sends 1 2 3
         10: hard 20 within 60, sends 20",
    );
}

/// The rule allows 3 best-effort requests. A new plan can allow fewer while more are on the drive.
#[test]
fn best_effort_stays_within_the_depth_of_the_plan() {
    let with = |best_effort_depth| Plan { best_effort_depth, ..plan(vec![task(120, 60, 1)]) };
    let mut policy = AdaptiveDrain::new(&with(2));
    play(
        &mut policy,
        "0: best-effort 1..=8, sends 1 2
         5: done 1, sends 3",
    );
    policy.observe(at(5), Event::Reconfigure(Box::new(with(1)))).unwrap();
    play(
        &mut policy,
        "6: done 2, sends nothing
         7: done 3, sends 4
         10: hard 20 within 60, sends 20",
    );
}

/// At 14 ms `t + drain(4)` is 70 = Dabs; one millisecond later it exceeds Dabs.
#[test]
fn best_effort_joins_until_the_last_safe_instant() {
    for last in ["14: done 1, sends 4", "15: done 1, sends nothing"] {
        play(
            &mut policy(),
            &format!(
                "0: best-effort 1..=8, sends 1 2 3
                 10: hard 20 within 60, sends 20
                 {last}"
            ),
        );
    }
}

/// A task that was just served cannot release for a long time, so the drive fills up. Time alone
/// never opens the gate afterwards.
#[test]
fn the_drive_fills_up_after_a_job() {
    let mut policy = policy();
    play(
        &mut policy,
        // 5 + drain(8) + drain(1) = 128 <= 120 + 60.
        // 100 + drain(4) + drain(1) = 179 <= 180 and 100 + drain(5) + drain(1) = 190 > 180.
        "0: best-effort 1..=20, hard 30 within 60, sends 30 1 2 3
         5: done 30, sends 4..=8
         100: done 1..=8, sends 9..=12",
    );
    for now in 101..400 {
        assert_eq!(policy.decide(at(now)), Decision::AwaitEvent);
    }
}

/// A job that does not fit beside the requests on the drive waits until it does, and nothing is
/// sent meanwhile.
#[test]
fn a_job_that_does_not_fit_is_held_until_it_does() {
    play(
        &mut policy(),
        // drain(8) = 100 ms: the drive is empty by 105 at the latest, and the next release is not
        // before 120. 120 + drain(5) = 187 > 180. 121 + drain(2) = 155, and best effort follows up
        // to 121 + drain(4) = 177.
        "0: best-effort 1..=20, hard 30 within 60, sends 30 1 2 3
         5: done 30 1 2 3, sends 4..=11
         100: done 4..=8, sends 12
         120: hard 31 within 60, sends nothing
         121: done 9..=11, sends 31 13 14",
    );
}

#[test]
fn without_tasks_the_drive_is_filled() {
    let mut policy = AdaptiveDrain::new(&plan(vec![]));
    play(&mut policy, "0: best-effort 1..=20, sends 1..=8");
}

#[test]
fn a_full_queue_refuses_and_a_cancelled_request_is_forgotten() {
    play(
        &mut AdaptiveDrain::new(&Plan { queued_max: 2, ..plan(vec![task(120, 60, 1)]) }),
        "0: best-effort 1 2, refuses best-effort 3, cancel 1, sends 2",
    );
}

#[test]
fn no_drain_table_no_policy() {
    let mut plan = plan(vec![task(120, 60, 1)]);
    plan.contracts.drain = None;
    for name in [PolicyName::AdaptiveDrain, PolicyName::GatedDrain, PolicyName::RtioSlots] {
        let refused = tidegate_policy::build(name, &plan, None).err();
        assert_eq!(refused, Some(BuildError::DrainUnknown { policy: name }));
    }
}
